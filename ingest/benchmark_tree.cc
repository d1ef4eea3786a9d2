// SPDX-License-Identifier: Apache-2.0
#include "ingest/benchmark_tree.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

std::string_view base_name(std::string_view locator) {
  const std::size_t slash = locator.rfind('/');
  return slash == std::string_view::npos ? locator : locator.substr(slash + 1);
}

std::string_view stem_of(std::string_view locator) {
  const std::string_view base = base_name(locator);
  return base.substr(0, base.rfind('.'));
}

// What files are called that cannot be read at all.
bool is_named_as_part(std::string_view locator) {
  const std::string_view base = base_name(locator);
  const bool json = base.ends_with(".json") || base.ends_with(".jsonl");
  return base == "definition.json" || base == "workload.jsonl" ||
         (json && (base.starts_with("solution") || base.find("trace") != std::string_view::npos));
}

bool has(const Value& item, std::string_view name) { return item.find(name) != nullptr; }

}  // namespace

TreeItem tree_item_of(const Value& item) {
  if (!item.is_object()) return TreeItem::unknown;
  if (has(item, "name") && has(item, "outputs") && (has(item, "axes") || has(item, "inputs"))) {
    // With an id and its workloads it is what the leaderboard's API answers.
    const bool answer = has(item, "id") && has(item, "workloads");
    return answer ? TreeItem::unknown : TreeItem::definition;
  }
  if (has(item, "definition") && has(item, "workload")) return TreeItem::trace;
  if (has(item, "definition") && (has(item, "sources") || has(item, "spec"))) {
    return TreeItem::solution;
  }
  const bool list_entry = has(item, "uuid") || has(item, "inputs") || has(item, "tolerance");
  return has(item, "axes") && list_entry ? TreeItem::workload : TreeItem::unknown;
}

bool begins_benchmark_tree(std::string_view beginning, std::string_view locator) {
  const JsonForm form = json_form(beginning, locator);
  if (form == JsonForm::none) return false;
  json::Arena arena;
  if (form == JsonForm::lines) {
    const std::optional<Value> line = first_json_line(beginning, arena);
    return line && tree_item_of(*line) != TreeItem::unknown;
  }
  const std::string_view text = beginning;
  std::vector<json::Defect> defects;
  const Result<Value> value = json::parse_collecting_defects(
      text, arena, {limits::kSourceJsonBytes, limits::kJsonDepth}, defects);
  if (value && value->is_array()) {
    return !value->array().empty() && tree_item_of(value->array()[0]) != TreeItem::unknown;
  }
  if (value) return tree_item_of(*value) != TreeItem::unknown;
  // The document is longer than its beginning: only names can be looked for.
  const auto names = [&](std::string_view name) { return text.find(name) != text.npos; };
  if (names("\"definition\"")) {
    return names("\"sources\"") || names("\"spec\"") || names("\"workload\"");
  }
  return names("\"name\"") && names("\"axes\"") && names("\"inputs\"") && !names("\"workloads\"");
}

std::string directory_of(std::string_view locator) {
  const std::size_t slash = locator.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(locator.substr(0, slash));
}

std::size_t common_folders(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  while (true) {
    const std::size_t end_a = a.find('/');
    const std::size_t end_b = b.find('/');
    if (a.substr(0, end_a) != b.substr(0, end_b) || a.empty() || b.empty()) return count;
    ++count;
    if (end_a == std::string_view::npos || end_b == std::string_view::npos) {
      return count + (end_a == end_b ? 1 : 0);  // the very same directory is nearest
    }
    a.remove_prefix(end_a + 1);
    b.remove_prefix(end_b + 1);
  }
}

BenchmarkTree::BenchmarkTree(std::span<const RecordedFile> files, ClaimWriter& writer)
    : files_(files), writer_(writer), drift_(writer.sink()) {}

Status BenchmarkTree::read() {
  for (std::size_t file = 0; file < files_.size(); ++file) {
    if (Status read = read_file(file); !read) return read;
  }
  pair_workloads();
  if (recognised_) return {};
  return fail(ErrorKind::invalid, "NOT_A_TREE", {},
              "none of the " + std::to_string(files_.size()) +
                  " files given is a definition, a workload list, a solution or a trace",
              "Give the folder that holds them");
}

// Nothing in it begins as JSON.
void BenchmarkTree::set_unreadable_aside(std::size_t file) {
  if (!is_named_as_part(files_[file].locator)) {
    return writer_.review({file, {}}, "UNKNOWN_FILE",
                          "not part of this source, so it was left aside");
  }
  recognised_ = true;
  writer_.quarantine({file, {}},
                     {ErrorKind::invalid, "EMPTY_DOCUMENT", {}, "the file holds no JSON", {}});
}

Status BenchmarkTree::read_file(std::size_t file) {
  Result<std::string> beginning = read_beginning(files_[file], kBeginningBytes);
  if (!beginning) return fail(std::move(beginning.error()));
  const JsonForm form = json_form(*beginning, files_[file].locator);
  if (form == JsonForm::none) {
    set_unreadable_aside(file);
    return {};
  }
  if (form == JsonForm::lines) {
    // Traces are many; they are read once, line by line, when their turn comes.
    json::Arena arena;
    const std::optional<Value> line = first_json_line(*beginning, arena);
    if (line && tree_item_of(*line) == TreeItem::trace) {
      traces_.push_back({file, form, false});
      recognised_ = true;
      return {};
    }
  }
  bool known = false;
  return for_each_json_item(files_[file], form, arena_, true, [&](JsonItem item) {
    const bool is_trace = item.value && tree_item_of(*item.value) == TreeItem::trace;
    if (!is_trace) return take(file, std::move(item), known);
    if (traces_.empty() || traces_.back().file != file) traces_.push_back({file, form, true});
    recognised_ = true;
    known = true;
    return Status();
  });
}

