// SPDX-License-Identifier: Apache-2.0
#include "ledger/search_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "ledger/key_layout.h"

namespace kernelindex {
namespace {

std::string fold(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  for (const char c : fold(text)) {
    if (c == ' ' || c == '\t') {
      if (!word.empty()) out.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) out.push_back(std::move(word));
  return out;
}

// What a word can be found in, one text with separators that no word contains.
std::string haystack(const Digest& identity, const SubjectRow& row) {
  std::string out = identity.text();
  const auto add = [&](std::string_view text) {
    out += '\n';
    out += text;
  };
  for (const ClaimRow& claim : row.claims) {
    add(claim.label);
    add(claim.facts.slug);
    for (const std::string& id : claim.external_ids) add(id);
    for (const std::string& alias : claim.facts.aliases) add(alias);
    for (const std::string& tag : claim.facts.tags) add(tag);
    add(claim.document.text());
  }
  if (const auto* project = std::get_if<ProjectFacts>(&row.facts)) add(project->name);
  if (const auto* environment = std::get_if<EnvironmentFacts>(&row.facts)) {
    add(environment->product);
  }
  return fold(out);
}

// Smaller is better: the whole label, its beginning, within it, elsewhere.
int quality(const std::string& label, const std::string& query) {
  if (label == query) return 0;
  if (label.starts_with(query)) return 1;
  return label.find(query) != std::string::npos ? 2 : 3;
}

}  // namespace

Result<SearchIndex> SearchIndex::build(const Reader& reader) {
  struct Read {
    std::uint64_t index;  // of the claim that is shown
    SearchHit hit;
    std::string words;
  };
  std::vector<Read> all;
  SearchIndex out;
  StoreCursor cursor = reader.view().scan(Space::derived, "s");
  for (; cursor.valid(); cursor.next()) {
    const Digest identity = key_layout::last_digest(cursor.key());
    Result<SubjectRow> row = decode_subject_row(cursor.value());
    if (!row) return fail_in(identity.text(), row.error());
    const ClaimRow& shown = row->shown();
    SearchHit hit{identity, row->kind, shown.label, shown.source, {}};
    for (const ClaimRow& claim : row->claims) {
      hit.external_ids.insert(hit.external_ids.end(), claim.external_ids.begin(),
                              claim.external_ids.end());
      out.sources_.emplace(claim.source);
    }
    all.push_back({shown.index, std::move(hit), haystack(identity, *row)});
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  std::ranges::sort(all, {}, &Read::index);
  out.hits_.reserve(all.size());
  out.words_.reserve(all.size());
  for (Read& read : all) {
    out.hits_.push_back(std::move(read.hit));
    out.words_.push_back(std::move(read.words));
  }
  return out;
}

Result<std::vector<const SearchHit*>> SearchIndex::find(std::string_view text,
                                                        std::size_t limit) const {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) {
    return fail(ErrorKind::usage, "EMPTY_SEARCH", {}, "there is nothing to search for");
  }
  const std::string query = fold(text);
  std::vector<std::pair<int, std::size_t>> found;
  for (std::size_t i = 0; i < hits_.size(); ++i) {
    const bool all = std::ranges::all_of(
        words, [&](const std::string& word) { return words_[i].find(word) != std::string::npos; });
    if (all) found.emplace_back(quality(fold(hits_[i].label), query), i);
  }
  std::ranges::sort(found);
  std::vector<const SearchHit*> out;
  for (const auto& [quality, at] : found) {
    if (limit > 0 && out.size() == limit) break;
    out.push_back(&hits_[at]);
  }
  return out;
}

Result<std::vector<SearchHit>> search(const Reader& reader, std::string_view text,
                                      std::size_t limit) {
  const Result<SearchIndex> index = SearchIndex::build(reader);
  if (!index) return fail(index.error());
  const Result<std::vector<const SearchHit*>> found = index->find(text, limit);
  if (!found) return fail(found.error());
  std::vector<SearchHit> out;
  for (const SearchHit* hit : *found) out.push_back(*hit);
  return out;
}

}  // namespace kernelindex
