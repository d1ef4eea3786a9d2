// SPDX-License-Identifier: Apache-2.0
// Where something comes from and what was said of it, gathered and as machine output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

// All that is told: the chain of claims, and for a run its level.
struct ProvenanceStory {
  Provenance provenance;
  std::string label;
  std::optional<RunView> run;
  ProofVerdict inclusion;
  std::uint64_t notes = 0;
  std::map<std::string, std::uint64_t> notes_by_owner;
};

// Errors: those of provenance() and view_run().
Result<ProvenanceStory> tell_provenance(const Reader& reader, const Candidate& found);
json::Value provenance_document(const JsonOutput& json, const Reader& reader,
                                const ProvenanceStory& story);

// Whether it is of a type that never changes a level.
bool is_note(const ChainView& attestation);

}  // namespace kernelindex::tools
