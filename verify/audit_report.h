// SPDX-License-Identifier: Apache-2.0
// What an audit found: a verdict with everything that is wrong, each with what was expected and
// what was found. DESIGN section 10.1, `audit`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

// One thing that is wrong.
struct Fault {
  std::optional<std::uint64_t> index;  // of the entry it is about
  std::optional<Digest> digest;        // of the object, subject or key it is about
  std::string code;                    // stable, UPPER_SNAKE_CASE, for programs
  std::string what;                    // one sentence for people, names the place
  std::string expected;                // empty when there is no such value
  std::string found;
  bool derived = false;  // of derived data alone: `reindex` cures it
};

// How many of each kind were recomputed and compared, right or wrong.
struct AuditCounts {
  std::uint64_t leaves = 0;
  std::uint64_t objects = 0;
  std::uint64_t identities = 0;       // manifest documents whose digests were made anew
  std::uint64_t comparison_keys = 0;  // of runs, benchmark and serving
  std::uint64_t signatures = 0;       // envelopes, and log signatures on checkpoints
  std::uint64_t rows = 0;             // keys of derived data, rows and indexes
};

struct AuditReport {
  std::uint64_t size = 0;  // entries of the log as found
  Digest root;             // of their tree, recomputed
  AuditCounts checked;
  std::vector<Fault> faults;          // at most AuditOptions::faults_max, in order of index
  std::uint64_t faults_left_out = 0;  // how many more there were

  bool ok() const { return faults.empty() && faults_left_out == 0; }
  // Whether `reindex` cures all that is wrong.
  bool derived_only() const;
  // DESIGN section 10.1, without a newline.
  std::string json() const;
};

}  // namespace kernelindex
