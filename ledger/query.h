// SPDX-License-Identifier: Apache-2.0
// Questions to a ledger: the history of a comparison group, lists of runs and records, and what is
// known of one run. Everything that is answered derives from leaves and objects alone.
//
// All functions are const on the ledger and safe to call from several threads with one Reader.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/evidence_policy.h"
#include "ledger/ranking_policy.h"
#include "ledger/reader.h"
#include "ledger/rows.h"

namespace kernelindex {

// Whose runners count: in one's own ledger directory its own enrolments do.
inline constexpr std::string_view kOwnTrust = "own-ledger";

struct ReadPolicy {
  RankingPolicy ranking = RankingPolicy::v1;
  // Answer as the log stood at this size; absent: as it stands.
  std::optional<std::uint64_t> as_of;
};

// One run as a reader sees it. Owns the bytes that its row's texts are views of.
class RunView {
 public:
  RunView(const Digest& digest, std::unique_ptr<const std::string> bytes, RunRow row)
      : digest(digest), row(std::move(row)), bytes_(std::move(bytes)) {}

  Digest digest;
  RunRow row;
  Evidence evidence;
  std::optional<std::uint32_t> rank;  // absent when not eligible
  std::vector<std::string> reasons;   // why not
  // What was said of it in this ledger and counts.
  bool retracted = false;
  bool withdrawn = false;  // by its own source
  bool cannot_judge = false;
  bool superseded = false;          // by a successor that is eligible
  std::optional<Digest> successor;  // the newest one named, eligible or not

  bool eligible() const { return rank.has_value(); }

 private:
  std::unique_ptr<const std::string> bytes_;
};

// A move of a group's record. Positions are those of History::runs.
struct RecordMove {
  std::size_t run = 0;
  std::optional<std::size_t> previous;
  bool late = false;
};

// A comparison group (or serving cohort), judged.
struct History {
  Digest key;
  TreeHead as_of;
  RankingPolicy ranking = RankingPolicy::v1;
  bool source_native = false;     // profile: source_native, else strict_exact
  std::vector<RunView> runs;      // as displayed: by rank, then those not eligible
  std::vector<RecordMove> moves;  // in order of observation

  // The best eligible run, or null.
  const RunView* leader() const;
};

// Error NO_SUCH_GROUP (not_found) when no run has the key.
Result<History> history(const Reader& reader, const Digest& key, const ReadPolicy& policy = {});

// One run judged in its group (or alone, when its group is not known yet).
// Errors: NO_SUCH_RUN (not_found).
Result<RunView> view_run(const Reader& reader, const Digest& identity,
                         const ReadPolicy& policy = {});

// ---- lists ----

struct RunFilter {
  bool serving = false;  // serving runs instead of benchmark runs
  std::string source;
  std::optional<Digest> operation;
  std::optional<Digest> implementation;
  std::optional<Digest> project;
  std::optional<Digest> workload;
  std::string hardware;  // product, compared without case
  std::string status;
  std::optional<Level> level;
  std::optional<UtcMicros> since;  // observed at or after
  std::optional<UtcMicros> until;  // observed before
  std::size_t limit = 0;           // 0: all
  std::string cursor;              // where the last page ended
};

struct RunPage {
  std::vector<RunView> runs;  // newest observation first
  std::string next;           // cursor of the next page; empty at the end
};

// Errors: BAD_CURSOR (invalid).
Result<RunPage> list_runs(const Reader& reader, const RunFilter& filter,
                          const ReadPolicy& policy = {});

struct RecordView {
  Digest key;
  Digest run;
  std::optional<Digest> previous;
  std::string source;
  std::string operation_name;
  std::string implementation_name;
  std::string hardware;
  std::string unit;
  double value = 0;
  UtcMicros at = 0;
  bool late = false;
};

// All moves of all records, newest first; the filter chooses runs, `limit` moves.
Result<std::vector<RecordView>> list_records(const Reader& reader, const RunFilter& filter,
                                             const ReadPolicy& policy = {});

// ---- provenance ----

struct ClaimView {
  std::uint64_t index = 0;
  UtcMicros recorded_at = 0;
  std::string source;
  std::string via;
  bool supplied = false;  // a file that somebody gave, not fetched by us
  std::vector<std::string> external_ids;
  std::string item;
  Digest document;
  ClaimFacts facts;
  std::optional<std::uint64_t> import_index;  // of the statement that covers it
  bool import_valid = false;
  std::optional<Digest> snapshot;
  bool snapshot_kept = false;
  std::string locator;
  std::string fetched_at;
};

struct ReferenceView {
  std::string field;
  Digest digest;
  std::optional<ManifestKind> kind;  // absent: not in the ledger
  std::string label;
};

// An attestation about the subject.
struct ChainView {
  std::uint64_t index = 0;
  Digest id;
  std::string predicate_type;
  std::string signer;
  std::string role;  // of the signer, empty when it is not enrolled
  bool counts = false;
  std::string reason;  // why not
  std::string says;    // its own words: the reason of a correction, the text of a note
};

struct Provenance {
  Digest digest;
  ManifestKind kind{};
  TreeHead as_of;
  std::vector<ClaimView> claims;
  std::vector<ReferenceView> refers;
  std::vector<ChainView> chain;
  Proof inclusion;  // of the first claim
  std::uint64_t inclusion_index = 0;
};

// Error NO_SUCH_MANIFEST (not_found).
Result<Provenance> provenance(const Reader& reader, const Digest& identity);

// The document shown for an identity: bytes of the one claimed by the run's own source, else the
// first. `document` picks another by its digest.
struct ShownManifest {
  Digest identity;
  ManifestKind kind{};
  std::string bytes;  // canonical JSON; empty when withheld
  std::optional<Digest> comparison_key;
  std::vector<std::string> external_ids;
  struct Document {
    Digest digest;
    std::uint64_t index = 0;  // of its first claim
    std::string source;
  };
  std::vector<Document> documents;     // the shown one first
  std::vector<std::uint64_t> entries;  // about the subject
};
Result<ShownManifest> show_manifest(const Reader& reader, const Digest& identity,
                                    const std::optional<Digest>& document = std::nullopt);

// ---- search ----

struct SearchHit {
  Digest digest;
  ManifestKind kind{};
  std::string label;
  std::string source;
  std::vector<std::string> external_ids;
};
// Manifests whose names, slugs, aliases, tags or ids contain every word, best first.
Result<std::vector<SearchHit>> search(const Reader& reader, std::string_view text,
                                      std::size_t limit);

}  // namespace kernelindex
