// SPDX-License-Identifier: Apache-2.0
// The kept bytes of an object, piece by piece, for readers that want a source of bytes.
#pragma once

#include <memory>

#include "ledger/reader.h"
#include "schema/byte_source.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

// Holds one piece of at most 1 MiB at a time. The digest is checked when the end is reached; an
// error there (DAMAGED_OBJECT) says that all that was read is worth nothing. Must not outlive the
// reader. Errors: NOT_HELD (not_found) when the bytes are not there, or withheld.
Result<std::unique_ptr<ByteSource>> open_kept_bytes(const Reader& reader, const Digest& digest);

}  // namespace kernelindex
