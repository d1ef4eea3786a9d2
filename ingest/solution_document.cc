// SPDX-License-Identifier: Apache-2.0
#include "ingest/solution_document.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelindex::ingest {
namespace {

using json::Value;

constexpr std::string_view kSeparator = "::";

void read_spec(const Value& value, SolutionDocument& out, ItemReader& parent, DriftLog& drift) {
  ItemReader spec(value, "spec");
  out.languages = spec.optional_texts("languages").value_or(std::vector<std::string_view>());
  out.language = spec.optional_text("language");
  out.target_hardware =
      spec.optional_texts("target_hardware").value_or(std::vector<std::string_view>());
  out.entry_point = spec.optional_text("entry_point");
  out.binding = spec.optional_text("binding").value_or(std::string_view());
  spec.ignore({"dependencies", "destination_passing_style", "compile_options"});
  spec.report_unknown("solution.spec", drift);
  if (spec.fault()) parent.refuse_part(spec.fault()->place, spec.fault()->message);
}

void read_sources(const Value& list, SolutionDocument& out, ItemReader& parent, DriftLog& drift) {
  for (std::size_t i = 0; i < list.array().size(); ++i) {
    ItemReader source(list.array()[i], "sources[" + std::to_string(i) + "]");
    out.sources.push_back({source.text("path"), source.text("content")});
    source.report_unknown("solution.sources", drift);
    if (source.fault()) parent.refuse_part(source.fault()->place, source.fault()->message);
  }
}

}  // namespace

const SolutionFile* SolutionDocument::primary() const {
  if (sources.empty()) return nullptr;
  const std::string_view entry = entry_point.value_or(std::string_view());
  const std::string_view path = entry.substr(0, entry.find(kSeparator));
  const auto named = std::ranges::find(sources, path, &SolutionFile::path);
  return named == sources.end() ? sources.data() : &*named;
}

std::string_view SolutionDocument::symbol() const {
  const std::string_view entry = entry_point.value_or(std::string_view());
  const std::size_t at = entry.find(kSeparator);
  return at == std::string_view::npos ? std::string_view() : entry.substr(at + kSeparator.size());
}

Result<SolutionDocument> read_solution(const Value& item, DriftLog& drift) {
  ItemReader reader(item, {});
  SolutionDocument out;
  out.name = reader.text("name");
  out.definition = reader.text("definition");
  out.author = reader.optional_text("author").value_or(std::string_view());
  out.description = reader.optional_text("description");
  if (const Value* spec = reader.optional_object("spec")) read_spec(*spec, out, reader, drift);
  if (const Value* sources = reader.optional_array("sources")) {
    read_sources(*sources, out, reader, drift);
  }
  reader.report_unknown("solution", drift);
  if (reader.fault()) return fail(*reader.fault());
  return out;
}

std::string_view source_media_type(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes = {{
      {".py", "text/x-python"},
      {".cu", "text/x-cuda"},
      {".cuh", "text/x-cuda"},
      {".c", "text/x-c"},
      {".h", "text/x-c"},
      {".cc", "text/x-c"},
      {".cpp", "text/x-c"},
      {".hpp", "text/x-c"},
  }};
  for (const auto& [extension, type] : kTypes) {
    if (path.ends_with(extension)) return type;
  }
  return "text/plain";
}

}  // namespace kernelindex::ingest
