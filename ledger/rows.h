// SPDX-License-Identifier: Apache-2.0
// Rows: derived facts as FlatBuffers bytes. The only door to the generated code of schema/rows.fbs.
//
// Decoding goes through the FlatBuffers verifier and never trusts the bytes: a damaged row is an
// error (DAMAGED_ROW), and `reindex` makes it anew.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/entry.h"
#include "schema/digest.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex {

// One claim of a manifest, as its row keeps it.
struct ClaimRow {
  std::uint64_t index = 0;
  UtcMicros recorded_at = 0;
  std::string source;
  std::string via;
  std::vector<std::string> external_ids;
  Digest document;
  std::optional<Digest> snapshot;
  bool supplied = false;  // the snapshot came as a file, not from our TLS client
  ClaimFacts facts;       // artifacts keep role and digest only
  std::string label;
};

// One manifest identity: its claims in order of index, and the facts of its spec.
struct SubjectRow {
  ManifestKind kind{};
  std::vector<ClaimRow> claims;
  KindFacts facts;  // not for runs, whose facts are in the run row

  // The claim whose document is shown first: the first one by `own_source`, else the first.
  // Requires: at least one claim.
  const ClaimRow& shown(std::string_view own_source = {}) const;
};

// Facts of a run row, one bit each. Rows store facts, never a level or a rank.
enum RunFlag : std::uint32_t {
  kImplementationMissing = 1u << 0,
  kWorkloadMissing = 1u << 1,
  kProtocolMissing = 1u << 2,
  kEnvironmentMissing = 1u << 3,
  kOperationMismatch = 1u << 4,  // implementation and workload are of different operations
  kSourceNamed = 1u << 5,        // the implementation names its source by digest
  kSourceHeld = 1u << 6,         // and all of it is an artifact in the log
  kEvidenceNamed = 1u << 7,      // raw samples or logs are named by digest
  kEvidenceHeld = 1u << 8,       // and one of them is an artifact in the log
  kRetractedBySource = 1u << 9,
  kSupersededBySource = 1u << 10,
  kObservedByOperator = 1u << 11,  // no instant of the source: no record history
  kModelMissing = 1u << 12,        // serving runs
  kConfigurationMissing = 1u << 13,
};

struct RunClaimRow {
  std::uint64_t index = 0;
  bool own_source = false;
  bool snapshot_kept = false;
};

// One run joined with what it refers to. The texts are views: of the row's bytes when decoded, of
// the caller's strings when encoded.
struct RunRow {
  ManifestKind kind = ManifestKind::benchmark_run;
  std::optional<Digest> group;  // comparison key, or cohort key of a serving run
  std::string_view metric;
  std::string_view statistic;
  std::string_view unit;
  std::optional<double> value;
  bool statistic_present = false;
  std::string_view status;
  std::string_view source;  // sourceNative.source, else the first claim's
  bool source_native = false;
  std::string_view native_external_id;
  Digest implementation;  // of a serving run: its configuration
  std::string_view implementation_name;
  std::optional<Digest> project;
  std::string_view project_name;
  std::optional<Digest> operation;  // of a serving run: its model
  std::string_view operation_name;
  Digest workload;
  std::string_view workload_name;
  Digest protocol;
  Digest environment;
  std::string_view hardware;
  std::string_view label;
  UtcMicros observed_at = 0;
  UtcMicros recorded_at = 0;
  std::uint64_t index = 0;
  std::uint64_t last_index = 0;
  std::vector<std::string_view> external_ids;
  std::vector<RunClaimRow> claims;
  std::uint32_t flags = 0;

  bool has(RunFlag flag) const { return (flags & flag) != 0; }
};

std::string encode_row(const SubjectRow& row);
std::string encode_row(const RunRow& row);
Result<SubjectRow> decode_subject_row(std::string_view bytes);
// The row's texts are views of `bytes`. Requires: `bytes` begin on a multiple of eight, as those of
// a std::string do and those under a cursor may not.
Result<RunRow> decode_run_row(std::string_view bytes);

}  // namespace kernelindex
