// SPDX-License-Identifier: Apache-2.0
// The two variants of ki-controlled-v1 as manifests. PROTOCOL decision (b) and section 5.1.
//
// Their identities differ, so that runs under one never share a comparison group with those under
// the other. What they say is fixed: a change is another protocol.
#pragma once

#include <optional>

#include "schema/digest.h"
#include "schema/manifest.h"
#include "schema/measurement_terms.h"

namespace kernelindex {

// What acceptances name as the rules that were followed.
inline constexpr std::string_view kControlledPolicy = "ki-controlled-v1";

// A BenchmarkProtocol. Lives as long as the program.
const Manifest& controlled_protocol(ClockVariant clocks);

// The variant that an identity is of; nothing for any other protocol.
std::optional<ClockVariant> controlled_variant(const Digest& protocol);

}  // namespace kernelindex
