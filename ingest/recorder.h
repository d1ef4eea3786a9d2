// SPDX-License-Identifier: Apache-2.0
// Drafts to ledger: what an importer gives becomes claims, and one report says what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/draft.h"
#include "ingest/proposal.h"
#include "ingest/recorded_file.h"
#include "ledger/appender.h"
#include "schema/byte_source.h"

namespace kernelindex::ingest {

// What an import did. `recorded` and `existing` count entries; everything else is of the source
// alone and does not depend on what the ledger held.
struct ImportReport {
  std::string source;
  std::uint64_t selected = 0;
  std::map<std::string, std::uint64_t> skipped;  // by reason
  std::map<std::string, std::uint64_t> counted;
  std::map<std::string, std::uint64_t> claims;  // by manifest kind
  std::vector<Finding> findings;
  // The files in the order given, for sources whose importer asks for paths: two files of one
  // content are one snapshot, which does not tell them apart.
  std::vector<std::pair<std::string, Digest>> files;  // locator and snapshot
  std::vector<Digest> fetch_records;  // artifacts: what fetched the files said of each
  std::vector<Proposal> proposals;    // of a dry run: each claim, in order
  AppendCounts recorded;
  AppendCounts existing;
  TreeHead head;  // after the import

  bool quarantined() const;
  // DESIGN section 10.1, `import`, without a newline.
  std::string json() const;
  // What is kept as an object: the part that the source alone decides.
  std::string kept_json() const;
};

// A sink that records. With no appender nothing is written: a dry run, whose report counts what
// would be new and what exists, and lists the proposals. Its count of attestations is that of
// withdrawals: how many statements sign an import depends on its batches.
class Recorder final : public DraftSink {
 public:
  // `source` is the importer's slug; snapshots are recorded under it. With `keep_locators` the kept
  // report lists the files. All outlive the recorder.
  Recorder(Ledger& ledger, Appender* appender, std::string source,
           std::span<const RecordedFile> files, bool keep_locators = false);

  Status begin_file(std::size_t file) override;
  Status claim(Draft draft) override;
  Status artifact(ArtifactDraft artifact) override;
  // Keeps a whole file as an artifact.
  Status keep(const RecordedFile& file);
  // The same, named by the report as the record of a fetch.
  Status keep_fetch_record(const RecordedFile& file);
  Status withdrawn(WithdrawalDraft withdrawal) override;
  void finding(Finding finding) override;
  void skipped(std::string_view reason) override;
  void selected() override;
  void counted(std::string_view what, std::uint64_t times) override;

  // Commits the rest with the report kept, and fills in what the ledger decided.
  Result<ImportReport> finish();

 private:
  // A project that another document of the same source and slug has the place of; null when the
  // draft may be recorded.
  Result<std::optional<Digest>> known_project(const Draft& draft);
  Status review_slug(const Draft& draft);
  SnapshotEntry snapshot_entry(const RecordedFile& file) const;
  // Recorded runs of what was withdrawn, where no withdrawal says so yet.
  Status record_withdrawals();
  Result<std::optional<Digest>> first_under_slug(ManifestKind kind, std::string_view slug,
                                                 std::string_view source, bool any_source,
                                                 const Digest& except);
  Status count_dry(const Draft& draft);
  Status count_dry_file(std::size_t file);
  Status count_dry_artifact(const Digest& digest);
  // The digest of what was kept; nothing in a dry run.
  Result<std::optional<Digest>> keep_artifact(const RecordedFile& file);

  Ledger& ledger_;
  Appender* appender_;
  Reader reader_;  // of before this import
  ImportReport report_;
  std::span<const RecordedFile> files_;
  bool keep_locators_ = false;
  std::vector<std::optional<Digest>> snapshots_;          // by file, once recorded
  std::map<std::string, Digest> projects_;                // (source, slug) of this import
  std::map<std::string, Digest> operations_;              // slug of this import
  std::unordered_map<Digest, Digest> replaced_projects_;  // draft identity to known identity
  // Of a dry run: what it would have recorded by now.
  std::set<Digest> dry_fingerprints_;
  std::set<Digest> dry_identities_;
  std::set<Digest> dry_artifacts_;
  std::vector<WithdrawalDraft> withdrawals_;
};

}  // namespace kernelindex::ingest
