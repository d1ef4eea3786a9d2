// SPDX-License-Identifier: Apache-2.0
#include "ingest/flashinfer_bench.h"

#include <utility>
#include <vector>

#include "ingest/file_subset.h"
#include "ingest/json_items.h"
#include "ingest/kebab.h"
#include "ingest/manifest_document.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"
#include "ingest/trace_dialect.h"
#include "ingest/trace_import.h"
#include "ingest/trace_manifests.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "flashinfer-bench";
constexpr std::string_view kDataSet =
    "https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace";
constexpr std::string_view kDataSetId = "flashinfer-ai/flashinfer-trace";
constexpr std::string_view kBaseline = "baseline";
constexpr std::string_view kLicense = "Apache-2.0";

// The path inside the data set, wherever its checkout lies.
std::string path_in_data_set(const std::string& locator) {
  constexpr std::string_view kFolder = "solutions/";
  if (locator.starts_with(kFolder)) return locator;
  const std::size_t at = locator.find("/" + std::string(kFolder));
  return at == std::string::npos ? locator : locator.substr(at + 1);
}

// "claude" of "solutions/claude/rmsnorm/…"; empty when the path is another.
std::string_view author_folder(std::string_view path) {
  constexpr std::string_view kFolder = "solutions/";
  if (!path.starts_with(kFolder)) return {};
  path.remove_prefix(kFolder.size());
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

class FlashinferDialect final : public TraceDialect {
 public:
  explicit FlashinferDialect(std::string revision) : revision_(std::move(revision)) {}

  std::string_view source() const override { return kSource; }

  std::string operation_url() const override { return blob_url("definitions"); }

  Result<Manifest> protocol(Arena& arena) const override {
    return make_trace_protocol({"flashinfer-bench-trace", "FlashInfer-Bench trace harness", kSource,
                                "https://github.com/flashinfer-ai/flashinfer-bench",
                                "flashinfer_bench_eval", "flashinfer_bench_trace"},
                               arena);
  }

  Result<SolutionManifests> solution(const SolutionRecord& record, const std::string& locator,
                                     const KernelDefinition& kernel, const Digest& operation,
                                     Arena& arena) const override {
    if (revision_.empty()) return fail(no_pinned_commit("--revision"));
    const SolutionDocument& solution = record.solution;
    const std::string author(solution.author.empty() ? "unknown" : solution.author);
    SolutionManifests out;
    out.project_slug = "flashinfer-" + kebab(author);
    out.slug = kebab("flashinfer-" + std::string(solution.name));
    out.external_id = path_in_data_set(locator);
    out.hardware_listed = is_hardware_listed(solution);
    Result<Manifest> project = make_project(author, out.project_slug, arena);
    if (!project) return fail_in("project", std::move(project.error()));
    out.project = std::move(*project);
    Result<Manifest> made =
        make_implementation(solution, out.external_id, kernel, operation, arena);
    if (!made) return fail_in("implementation", std::move(made.error()));
    out.implementation = std::move(*made);
    return out;
  }

 private:
  std::string blob_url(std::string_view path) const {
    const std::string revision = revision_.empty() ? "main" : revision_;
    return std::string(kDataSet) + "/blob/" + revision + "/" + std::string(path);
  }

  static Result<Manifest> make_project(const std::string& author, const std::string& slug,
                                       Arena& arena) {
    const bool baseline = author == kBaseline;
    ObjectBuilder spec(arena);
    spec.add("name", baseline ? std::string_view("FlashInfer-Bench baselines") : author);
    spec.add("kind", baseline ? "library" : "individual").add("repository", kDataSet);
    spec.add("host",
             ObjectBuilder(arena).add("kind", "huggingface").add("id", kDataSetId).finish());
    return make_manifest(manifest_document(ManifestKind::software_project, named(slug, {}, arena),
                                           spec.finish(), arena),
                         arena);
  }

  Result<Manifest> make_implementation(const SolutionDocument& solution, const std::string& path,
                                       const KernelDefinition& kernel, const Digest& operation,
                                       Arena& arena) const {
    const SolutionFile* primary = solution.primary();
    ObjectBuilder callable(arena);
    callable.add("language", language_token(solution.language.value_or("unknown")));
    if (primary != nullptr) callable.add("path", primary->path);
    callable.add_if(!solution.symbol().empty(), "symbol", solution.symbol());
    ObjectBuilder spec(arena);
    spec.add("projectRevision",
             ObjectBuilder(arena).add("repository", kDataSet).add("commit", revision_).finish());
    spec.add("operation", ObjectBuilder(arena).add("specDigest", operation.text()).finish());
    spec.add("callable", callable.finish());
    spec.add("support", solution_support(solution, kernel, arena));
    if (primary != nullptr && !primary->content.empty()) {
      ObjectBuilder source(arena);
      source.add("contentDigest", sha256(primary->content).text()).add("fileName", primary->path);
      source.add("sizeBytes", Value(static_cast<double>(primary->content.size())));
      spec.add("source", source.finish());
    }
    spec.add("licensing",
             ObjectBuilder(arena).add("declared", kLicense).add("concluded", kLicense).finish());
    return make_manifest(
        manifest_document(ManifestKind::implementation_revision, metadata_of(solution, path, arena),
                          spec.finish(), arena),
        arena);
  }

  Value metadata_of(const SolutionDocument& solution, const std::string& path, Arena& arena) const {
    ObjectBuilder metadata(arena);
    metadata.add("name", kebab(solution.name)).add("title", title_cut(solution.name));
    if (solution.description) metadata.add("description", *solution.description);
    if (!solution.author.empty()) {
      const Value author = ObjectBuilder(arena).add("name", solution.author).finish();
      metadata.add("authors", arena.array({author}));
    }
    metadata.add("sourceRefs",
                 arena.array({ObjectBuilder(arena).add("url", blob_url(path)).finish()}));
    // The data set's terms: what a model wrote is said to be so.
    const std::string_view folder = author_folder(path);
    if (!folder.empty() && folder != kBaseline) {
      metadata.add(
          "labels",
          ObjectBuilder(arena).add("role", "llm-generated").add("author", folder).finish());
    }
    return metadata.finish();
  }

  std::string revision_;
};

// The commit that the answer about a data set names.
Result<std::string> revision_of_info(std::string_view text) {
  Arena arena;
  const Result<Value> info = json::parse(text, arena, {limits::kSourceJsonBytes});
  if (!info) return fail(info.error());
  const std::string_view sha = info->text("sha");
  if (is_commit(sha)) return std::string(sha);
  return fail(ErrorKind::invalid, "BAD_REVISION", "/sha", "the data set's info names no commit");
}

}  // namespace

