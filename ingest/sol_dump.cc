// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_dump.h"

#include <algorithm>

#include "schema/canonical_json.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view without_leading_space(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

// JSON lines belong to other formats; a dump's files are one document each.
bool is_json_lines(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  json::Arena arena;
  return json::parse(text.substr(0, end), arena, {limits::kSourceLineBytes, limits::kJsonDepth})
      .has_value();
}

bool is_description(const Value& body) {
  if (!body.is_object()) return false;
  const auto has = [&](std::string_view name) { return body.find(name) != nullptr; };
  const bool arguments = has("inputs") && has("outputs");
  return (has("name") && (has("axes") || arguments || has("workloads"))) ||
         (has("axes") && arguments) || (has("id") && has("workloads"));
}

const Value* list_member(const Value& body, std::string_view name) {
  return body.is_object() ? body.find(name) : nullptr;
}

std::string at(const std::string& pointer, std::string_view list, std::size_t index) {
  return pointer + "/" + std::string(list) + "/" + std::to_string(index);
}

Error defect_error(const json::Defect& defect, std::string_view text) {
  return {ErrorKind::invalid,
          std::string(defect.code),
          json::line_and_column(text, defect.offset),
          defect.message,
          {}};
}

}  // namespace

SolDump::SolDump(std::span<const SourceFile> files, ClaimWriter& writer)
    : files_(files), writer_(writer), sink_(writer.sink()), drift_(sink_) {}

Status SolDump::read() {
  for (std::size_t file = 0; file < files_.size(); ++file) classify(file);
  for (const Document& list : list_documents_) read_list(list, *list.body.find("kernels"));
  for (const Document& description : descriptions_) read_description(description);
  for (const Document& page : pages_) read_page(page, *page.body.find("submissions"));
  if (!recognised_) {
    return fail(ErrorKind::invalid, "NOT_A_DUMP", {},
                "none of the " + std::to_string(files_.size()) +
                    " files given is part of a SOL-ExecBench dump",
                "Give the saved answers of /api/kernels, /api/kernels/<id> and /api/submissions");
  }
  return {};
}

void SolDump::classify(std::size_t file) {
  const std::string_view text = files_[file].bytes;
  Document document{file, {}, {}, {}};
  const json::ReadLimits bounds{limits::kSourceJsonBytes, limits::kJsonDepth};
  Result<Value> read = json::parse_collecting_defects(text, arena_, bounds, document.defects);
  if (!read) {
    recognised_ |= quarantine_unreadable(file, read.error());
    return;
  }
  document.body = *read;
  if (const Value* data = list_member(*read, "data")) {
    for (const json::Member& member : read->object()) {
      if (member.name != "data") {
        drift_.set_place(files_[file].locator, {});
        drift_.unknown("response", member.name);
      }
    }
    document.body = *data;
    document.pointer = "/data";
  }
  if (list_member(document.body, "kernels") != nullptr) {
    list_documents_.push_back(std::move(document));
  } else if (list_member(document.body, "submissions") != nullptr) {
    pages_.push_back(std::move(document));
  } else if (is_description(document.body)) {
    descriptions_.push_back(std::move(document));
  } else {
    writer_.review({file, {}}, "UNKNOWN_FILE",
                   "not part of a SOL-ExecBench dump, so it was left aside");
    return;
  }
  recognised_ = true;
}

// Text that never was JSON is somebody's note and only listed; JSON that broke is a loss.
bool SolDump::quarantine_unreadable(std::size_t file, const Error& error) {
  const std::string_view text = without_leading_space(files_[file].bytes);
  const bool begins_as_json = text.starts_with('{') || text.starts_with('[');
  if (text.empty() || (begins_as_json && !is_json_lines(text))) {
    writer_.quarantine({file, {}}, error);
    return true;
  }
  writer_.review({file, {}}, "UNKNOWN_FILE",
                 "not part of a SOL-ExecBench dump, so it was left aside");
  return false;
}

bool SolDump::spoilt_outside(const Document& document, const Value& items) {
  for (const json::Defect& defect : document.defects) {
    const auto holds = [&](const Value& item) {
      return item.begin() <= defect.offset && defect.offset < item.end();
    };
    if (items.is_array() && std::ranges::any_of(items.array(), holds)) continue;
    writer_.quarantine({document.file, document.pointer},
                       defect_error(defect, files_[document.file].bytes));
    return true;
  }
  if (!items.is_array()) {
    writer_.quarantine({document.file, document.pointer},
                       {ErrorKind::invalid, "BAD_SHAPE", {}, "expected a list", {}});
  }
  return !items.is_array();
}

void SolDump::read_list(const Document& document, const Value& items) {
  if (items.is_null() && document.defects.empty()) return lists_.push_back(document.file);
  if (spoilt_outside(document, items)) return;
  lists_.push_back(document.file);
  const std::string& locator = files_[document.file].locator;
  drift_.set_place(locator, document.pointer);
  ItemReader body(document.body, {});
  body.ignore({"kernels", "total", "offset", "limit"});
  body.report_unknown("kernels", drift_);
  for (std::size_t i = 0; i < items.array().size(); ++i) {
    const Value& item = items.array()[i];
    const ItemPlace place{document.file, at(document.pointer, "kernels", i)};
    if (const json::Defect* defect = json::defect_within(document.defects, item)) {
      writer_.quarantine(place, defect_error(*defect, files_[document.file].bytes));
      continue;
    }
    ItemReader reader(item, {});
    const auto id = static_cast<std::int64_t>(reader.integer("id"));
    const std::string_view name = reader.text("name");
    reader.texts("gpu_types");
    reader.optional_text("title");
    reader.optional_integer("submission_count");
    std::optional<std::vector<std::string_view>> tags = reader.optional_texts("tags");
    if (reader.fault()) {
      writer_.quarantine(place, *reader.fault());
      continue;
    }
    drift_.set_place(locator, place.pointer);
    reader.report_unknown("kernel", drift_);
    KernelRecord& record = kernel(id, name);
    if (record.listed) {
      sink_.skipped("kernel_repeated");
      continue;
    }
    record.listed = true;
    record.listed_tags = std::move(tags);
  }
}

