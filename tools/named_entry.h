// SPDX-License-Identifier: Apache-2.0
// The entry that recorded an attestation.
#pragma once

#include <cstdint>

#include "ledger/reader.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex::tools {

// Error NO_SUCH_ID (not_found).
Result<std::uint64_t> attestation_index(const Reader& reader, const Digest& id);

}  // namespace kernelindex::tools
