// SPDX-License-Identifier: Apache-2.0
// What the machine says of itself. PROTOCOL section 15; decision (g): ids leave only as digests
// with the ledger id, so that "the same host twice" can be told within a ledger and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "schema/digest.h"
#include "schema/measurement_result.h"

namespace kernelindex::runner {

// SHA-256 of the 32 bytes of the ledger id and a text.
Digest keyed_id(const Digest& ledger, std::string_view text);
MeasuredHost host_ids(const Digest& ledger);
// Operating system, kernel, CUDA toolkit and compiler.
MeasuredSoftware host_software();
// SHA-256 of the executable that runs.
Digest own_digest();

}  // namespace kernelindex::runner
