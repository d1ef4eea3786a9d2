// SPDX-License-Identifier: Apache-2.0
// A tree of definitions, workload lists, solutions and traces, as SOL-ExecBench and
// FlashInfer-Bench lay them out, in any layout: what each file holds is seen from its content, and
// what belongs together from names and directories. IMPORT sections 5.7 and 6.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/claim_writer.h"
#include "ingest/item_place.h"
#include "ingest/json_items.h"
#include "ingest/kernel_definition.h"
#include "ingest/recorded_file.h"
#include "ingest/solution_document.h"
#include "ingest/source_item.h"
#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::ingest {

enum class TreeItem : std::uint8_t { unknown, definition, solution, trace, workload };
// By the members that only one kind has; the shape is checked by its reader.
TreeItem tree_item_of(const json::Value& item);

// Whether a file that begins so holds items of such a tree. What is cut off may be one item.
bool begins_benchmark_tree(std::string_view beginning, std::string_view locator);

// "a/b" of "a/b/c.json", "." of "c.json".
std::string directory_of(std::string_view locator);
// Folders that two directories have in common, from the root on; one more when they are the same.
std::size_t common_folders(std::string_view a, std::string_view b);

struct WorkloadRecord {
  ItemPlace place;
  WorkloadEntry entry;
  std::string key;
};

struct DefinitionRecord {
  ItemPlace place;
  std::string directory;
  KernelDefinition definition;
  Digest canonical;                       // SHA-256 of its canonical JSON
  std::vector<WorkloadRecord> workloads;  // of its lists, in the order of the files
};

struct SolutionRecord {
  ItemPlace place;
  std::string directory;
  SolutionDocument solution;
};

struct TraceFile {
  std::size_t file = 0;
  JsonForm form = JsonForm::none;
  bool others_taken = false;  // what is no trace in it was read with the tree
};

class BenchmarkTree {
 public:
  // Requires: files and writer outlive the tree.
  BenchmarkTree(std::span<const RecordedFile> files, ClaimWriter& writer);
  BenchmarkTree(const BenchmarkTree&) = delete;
  BenchmarkTree& operator=(const BenchmarkTree&) = delete;

  // Reads definitions, workload lists and solutions, and notes which files hold traces; those are
  // read again one by one. What cannot be read is quarantined, what is no part of a tree is listed
  // for review (UNKNOWN_FILE). Error NOT_A_TREE when no file is part of one.
  Status read();

  std::deque<DefinitionRecord>& definitions() { return definitions_; }
  const std::vector<SolutionRecord>& solutions() const { return solutions_; }
  const std::vector<TraceFile>& traces() const { return traces_; }
  DriftLog& drift() { return drift_; }

  // The definition of that name for an item in `directory`: the one in the nearest common folder.
  // Errors: NO_DEFINITION, AMBIGUOUS_DEFINITION when two that differ are equally near.
  Result<DefinitionRecord*> find_definition(std::string_view name, std::string_view directory);

 private:
  struct LooseWorkloads {  // of one file, entries that name no definition
    std::size_t file = 0;
    std::vector<WorkloadRecord> entries;
  };

  Status read_file(std::size_t file);
  void set_unreadable_aside(std::size_t file);
  Status take(std::size_t file, JsonItem item, bool& known);
  void take_definition(const ItemPlace& place, const json::Value& value);
  void take_solution(const ItemPlace& place, const json::Value& value);
  void take_workload(const ItemPlace& place, const json::Value& value);
  void pair_workloads();
  DefinitionRecord* definition_of_list(std::string_view locator);

  std::span<const RecordedFile> files_;
  ClaimWriter& writer_;
  DriftLog drift_;
  json::Arena arena_;  // of all but traces
  std::deque<DefinitionRecord> definitions_;
  std::map<std::string, std::vector<DefinitionRecord*>, std::less<>> by_name_;
  std::vector<SolutionRecord> solutions_;
  std::vector<LooseWorkloads> loose_;
  std::vector<TraceFile> traces_;
  bool recognised_ = false;
};

}  // namespace kernelindex::ingest
