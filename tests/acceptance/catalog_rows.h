// SPDX-License-Identifier: Apache-2.0
// What the published catalog says of itself, read without the importer's code: the figures that an
// import must give again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/digest.h"
#include "schema/utc_time.h"

namespace kernelindex::test {

struct CatalogRun {
  std::string id;  // a UUID
  Digest run;
  Digest key;  // comparison key, or cohort key
};

struct CatalogMove {
  Digest key;
  Digest run;
  std::optional<Digest> previous;
  UtcMicros at = 0;

  auto operator<=>(const CatalogMove&) const = default;
};

struct CatalogRows {
  std::vector<CatalogRun> runs;
  std::vector<CatalogRun> serving_runs;
  std::map<std::string, Digest> digests;  // of every other row that has one, by its UUID
  std::vector<CatalogMove> moves;         // the table record_events

  // Needs the corpus.
  static const CatalogRows& published();
};

}  // namespace kernelindex::test
