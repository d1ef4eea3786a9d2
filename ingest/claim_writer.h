// SPDX-License-Identifier: Apache-2.0
// What every importer does alike: drafts that carry their place, files begun before the first claim
// of them, documents of many items claimed at the first of these, and findings with a locator.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ingest/draft.h"
#include "ingest/item_place.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

class ClaimWriter {
 public:
  // `source` is the slug of whose claims these are. Requires: `sink` outlives this object.
  ClaimWriter(std::string_view source, std::vector<std::string> locators, DraftSink& sink);
  ClaimWriter(const ClaimWriter&) = delete;
  ClaimWriter& operator=(const ClaimWriter&) = delete;

  const std::string& locator(std::size_t file) const { return locators_[file]; }
  DraftSink& sink() { return sink_; }

  // "sol-execbench:submission/15866"
  std::string external_id(std::string_view id) const;
  Draft draft_of(Manifest manifest, const ItemPlace& place) const;

  // Begins a file, once.
  Status begin(std::size_t file);
  // Begins the draft's file and hands the draft on.
  Status claim(Draft draft);
  // Claims what many items share (a project, protocol or environment) the first time that it comes;
  // of several documents of one identity, which differ in titles alone, the first. `slug` and
  // `external_id` may be empty.
  Status claim_once(const Manifest& manifest, const ItemPlace& place, std::string_view slug = {},
                    std::string_view external_id = {});

  void quarantine(const ItemPlace& place, const Error& error);
  void review(const ItemPlace& place, std::string code, std::string reason);

 private:
  std::string source_;
  std::vector<std::string> locators_;
  DraftSink& sink_;
  std::vector<bool> begun_;
  std::unordered_set<Digest> shared_;  // identities
};

// The locators of files, in their order.
std::vector<std::string> locators_of(std::span<const RecordedFile> files);
std::vector<std::string> locators_of(std::span<const SourceFile> files);

}  // namespace kernelindex::ingest
