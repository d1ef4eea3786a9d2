// SPDX-License-Identifier: Apache-2.0
// A sink that keeps all an importer says, and a dump as files in memory.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::test {

class CollectingSink final : public ingest::DraftSink {
 public:
  Status begin_file(std::size_t file) override;
  Status claim(ingest::Draft draft) override;
  Status artifact(ingest::ArtifactDraft artifact) override;
  Status withdrawn(ingest::WithdrawalDraft withdrawal) override;
  void finding(ingest::Finding finding) override;
  void skipped(std::string_view reason) override;
  void selected() override;
  void counted(std::string_view what, std::uint64_t times) override;

  std::size_t claims_of(ManifestKind kind) const;
  std::size_t identities_of(ManifestKind kind) const;
  // The first claim with this external id and kind, or null.
  const ingest::Draft* find(ManifestKind kind, std::string_view external_id) const;
  std::vector<const ingest::Finding*> findings(ingest::FindingClass kind) const;
  std::size_t skipped_count(std::string_view reason) const;
  std::uint64_t count(std::string_view what) const;
  // Of items: what was selected, skipped or set aside.
  std::size_t accounted_items() const;
  // All findings as text, for messages of failed tests.
  std::string said() const;

  std::vector<std::size_t> files;
  std::vector<ingest::Draft> drafts;
  std::vector<ingest::ArtifactDraft> artifacts;
  std::vector<ingest::WithdrawalDraft> withdrawals;
  std::vector<ingest::Finding> all_findings;
  std::map<std::string, std::size_t, std::less<>> skips;
  std::map<std::string, std::uint64_t, std::less<>> counts;
  std::size_t selected_count = 0;
  // Claims whose file had not been begun when they came.
  std::size_t early_claims = 0;
};

// Files in memory that a test can spoil one by one.
class SourceFiles {
 public:
  // All files under a folder, sorted by path.
  static SourceFiles of_folder(const std::filesystem::path& folder);
  SourceFiles& add(std::string locator, std::string bytes);
  std::string& bytes_of(std::string_view locator);
  // Valid while this object is not changed.
  std::vector<ingest::SourceFile> view() const;
  // The same as files that are read piece by piece.
  std::vector<ingest::RecordedFile> recorded() const;

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

// Replaces the only occurrence of `from`; throws std::runtime_error when there is none or are more.
void replace_once(std::string& text, std::string_view from, std::string_view to);

}  // namespace kernelindex::test
