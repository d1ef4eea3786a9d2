// SPDX-License-Identifier: Apache-2.0
// All that the page of a run shows, read before a word of it is written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/query.h"
#include "ledger/reader_attempts.h"
#include "tools/run_facts.h"
#include "tools/serve/site.h"

namespace kernelindex::serve {

struct RunModel {
  explicit RunModel(const Reader& reader, RunView view) : run(std::move(view)), documents(reader) {}

  RunView run;
  Provenance provenance;
  RunMeasurements measured;
  std::optional<History> group;  // null while the run has no key
  tools::Documents documents;
  // Shown documents; null values where the ledger has none.
  json::Value manifest;
  json::Value implementation;
  json::Value workload;
  json::Value protocol;
  json::Value environment;

  // The claim that is shown first: the first of the run's own source.
  const ClaimView& claim() const;
  // "published" of that claim, a day; empty when its source says none.
  std::string published_day() const;
  // The KernelIndex id of the forerunner, "01a0032e-f7d2-…"; empty when it never had one.
  std::string kernelindex_id() const;
  // "01a0032e", else the first twelve digits of the digest.
  std::string short_id() const;
  // The eligible run of rank 1 of the run's own source, or null.
  const RunView* leader() const;
  // How many distinct runs of its source are ranked in its group.
  std::size_t ranked() const;
  // Community notes by owner, others of its chain.
  std::vector<const ChainView*> notes() const;
  std::vector<const ChainView*> statements() const;
};

// Errors: those of the ledger's queries.
Result<std::unique_ptr<RunModel>> read_run_model(const Site& site, const Digest& run);

// Whose key signed a note.
std::string note_owner(const Reader& reader, const ChainView& note);

}  // namespace kernelindex::serve
