// SPDX-License-Identifier: Apache-2.0
#include "ingest/claim_writer.h"

#include <utility>

namespace kernelindex::ingest {
namespace {

template <typename File>
std::vector<std::string> locators(std::span<const File> files) {
  std::vector<std::string> out;
  out.reserve(files.size());
  for (const File& file : files) out.push_back(file.locator);
  return out;
}

}  // namespace

ClaimWriter::ClaimWriter(std::string_view source, std::vector<std::string> locators,
                         DraftSink& sink)
    : source_(source), locators_(std::move(locators)), sink_(sink), begun_(locators_.size()) {}

std::string ClaimWriter::external_id(std::string_view id) const {
  return source_ + ":" + std::string(id);
}

Draft ClaimWriter::draft_of(Manifest manifest, const ItemPlace& place) const {
  Draft draft;
  draft.manifest = std::move(manifest);
  draft.source = source_;
  draft.file = place.file;
  draft.item = place.pointer;
  return draft;
}

Status ClaimWriter::begin(std::size_t file) {
  if (begun_[file]) return {};
  begun_[file] = true;
  return sink_.begin_file(file);
}

Status ClaimWriter::claim(Draft draft) {
  if (Status begun = begin(draft.file); !begun) return begun;
  return sink_.claim(std::move(draft));
}

Status ClaimWriter::claim_once(const Manifest& manifest, const ItemPlace& place,
                               std::string_view slug, std::string_view external_id) {
  if (!shared_.insert(manifest.identity).second) return {};
  Draft draft = draft_of(manifest, place);
  draft.facts.slug = slug;
  if (!external_id.empty()) draft.external_ids = {this->external_id(external_id)};
  return claim(std::move(draft));
}

void ClaimWriter::quarantine(const ItemPlace& place, const Error& error) {
  std::string reason = error.message;
  if (!error.place.empty()) reason = error.place + ": " + reason;
  sink_.finding({FindingClass::quarantined, locators_[place.file], place.pointer, error.code,
                 std::move(reason)});
}

void ClaimWriter::review(const ItemPlace& place, std::string code, std::string reason) {
  sink_.finding({FindingClass::review, locators_[place.file], place.pointer, std::move(code),
                 std::move(reason)});
}

std::vector<std::string> locators_of(std::span<const RecordedFile> files) {
  return locators(files);
}

std::vector<std::string> locators_of(std::span<const SourceFile> files) { return locators(files); }

}  // namespace kernelindex::ingest
