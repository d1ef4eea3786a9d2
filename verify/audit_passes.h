// SPDX-License-Identifier: Apache-2.0
// The inside of the audit: its passes in their order, and what each leaves to the next.
//
//   scan_log          leaves hashed in order: tree, tiles, root; where snapshots stand
//   scan_objects      every object by digest; manifests read; meanwhile RocksDB's file checksums
//   check_entries     each leaf decoded and held against its object; rows and keys that follow
//   check_chains      `previous`, and subjects with several claims
//   check_statements  envelopes, keys, what their signers saw
//   check_imports     the leaves that import statements sign; each claim has one
//   check_orphans     objects that nothing names, bytes that are gone
//   check_places      head, format, checkpoint, released marks, key files
//   check_derived     runs joined, and all of the derived space compared
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/derive.h"
#include "ledger/key_book.h"
#include "ledger/ledger.h"
#include "ledger/reader.h"
#include "schema/manifest.h"
#include "verify/audit.h"
#include "verify/fault_list.h"
#include "verify/pair_set.h"
#include "verify/workers.h"

namespace kernelindex::auditing {

inline constexpr std::uint64_t kNone = ~std::uint64_t{0};

// ---- objects ----

// Why the bytes of an object are not what they should be.
struct Problem {
  std::string code;
  std::string what;
  std::string expected;
  std::string found;
};

struct ObjectFact {
  Digest digest;
  std::uint64_t size = 0;
  bool withheld = false;
  bool chunked = false;
  bool damaged = false;    // `problem` says how; else `problem` is of the manifest alone
  std::uint8_t named = 0;  // an entry or a statement names it; see Objects::name()
  std::unique_ptr<const Problem> problem;
  // Of bytes that begin as manifests do and are one; its `bytes` and `references` are dropped.
  std::unique_ptr<const Manifest> manifest;
};

// Objects by digest. Filled by one pass, then read by all threads.
class Objects {
 public:
  // Null when the store has no such object.
  const ObjectFact* find(const Digest& digest) const;
  // Remembers that something names it; from any thread.
  void name(const Digest& digest);
  // Whether its bytes are there (not withheld), as rows count it.
  bool kept(const Digest& digest) const;

  // By first byte of the digest, sorted.
  std::array<std::vector<ObjectFact>, 256> facts;
};

// ---- the log ----

enum class LeafType : std::uint8_t { unreadable, manifest, snapshot, artifact, attestation };

// What later passes need of an entry.
struct LeafFact {
  LeafFact(std::uint64_t index, const LeafHash& hash) : index(index), hash(hash) {}

  std::uint64_t index;
  LeafHash hash;
  Digest content;   // the object
  Digest subject;   // of claims and attestations
  Digest snapshot;  // that a claim names
  std::uint64_t previous = kNone;
  LeafType type = LeafType::unreadable;
  ManifestKind kind{};
  bool on_chain = false;
  bool has_snapshot = false;
  bool key_statement = false;  // ledger/v1 or key/v1
  bool sound = false;          // of a claim: its document is read and is what the entry says
};

// The snapshot entries of the log, by object: index, and whether it came as a file.
using Snapshots = std::unordered_map<Digest, std::vector<std::pair<std::uint64_t, bool>>>;

// All claims of one subject.
struct SubjectFact {
  Digest subject;
  ManifestKind kind{};
  std::vector<std::uint64_t> claims;  // indexes, in order
  bool sound = true;                  // all of its claims are
};

// One import statement.
struct ImportFact {
  std::uint64_t index = 0;  // of its entry
  ImportStatement says;
};

// ---- what the passes share ----

// Not copyable: passes and threads hold references into it.
struct AuditState {
  AuditState(const Store& store, const LedgerOptions& places, const AuditOptions& options,
             Reader reader)
      : store(store),
        places(places),
        options(options),
        reader(std::move(reader)),
        faults(options.faults_max),
        workers(options.threads, options.progress),
        subject_rows(workers.count()),
        other_pairs(workers.count()) {}

  const Store& store;
  const LedgerOptions& places;
  const AuditOptions& options;
  // Its state has the stored format and head and nothing else.
  Reader reader;
  FaultList faults;
  Workers workers;
  AuditReport report;

  std::vector<ReleasedMark> marks;     // as found when the store was opened
  std::optional<LedgerFormat> format;  // as stored
  std::optional<TreeHead> head;        // as stored

  // scan_log
  std::map<std::uint64_t, Digest> roots;  // of some sizes; root_at() adds the others
  std::vector<LeafFact> leaves;           // in order of index; position is index while `complete`
  bool complete = true;                   // no leaf is missing
  Snapshots snapshots;
  // scan_objects
  Objects objects;
  // check_entries
  std::unordered_set<Digest> artifacts;                                // of entries
  std::unordered_map<Digest, std::shared_ptr<const SubjectRow>> rows;  // of all but runs
  std::set<std::string, std::less<>> superseded;                       // external ids
  PairSet subject_rows;
  PairSet other_pairs;
  // check_chains
  std::vector<SubjectFact> subjects;  // in order of digest
  // check_statements
  std::optional<LedgerFormat> founding;  // what entry 0 says
  KeyBook keys;
  std::vector<ImportFact> imports;  // in order of index

  std::uint64_t first_audited() const {
    return options.since ? options.since->checkpoint.head.size : 0;
  }
  // Null when the log has no such entry, or it is lost.
  const LeafFact* leaf(std::uint64_t index) const;
  // Whether the log has a snapshot entry of these bytes before `index`.
  bool snapshot_before(const Digest& snapshot, std::uint64_t index) const;
  // How the snapshot that a claim at `index` names came: its last entry before it.
  bool supplied(const Digest& snapshot, std::uint64_t index) const;
};

// The roots of these sizes, recomputed from the leaves; absent above the last leaf before a gap.
std::map<std::uint64_t, Digest> roots_at(const AuditState& state,
                                         const std::set<std::uint64_t>& sizes);
// The row of a subject from all of its claims; null when an entry or a document cannot be read.
std::shared_ptr<const SubjectRow> fold_subject(const AuditState& state, const SubjectFact& subject);
// Keys of a space whose first byte is the letter of no table.
void check_tables(AuditState& state, Space space, std::string_view known);
// "entry 17"
std::string entry_name(std::uint64_t index);

// Both at once, and RocksDB's checksums of its files meanwhile.
void scan_log_and_objects(AuditState& state);
void scan_log(AuditState& state);
void check_entries(AuditState& state);
void check_chains(AuditState& state);
void check_statements(AuditState& state);
void check_imports(AuditState& state);
void check_orphans(AuditState& state);
void check_places(AuditState& state);
void check_derived(AuditState& state);

}  // namespace kernelindex::auditing
