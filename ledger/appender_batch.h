// SPDX-License-Identifier: Apache-2.0
// The inside of an Appender: what one batch holds before it is written, and the rows that its
// claims change. Private to ledger/appender*.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/appender.h"

namespace kernelindex {

inline Error changed_while_read() {
  return {ErrorKind::invalid,
          "CHANGED_WHILE_READ",
          {},
          "the file changed while it was read",
          "run the command again when nothing writes to the file"};
}

struct Appender::Batch {
  std::uint64_t first = 0;       // index of its first entry
  std::vector<LeafHash> hashes;  // of the leaves of its entries
  StoreBatch changes;
  std::size_t offered = 0;  // known or not: batches are cut by position
  std::uint64_t offered_bytes = 0;
  std::map<std::string, std::int64_t> counts;  // of new things, for the import statement
  std::vector<Digest> snapshots;               // named by its claims, in order
  std::unordered_map<Digest, std::uint64_t> fingerprints;
  std::unordered_map<Digest, std::uint64_t> artifacts;     // new ones, by digest
  std::unordered_map<Digest, std::uint64_t> attestations;  // new ones, by id
  std::unordered_map<Digest, std::uint64_t> chain_heads;   // of subjects with new entries
  std::unordered_set<Digest> objects;                      // new ones
  std::unordered_set<std::string> superseded;              // external ids that its claims replace
  std::vector<std::pair<std::uint64_t, Attestation>> key_statements;
  std::vector<ChainFact> chain_facts;
  std::optional<ImportRange> import;
  std::unordered_map<Digest, bool> acquired;  // of its snapshot entries: whether as a file
  std::unordered_map<Digest, std::vector<Digest>> depends;  // of the runs joined in it

  std::uint64_t end() const { return first + hashes.size(); }

  void name_snapshot(const Digest& digest) {
    for (const Digest& known : snapshots) {
      if (known == digest) return;
    }
    snapshots.push_back(digest);
  }

  // What readers see after this batch.
  Result<std::shared_ptr<const LogState>> next_state(const LogState& now,
                                                     const TreeHead& head) const {
    auto next = std::make_shared<LogState>(now);
    next->head = head;
    for (const auto& [index, statement] : key_statements) {
      if (Status status = next->keys.apply(index, statement); !status) return fail(status.error());
    }
    if (import) next->imports.push_back(*import);
    if (!chain_facts.empty()) {
      std::vector<ChainFact> facts = *now.chain_facts;
      facts.insert(facts.end(), chain_facts.begin(), chain_facts.end());
      next->chain_facts = std::make_shared<const std::vector<ChainFact>>(std::move(facts));
    }
    if (!chain_facts.empty() || !key_statements.empty()) next->judge();
    return next;
  }
};

// Rows as they are with the pending batch on top, and which of them the batch changes.
class Appender::Rows final : public RowSource {
 public:
  explicit Rows(Ledger& ledger) : reader_(ledger.store().latest(), ledger.state()) {}

  const Reader& reader() const { return reader_; }
  void begin(std::shared_ptr<const Batch> batch) { batch_ = std::move(batch); }
  // The batch goes on its way into the store: until written() its changes are looked up here.
  void write(std::shared_ptr<const Batch> batch);
  // It is in the store: what it changed is remembered, bounded.
  void written();

  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override;
  Result<bool> artifact_held(const Digest& digest) override;
  Result<bool> object_kept(const Digest& digest) override;
  Result<bool> superseded(std::string_view external_id) override;
  Result<bool> supplied(const Digest& snapshot);
  // A snapshot entry was added: how its bytes came is to be looked up again.
  void forget_supplied() { last_supplied_.reset(); }
  Result<std::optional<std::uint64_t>> chain_head(const Digest& subject);

  // Adds a claim to its subject's row. `before` is the row without it, or null.
  void fold(std::uint64_t index, const Entry& entry, bool supplied, const Manifest& manifest,
            const std::shared_ptr<const SubjectRow>& before);

  struct Change {
    Digest identity;
    std::shared_ptr<const SubjectRow> before;  // as stored; null when new
    std::shared_ptr<SubjectRow> after;
  };
  // Changed subjects in order of first change.
  const std::vector<Change>& changes() const { return changes_; }
  // The facts of runs claimed in this batch.
  struct Run {
    ManifestKind kind{};
    KindFacts facts;
  };
  const std::unordered_map<Digest, Run>& runs() const { return runs_; }

 private:
  void remember(const Digest& identity, std::shared_ptr<const SubjectRow> row);
  Result<bool> stored_artifact_held(const Digest& digest) const;

  Reader reader_;                         // unpinned: what was committed since shows
  std::shared_ptr<const Batch> batch_;    // being built
  std::shared_ptr<const Batch> writing_;  // on its way into the store, or null
  std::unordered_map<Digest, std::shared_ptr<const SubjectRow>> writing_rows_;
  std::vector<Change> changes_;
  std::unordered_map<Digest, std::size_t> position_;  // in changes_
  std::unordered_map<Digest, Run> runs_;
  // Rows of what later claims refer to, in two generations: an import comes back to its operations
  // and suites again and again. When the newer is full it takes the place of the older.
  std::unordered_map<Digest, std::shared_ptr<const SubjectRow>> recent_;
  std::unordered_map<Digest, std::shared_ptr<const SubjectRow>> older_;
  std::unordered_map<Digest, bool> artifacts_held_;  // of the store, asked for this batch
  std::unordered_map<Digest, bool> objects_kept_;    // of the store, asked for this batch
  std::optional<std::pair<Digest, bool>> last_supplied_;
  std::optional<bool> any_superseding_;
};

}  // namespace kernelindex
