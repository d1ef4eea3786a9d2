// SPDX-License-Identifier: Apache-2.0
#include "tests/ingest/collecting_sink.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "tests/support/corpus.h"

namespace kernelindex::test {

using ingest::Draft;
using ingest::Finding;
using ingest::FindingClass;

Status CollectingSink::begin_file(std::size_t file) {
  files.push_back(file);
  return {};
}

Status CollectingSink::claim(Draft draft) {
  if (std::ranges::find(files, draft.file) == files.end()) ++early_claims;
  drafts.push_back(std::move(draft));
  return {};
}

Status CollectingSink::artifact(ingest::ArtifactDraft artifact) {
  artifacts.push_back(std::move(artifact));
  return {};
}

Status CollectingSink::withdrawn(ingest::WithdrawalDraft withdrawal) {
  withdrawals.push_back(std::move(withdrawal));
  return {};
}

void CollectingSink::finding(Finding finding) { all_findings.push_back(std::move(finding)); }

void CollectingSink::skipped(std::string_view reason) { ++skips[std::string(reason)]; }

void CollectingSink::selected() { ++selected_count; }

void CollectingSink::counted(std::string_view what, std::uint64_t times) {
  counts[std::string(what)] += times;
}

std::size_t CollectingSink::claims_of(ManifestKind kind) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      drafts, [&](const Draft& draft) { return draft.manifest.kind == kind; }));
}

std::size_t CollectingSink::identities_of(ManifestKind kind) const {
  std::set<Digest> identities;
  for (const Draft& draft : drafts) {
    if (draft.manifest.kind == kind) identities.insert(draft.manifest.identity);
  }
  return identities.size();
}

const Draft* CollectingSink::find(ManifestKind kind, std::string_view external_id) const {
  for (const Draft& draft : drafts) {
    if (draft.manifest.kind == kind &&
        std::ranges::find(draft.external_ids, external_id) != draft.external_ids.end()) {
      return &draft;
    }
  }
  return nullptr;
}

std::vector<const Finding*> CollectingSink::findings(FindingClass kind) const {
  std::vector<const Finding*> found;
  for (const Finding& finding : all_findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  return found;
}

std::size_t CollectingSink::skipped_count(std::string_view reason) const {
  const auto found = skips.find(reason);
  return found == skips.end() ? 0 : found->second;
}

std::uint64_t CollectingSink::count(std::string_view what) const {
  const auto found = counts.find(what);
  return found == counts.end() ? 0 : found->second;
}

std::size_t CollectingSink::accounted_items() const {
  std::size_t items = selected_count + findings(FindingClass::quarantined).size();
  for (const auto& [reason, count] : skips) items += count;
  return items;
}

std::string CollectingSink::said() const {
  std::string out;
  for (const Finding& finding : all_findings) {
    out += finding.locator + " " + finding.item + " " + finding.code + ": " + finding.reason + "\n";
  }
  return out;
}

SourceFiles SourceFiles::of_folder(const std::filesystem::path& folder) {
  SourceFiles files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files.add(entry.path().lexically_relative(folder).string(), read_file(entry.path()));
  }
  std::ranges::sort(files.files_);
  return files;
}

SourceFiles& SourceFiles::add(std::string locator, std::string bytes) {
  files_.emplace_back(std::move(locator), std::move(bytes));
  return *this;
}

std::string& SourceFiles::bytes_of(std::string_view locator) {
  const auto found =
      std::ranges::find(files_, locator, [](const auto& file) { return file.first; });
  if (found == files_.end()) throw std::runtime_error("no file " + std::string(locator));
  return found->second;
}

std::vector<ingest::SourceFile> SourceFiles::view() const {
  std::vector<ingest::SourceFile> view;
  for (const auto& [locator, bytes] : files_) {
    view.push_back({locator, "application/json", {}, bytes});
  }
  return view;
}

std::vector<ingest::RecordedFile> SourceFiles::recorded() const {
  std::vector<ingest::RecordedFile> out;
  for (const auto& [locator, bytes] : files_) {
    const std::string_view view = bytes;
    out.push_back(
        {locator, "application/json", {}, [view]() -> Result<std::unique_ptr<ByteSource>> {
           return std::make_unique<MemorySource>(view);
         }});
  }
  return out;
}

void replace_once(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::runtime_error("\"" + std::string(from) + "\" does not stand there exactly once");
  }
  text.replace(at, from.size(), to);
}

}  // namespace kernelindex::test
