// SPDX-License-Identifier: Apache-2.0
// Where something comes from and what was said of it, gathered and as machine output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ledger/identify.h"
#include "ledger/import_event.h"
#include "ledger/query.h"
#include "ledger/reader_attempts.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

// All that is told: the chain of claims, and for a run its level.
struct ProvenanceStory {
  Provenance provenance;
  std::string label;
  std::optional<RunView> run;
  RunMeasurements measured;  // of a run
  ProofVerdict inclusion;
  std::uint64_t notes = 0;
  std::map<std::string, std::uint64_t> notes_by_owner;
  // By the statement that covers a claim; filled by tell_imports().
  std::map<std::uint64_t, ImportEventView> imports;

  // Null when no import was told, or none that can be read covers the claim.
  const ImportEventView* import_of(const ClaimView& claim) const;
};

// Errors: those of provenance() and view_run().
Result<ProvenanceStory> tell_provenance(const Reader& reader, const Candidate& found);
// Adds the imports that the claims came by, each as one event. Reads all their statements and
// reports, which of a large import takes a while. Errors: those of view_import_event().
Status tell_imports(const Reader& reader, ProvenanceStory& story);
json::Value provenance_document(const JsonOutput& json, const Reader& reader,
                                const ProvenanceStory& story);

// Whether it is of a type that never changes a level.
bool is_note(const ChainView& attestation);

}  // namespace kernelindex::tools
