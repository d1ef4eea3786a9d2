// SPDX-License-Identifier: Apache-2.0
// The bytes of an object for an answer: at once when they are few, else piece by piece, however
// large the object is.
#pragma once

#include <optional>

#include "ledger/reader.h"
#include "schema/digest.h"
#include "tools/serve/response.h"

namespace kernelindex::serve {

// An answer with the object as its body, immutable and with its digest as tag; nothing when the
// bytes are not held. The digest is checked before the last piece is given: an error then cuts the
// body off. Lends the reader until the body was sent. Errors: DAMAGED_OBJECT (corrupt).
Result<std::optional<Response>> object_answer(const Reader& reader, const Digest& digest,
                                              std::string_view content_type);

}  // namespace kernelindex::serve
