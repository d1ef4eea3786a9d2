// SPDX-License-Identifier: Apache-2.0
// A solution of a kernel as SOL-ExecBench and FlashInfer-Bench write it (solution*.json): who wrote
// it, for which definition, in which language, and its source files. IMPORT sections 5.7 and 6.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ingest/source_item.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// All texts are views into the document that was read.
struct SolutionFile {
  std::string_view path;
  std::string_view content;
};

struct SolutionDocument {
  std::string_view name;
  std::string_view definition;
  std::string_view author;                        // empty when absent
  std::optional<std::string_view> description;    // absent or null
  std::vector<std::string_view> languages;        // spec.languages
  std::optional<std::string_view> language;       // spec.language
  std::vector<std::string_view> target_hardware;  // spec.target_hardware
  std::optional<std::string_view> entry_point;    // "main.py::run"
  std::string_view binding;                       // "torch"; empty when absent
  std::vector<SolutionFile> sources;

  // The file that the entry point names, else the first; null when there are none.
  const SolutionFile* primary() const;
  // What stands behind "::" in the entry point; empty when nothing does.
  std::string_view symbol() const;
};

// Checks the shape. A source file without its content (it lies beside the document, then) is a
// fault: what the solution is would not be known.
Result<SolutionDocument> read_solution(const json::Value& item, DriftLog& drift);

// The media type of a source file by its name: "text/x-python", "text/x-cuda", "text/x-c", else
// "text/plain".
std::string_view source_media_type(std::string_view path);

}  // namespace kernelindex::ingest
