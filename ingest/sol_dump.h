// SPDX-License-Identifier: Apache-2.0
// A saved dump of the SOL-ExecBench leaderboard, read: which of the files given is what, the
// kernels in their order, and the submissions of each.
//
// Files are known by their content alone: the list of kernels ({"kernels": []}), one kernel's
// description, a page of submissions ({"submissions": []}); each bare or as {"data": ...}.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/claim_writer.h"
#include "ingest/draft.h"
#include "ingest/item_place.h"
#include "ingest/kernel_definition.h"
#include "ingest/sol_submission.h"
#include "schema/json_reader.h"

namespace kernelindex::ingest {

struct SubmissionRecord {
  ItemPlace place;
  Submission submission;
  json::Value value;
};

// A kernel that the dump names in any way.
struct KernelRecord {
  std::optional<std::int64_t> id;
  std::string name;
  std::optional<std::vector<std::string_view>> listed_tags;
  bool listed = false;
  std::optional<ItemPlace> place;  // of the description, even of an unreadable one
  json::Value value;               // the description
  std::optional<KernelDefinition> definition;
  std::vector<SubmissionRecord> submissions;  // each id once, in the order of the source
  std::map<std::int64_t, std::size_t> submission_index;
  std::size_t listed_submissions = 0;  // unreadable and repeated records too
  std::vector<std::size_t> pages;      // files with its submissions
};

class SolDump {
 public:
  // Requires: the files and the writer outlive the dump.
  SolDump(std::span<const SourceFile> files, ClaimWriter& writer);
  SolDump(const SolDump&) = delete;
  SolDump& operator=(const SolDump&) = delete;

  // Reads all files. What cannot be read is a finding; an error only when no file is part of a
  // dump.
  Status read();

  // In the order of the lists, then by id.
  std::vector<KernelRecord*> kernels();
  // Files that are lists of kernels.
  const std::vector<std::size_t>& lists() const { return lists_; }
  // Pages of submissions without a readable record.
  const std::vector<std::size_t>& empty_pages() const { return empty_pages_; }

 private:
  struct Document {
    std::size_t file = 0;
    std::string pointer;  // of the body: "" or "/data"
    json::Value body;
    std::vector<json::Defect> defects;
  };

  void classify(std::size_t file);
  bool quarantine_unreadable(std::size_t file, const Error& error);
  void read_list(const Document& document, const json::Value& items);
  void read_description(const Document& document);
  void read_page(const Document& document, const json::Value& items);
  void read_submission_item(const Document& document, const json::Value& item,
                            const ItemPlace& place);
  void add_submission(KernelRecord& kernel, SubmissionRecord record);
  // Quarantines the document when a defect lies outside the items of its list.
  bool spoilt_outside(const Document& document, const json::Value& items);
  KernelRecord& kernel(std::optional<std::int64_t> id, std::string_view name);

  std::span<const SourceFile> files_;
  ClaimWriter& writer_;
  DraftSink& sink_;
  DriftLog drift_;
  json::Arena arena_;
  // Read in this order: lists give kernels their order, pages refer to kernels.
  std::vector<Document> list_documents_;
  std::vector<Document> descriptions_;
  std::vector<Document> pages_;
  std::deque<KernelRecord> kernels_;  // addresses stay
  std::map<std::int64_t, KernelRecord*> by_id_;
  std::map<std::string, KernelRecord*, std::less<>> by_name_;
  std::vector<std::size_t> lists_;
  std::vector<std::size_t> empty_pages_;
  bool recognised_ = false;
};

}  // namespace kernelindex::ingest
