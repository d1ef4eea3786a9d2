// SPDX-License-Identifier: Apache-2.0
// From the id in an address to the one thing that its page is about. Permalinks hold whole digests;
// shorter ids, external ids and KernelIndex run ids lead there, or to a choice.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ledger/identify.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/router.h"

namespace kernelindex::serve {

inline constexpr std::size_t kCandidatesShown = 200;

// What an address names: a digest in full, or the answer that leads on (303 to the permalink; 300
// with the candidates).
using Found = std::variant<Digest, Response>;

// A manifest of one of `kinds`. Errors: BAD_ID (invalid), NO_SUCH_ID (not_found).
Result<Found> find_manifest(const Site& site, const Captures& captures,
                            std::span<const ManifestKind> kinds);
// A comparison or cohort key; the id of a run leads to its group.
Result<Found> find_group(const Site& site, const Captures& captures);

// The segments of an id that has slashes, joined again.
std::string joined_id(const Captures& captures);

// A list of what an id may name, each a link.
void append_candidates(Html& html, const Site& site, std::span<const Candidate> candidates);

}  // namespace kernelindex::serve
