// SPDX-License-Identifier: Apache-2.0
#include "tools/solution_sources.h"

#include <algorithm>

#include "ingest/solution_document.h"
#include "schema/json_reader.h"

namespace kernelindex::tools {
namespace {

std::unexpected<Error> invalid(std::string code, std::string place, std::string message) {
  return fail(ErrorKind::invalid, std::move(code), std::move(place), std::move(message));
}

std::optional<std::vector<std::string>> flags(const json::Value& options, std::string_view name) {
  const json::Value* list = options.find(name);
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const json::Value& flag : list->array()) {
    if (flag.is_string()) out.emplace_back(flag.string());
  }
  return out;
}

// Absent options are not empty ones: harnesses add defaults to the first alone. PROTOCOL section 4.
std::optional<BuildRecipe::CompileOptions> compile_options(const json::Value& document) {
  const json::Value* options = document.find({"spec", "compile_options"});
  if (options == nullptr || !options->is_object()) return std::nullopt;
  return BuildRecipe::CompileOptions{flags(*options, "cflags"), flags(*options, "cuda_cflags"),
                                     flags(*options, "ld_flags")};
}

// Members that a solution has and we do not know are a matter of its import.
class Unheard final : public ingest::DraftSink {
 public:
  Status begin_file(std::size_t) override { return {}; }
  Status claim(ingest::Draft) override { return {}; }
  Status artifact(ingest::ArtifactDraft) override { return {}; }
  Status withdrawn(ingest::WithdrawalDraft) override { return {}; }
  void finding(ingest::Finding) override {}
  void skipped(std::string_view) override {}
  void selected() override {}
  void counted(std::string_view, std::uint64_t) override {}
};

bool is_cuda(const ingest::SolutionDocument& solution) {
  const auto known = [](std::string_view language) {
    return language == "cuda_cpp" || language == "cuda" || language == "cpp";
  };
  return (solution.language && known(*solution.language)) ||
         std::ranges::any_of(solution.languages, known);
}

}  // namespace

Result<std::vector<JobSourceFile>> solution_sources(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> document = json::parse(text, arena);
  if (!document) return fail(document.error());
  Unheard unheard;
  ingest::DriftLog drift(unheard);
  const Result<ingest::SolutionDocument> solution = ingest::read_solution(*document, drift);
  if (!solution) return fail(solution.error());
  if (!is_cuda(*solution) || (!solution->binding.empty() && solution->binding != "torch")) {
    return invalid("UNSUPPORTED_BINDING", "spec",
                   "the runner builds CUDA and C++ with the torch binding, and its own bindings "
                   "ki-abi and ki-kernel through a recipe");
  }
  const ingest::SolutionFile* entry = solution->primary();
  if (entry == nullptr) return invalid("NO_SOURCE", "sources", "the solution has no files");
  BuildRecipe recipe;
  recipe.binding = BuildRecipe::Binding::torch;
  recipe.language = "cuda_cpp";
  recipe.entry_path = std::string(entry->path);
  recipe.entry_symbol = std::string(solution->symbol());
  const json::Value* style = document->find({"spec", "destination_passing_style"});
  recipe.destination_passing = style == nullptr || !style->is_boolean() || style->boolean();
  recipe.compile_options = compile_options(*document);
  std::vector<JobSourceFile> files;
  for (const ingest::SolutionFile& file : solution->sources) {
    if (!is_source_path(file.path)) {
      return invalid("BAD_SOURCE_PATH", std::string(file.path),
                     "the path of a source is relative, in one spelling");
    }
    put_source(files, std::string(file.path), std::string(file.content));
  }
  put_source(files, std::string(kRecipePath), write_build_recipe(recipe));
  return files;
}

void put_source(std::vector<JobSourceFile>& files, std::string path, std::string content) {
  const Digest digest = sha256(content);
  const auto place = std::ranges::lower_bound(files, path, {}, &JobSourceFile::path);
  JobSourceFile file{path, digest, std::move(content)};
  if (place != files.end() && place->path == path) {
    *place = std::move(file);
  } else {
    files.insert(place, std::move(file));
  }
}

}  // namespace kernelindex::tools
