// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_local.h"

#include <utility>

#include "ingest/kebab.h"
#include "ingest/manifest_document.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"
#include "ingest/trace_dialect.h"
#include "ingest/trace_import.h"
#include "ingest/trace_manifests.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "sol-execbench";
constexpr std::string_view kRepository = "https://github.com/nvidia/sol-execbench";
// Of local definitions too: digests leave it out, and documents of either way are the same.
constexpr std::string_view kOperationUrl =
    "https://research.nvidia.com/benchmarks/sol-execbench/api/kernels";
constexpr std::string_view kLicense = "Apache-2.0";

class SolDialect final : public TraceDialect {
 public:
  explicit SolDialect(std::string commit) : commit_(std::move(commit)) {}

  std::string_view source() const override { return kSource; }
  std::string operation_url() const override { return std::string(kOperationUrl); }

  Result<Manifest> protocol(Arena& arena) const override {
    return make_trace_protocol({"sol-execbench-trace", "SOL-ExecBench trace harness", kSource,
                                kRepository, "sol_execbench_eval", "sol_execbench_trace"},
                               arena);
  }

  Result<SolutionManifests> solution(const SolutionRecord& record, const std::string&,
                                     const KernelDefinition& kernel, const Digest& operation,
                                     Arena& arena) const override {
    if (commit_.empty()) return fail(no_pinned_commit("--commit"));
    const SolutionDocument& solution = record.solution;
    SolutionManifests out;
    out.project_slug = "nvidia-sol-execbench";
    out.slug = kebab("sol-example-" + std::string(solution.name));
    out.external_id = "solution/" + std::string(solution.name);
    out.hardware_listed = is_hardware_listed(solution);
    Result<Manifest> project = make_project(out.project_slug, arena);
    if (!project) return fail_in("project", std::move(project.error()));
    out.project = std::move(*project);
    Result<Manifest> made = make_implementation(record, kernel, operation, arena);
    if (!made) return fail_in("implementation", std::move(made.error()));
    out.implementation = std::move(*made);
    return out;
  }

 private:
  static Result<Manifest> make_project(const std::string& slug, Arena& arena) {
    ObjectBuilder spec(arena);
    spec.add("name", "NVIDIA SOL-ExecBench").add("kind", "library").add("repository", kRepository);
    spec.add("host",
             ObjectBuilder(arena).add("kind", "github").add("id", "nvidia/sol-execbench").finish());
    return make_manifest(manifest_document(ManifestKind::software_project, named(slug, {}, arena),
                                           spec.finish(), arena),
                         arena);
  }

  Result<Manifest> make_implementation(const SolutionRecord& record, const KernelDefinition& kernel,
                                       const Digest& operation, Arena& arena) const {
    const SolutionDocument& solution = record.solution;
    const std::string_view language =
        solution.languages.empty() ? std::string_view("unknown") : solution.languages.front();
    ObjectBuilder callable(arena);
    callable.add("language", language_token(language)).add("path", record.directory);
    if (solution.entry_point) callable.add("symbol", *solution.entry_point);
    callable.add_if(solution.binding == "torch", "interface", "pytorch");
    const Value revision =
        ObjectBuilder(arena).add("repository", kRepository).add("commit", commit_).finish();
    ObjectBuilder install(arena);
    install.add("kind", "git").add("repository", kRepository).add("commit", commit_);
    ObjectBuilder variant(arena);
    variant.add("name", "source").add("install", install.finish());
    ObjectBuilder licensing(arena);
    licensing.add("declared", kLicense).add("concluded", kLicense);
    licensing.add("evidence", ObjectBuilder(arena).add("path", "LICENSE").finish());
    ObjectBuilder spec(arena);
    spec.add("projectRevision", revision);
    spec.add("operation", ObjectBuilder(arena).add("specDigest", operation.text()).finish());
    spec.add("callable", callable.finish());
    spec.add("support", solution_support(solution, kernel, arena));
    spec.add("buildVariants", arena.array({variant.finish()}));
    spec.add("licensing", licensing.finish());

    ObjectBuilder metadata(arena);
    metadata.add("name", kebab(solution.name)).add("title", title_cut(solution.name));
    if (solution.description) metadata.add("description", *solution.description);
    if (!solution.author.empty()) {
      const Value author = ObjectBuilder(arena).add("name", solution.author).finish();
      metadata.add("authors", arena.array({author}));
    }
    return make_manifest(manifest_document(ManifestKind::implementation_revision, metadata.finish(),
                                           spec.finish(), arena),
                         arena);
  }

  std::string commit_;
};

}  // namespace

Status import_sol_local(std::span<const RecordedFile> files, const SolLocalOptions& options,
                        DraftSink& sink) {
  if (!options.commit.empty() && !is_commit(options.commit)) {
    return fail(ErrorKind::usage, "BAD_OPTIONS", options.commit,
                "a commit is 40 lower-case hex digits");
  }
  return import_traces(files, SolDialect(options.commit), sink);
}

}  // namespace kernelindex::ingest