void SolDump::read_description(const Document& document) {
  const ItemPlace place{document.file, document.pointer};
  const Value* id = document.body.find("id");
  const bool readable_id = id != nullptr && id->is_number() && is_safe_integer(id->number());
  const auto number =
      readable_id ? std::optional(static_cast<std::int64_t>(id->number())) : std::nullopt;
  KernelRecord& record = kernel(number, document.body.text("name"));
  if (record.definition && document.defects.empty()) {
    if (json::canonical(record.value) == json::canonical(document.body)) {
      sink_.skipped("kernel_repeated");
    } else {
      writer_.quarantine(place, {ErrorKind::invalid,
                                 "KERNEL_DIFFERS",
                                 {},
                                 "another file describes this kernel otherwise: " +
                                     files_[record.place->file].locator,
                                 {}});
    }
    return;
  }
  if (!document.defects.empty()) {
    writer_.quarantine(place, defect_error(document.defects.front(), files_[document.file].bytes));
  } else {
    drift_.set_place(files_[document.file].locator, document.pointer);
    Result<KernelDefinition> definition = read_kernel_definition(document.body, drift_);
    if (definition) {
      record.definition = std::move(*definition);
      record.place.reset();
    } else {
      writer_.quarantine(place, definition.error());
    }
  }
  if (record.place) return;  // what was read before stands
  record.place = place;
  record.value = document.body;
}

void SolDump::read_page(const Document& document, const Value& items) {
  if (items.is_null() && document.defects.empty()) return empty_pages_.push_back(document.file);
  if (spoilt_outside(document, items)) return;
  drift_.set_place(files_[document.file].locator, document.pointer);
  ItemReader body(document.body, {});
  body.ignore({"submissions", "total", "offset", "limit"});
  body.report_unknown("submissions", drift_);
  if (items.array().empty()) empty_pages_.push_back(document.file);
  for (std::size_t i = 0; i < items.array().size(); ++i) {
    read_submission_item(document, items.array()[i],
                         {document.file, at(document.pointer, "submissions", i)});
  }
}

void SolDump::read_submission_item(const Document& document, const Value& item,
                                   const ItemPlace& place) {
  // The page belongs to the kernel, whatever else is wrong with the record.
  KernelRecord* record = nullptr;
  const Value* id = item.find("kernel_id");
  if (id != nullptr && id->is_number() && is_safe_integer(id->number())) {
    record = &kernel(static_cast<std::int64_t>(id->number()), item.text("kernel_name"));
    ++record->listed_submissions;
    if (record->pages.empty() || record->pages.back() != place.file) {
      record->pages.push_back(place.file);
    }
  }
  if (const json::Defect* defect = json::defect_within(document.defects, item)) {
    return writer_.quarantine(place, defect_error(*defect, files_[document.file].bytes));
  }
  drift_.set_place(files_[document.file].locator, place.pointer);
  Result<Submission> submission = read_submission(item, drift_);
  if (!submission) return writer_.quarantine(place, submission.error());
  add_submission(*record, {place, *submission, item});
}

void SolDump::add_submission(KernelRecord& kernel, SubmissionRecord record) {
  const auto [entry, is_new] =
      kernel.submission_index.emplace(record.submission.id, kernel.submissions.size());
  if (is_new) return kernel.submissions.push_back(std::move(record));
  SubmissionRecord& known = kernel.submissions[entry->second];
  sink_.skipped("repeated");
  const SubmissionState before = state_of(known.submission);
  const SubmissionState after = state_of(record.submission);
  if (after > before || (after == before && after == SubmissionState::in_flight)) {
    known = std::move(record);
  } else if (after == before && json::canonical(known.value) != json::canonical(record.value)) {
    writer_.review(record.place, "SUBMISSION_DIFFERS",
                   "submission " + std::to_string(record.submission.id) + " also stands in " +
                       files_[known.place.file].locator +
                       " with other facts, and those were taken");
  }
}

KernelRecord& SolDump::kernel(std::optional<std::int64_t> id, std::string_view name) {
  if (id) {
    if (const auto found = by_id_.find(*id); found != by_id_.end()) return *found->second;
  }
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    KernelRecord& record = *found->second;
    if (!id || !record.id) {  // one of the two is known by its name alone
      if (id) {
        record.id = id;
        by_id_[*id] = &record;
      }
      return record;
    }
  }
  KernelRecord& record = kernels_.emplace_back();
  record.id = id;
  record.name = name;
  if (id) by_id_[*id] = &record;
  by_name_.emplace(record.name, &record);
  return record;
}

std::vector<KernelRecord*> SolDump::kernels() {
  std::vector<KernelRecord*> order;
  for (KernelRecord& record : kernels_) {
    if (record.listed) order.push_back(&record);
  }
  const auto listed = static_cast<std::ptrdiff_t>(order.size());
  for (KernelRecord& record : kernels_) {
    if (!record.listed) order.push_back(&record);
  }
  std::ranges::stable_sort(order.begin() + listed, order.end(),
                           [](const KernelRecord* a, const KernelRecord* b) {
                             return a->id.value_or(INT64_MAX) < b->id.value_or(INT64_MAX);
                           });
  return order;
}

}  // namespace kernelindex::ingest