bool begins_data_set_info(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || beginning[start] != '{') return false;
  return beginning.find("\"sha\"") != beginning.npos &&
         beginning.find("\"siblings\"") != beginning.npos;
}

Status import_flashinfer_bench(std::span<const RecordedFile> files,
                               const FlashinferBenchOptions& options, DraftSink& sink) {
  if (!options.revision.empty() && !is_commit(options.revision)) {
    return fail(ErrorKind::usage, "BAD_OPTIONS", options.revision,
                "a revision is 40 lower-case hex digits");
  }
  std::string revision = options.revision;
  std::vector<std::size_t> tree;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const Result<std::string> beginning = read_beginning(files[file], kBeginningBytes);
    if (!beginning) return fail(beginning.error());
    if (!begins_data_set_info(*beginning)) {
      tree.push_back(file);
      continue;
    }
    const Result<std::string> text = read_whole(files[file]);
    if (!text) return fail(text.error());
    const Result<std::string> named = revision_of_info(*text);
    if (!named) {
      sink.finding({FindingClass::quarantined,
                    files[file].locator,
                    {},
                    named.error().code,
                    named.error().message});
    } else if (revision.empty()) {
      revision = *named;
    } else if (revision != *named) {
      sink.finding({FindingClass::review, files[file].locator, "/sha", "REVISION_DIFFERS",
                    "the data set is said to be at " + *named + "; taken was " + revision});
    }
  }
  const FlashinferDialect dialect(revision);
  if (tree.size() == files.size()) return import_traces(files, dialect, sink);
  FileSubset of_tree(tree, sink);
  return import_traces(of_tree.files_of(files), dialect, of_tree);
}

}  // namespace kernelindex::ingest