Status BenchmarkTree::take(std::size_t file, JsonItem item, bool& known) {
  const ItemPlace place{file, item.pointer};
  if (!item.value) {
    recognised_ |= known || is_named_as_part(files_[file].locator);
    writer_.quarantine(place, item.value.error());
    return {};
  }
  drift_.set_place(files_[file].locator, place.pointer);
  switch (tree_item_of(*item.value)) {
    case TreeItem::definition:
      take_definition(place, *item.value);
      break;
    case TreeItem::solution:
      take_solution(place, *item.value);
      break;
    case TreeItem::workload:
      take_workload(place, *item.value);
      break;
    case TreeItem::trace:
    case TreeItem::unknown:
      if (known) {
        writer_.quarantine(place, {ErrorKind::invalid,
                                   "UNKNOWN_ITEM",
                                   {},
                                   "this is no definition, workload, solution or trace",
                                   {}});
      } else {
        writer_.review(place, "UNKNOWN_FILE", "not part of this source, so it was left aside");
      }
      return {};
  }
  known = true;
  recognised_ = true;
  return {};
}

void BenchmarkTree::take_definition(const ItemPlace& place, const Value& value) {
  Result<KernelDefinition> definition = read_kernel_definition(value, drift_);
  if (!definition) return writer_.quarantine(place, definition.error());
  DefinitionRecord& record = definitions_.emplace_back();
  record.place = place;
  record.directory = directory_of(files_[place.file].locator);
  record.definition = std::move(*definition);
  record.canonical = sha256(json::canonical(value));
  by_name_[std::string(record.definition.name)].push_back(&record);
}

void BenchmarkTree::take_solution(const ItemPlace& place, const Value& value) {
  Result<SolutionDocument> solution = read_solution(value, drift_);
  if (!solution) return writer_.quarantine(place, solution.error());
  solutions_.push_back({place, directory_of(files_[place.file].locator), std::move(*solution)});
}

void BenchmarkTree::take_workload(const ItemPlace& place, const Value& value) {
  Result<WorkloadEntry> entry = read_workload_entry(value, {}, drift_);
  if (!entry) return writer_.quarantine(place, entry.error());
  if (loose_.empty() || loose_.back().file != place.file) loose_.push_back({place.file, {}});
  std::string key = key_of(*entry);
  loose_.back().entries.push_back({place, std::move(*entry), std::move(key)});
}

Result<DefinitionRecord*> BenchmarkTree::find_definition(std::string_view name,
                                                         std::string_view directory) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    return fail(ErrorKind::invalid, "NO_DEFINITION", "definition",
                "no definition \"" + std::string(name) + "\" is among the files given");
  }
  DefinitionRecord* nearest = nullptr;
  std::size_t folders = 0;
  bool ambiguous = false;
  for (DefinitionRecord* record : found->second) {
    const std::size_t common = common_folders(record->directory, directory);
    if (nearest != nullptr && common < folders) continue;
    // Of two that are equally near the first counts, if they say the same.
    const bool same = nearest != nullptr && common == folders;
    if (same && nearest->canonical == record->canonical) continue;
    ambiguous = same;
    nearest = record;
    folders = common;
  }
  if (!ambiguous) return nearest;
  return fail(ErrorKind::invalid, "AMBIGUOUS_DEFINITION", "definition",
              "several definitions \"" + std::string(name) + "\" that differ are equally near");
}

// The definition of a list that names none: the only one in its directory, the one that the file or
// its folder is called after, or the only one that there is.
DefinitionRecord* BenchmarkTree::definition_of_list(std::string_view locator) {
  const std::string directory = directory_of(locator);
  DefinitionRecord* beside = nullptr;
  std::size_t count = 0;
  for (DefinitionRecord& record : definitions_) {
    if (record.directory != directory) continue;
    beside = &record;
    ++count;
  }
  if (count == 1) return beside;
  for (const std::string_view name : {stem_of(locator), base_name(directory)}) {
    if (Result<DefinitionRecord*> named = find_definition(name, directory)) return *named;
  }
  return definitions_.size() == 1 ? &definitions_.front() : nullptr;
}

void BenchmarkTree::pair_workloads() {
  for (LooseWorkloads& list : loose_) {
    DefinitionRecord* definition = definition_of_list(files_[list.file].locator);
    if (definition == nullptr) {
      for (const WorkloadRecord& entry : list.entries) {
        writer_.quarantine(entry.place,
                           {ErrorKind::invalid,
                            "NO_DEFINITION",
                            {},
                            "no definition is beside this list of workloads, or several are",
                            {}});
      }
      continue;
    }
    std::ranges::move(list.entries, std::back_inserter(definition->workloads));
  }
  loose_.clear();
}

}  // namespace kernelindex::ingest
