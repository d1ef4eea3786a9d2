// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement_job.h"

#include <algorithm>
#include <set>

#include "schema/canonical_json.h"
#include "schema/checked_members.h"
#include "schema/json_reader.h"
#include "schema/manifest.h"
#include "schema/manifest_schema.h"

namespace kernelindex {
namespace {

using checked::bad_member;
using checked::WholeRow;
using schema::Node;
using schema::optional;
using schema::required;

constexpr std::array<std::string_view, 3> kBindings = {"torch", "ki-abi", "ki-kernel"};
constexpr std::array<std::string_view, 2> kClocks = {"unlocked", "locked"};
constexpr std::size_t kRecipeBytes = 256 * limits::kKiB;
constexpr std::size_t kLanguageBytes = 100;
constexpr std::size_t kSymbolBytes = 500;

constexpr WholeRow<JobLimits> kLimits[] = {
    {"buildSeconds", &JobLimits::build_seconds, 1, kJobSeconds},
    {"wallSeconds", &JobLimits::wall_seconds, 1, kJobSeconds},
    {"childSeconds", &JobLimits::child_seconds, 1, kJobSeconds},
    {"outputBytes", &JobLimits::output_bytes, 1, kDeviceBytes},
    {"vramBytes", &JobLimits::vram_bytes, 1, kDeviceBytes},
    {"pids", &JobLimits::pids, 1, kJobProcesses},
    {"logBytes", &JobLimits::log_bytes, 1, kJobLogBytes},
};

Node limits_shape() {
  Node node = schema::object({});
  checked::add_fields(node, kLimits);
  return node;
}

Node device_shape() {
  return schema::object({required("product", checked::line(kProductBytes)),
                         optional("architecture", schema::text(schema::kToken, kArchitectureBytes)),
                         optional("memoryBytes", checked::whole(1, kDeviceBytes)),
                         optional("migProfile", checked::line(kMigProfileBytes)),
                         required("count", checked::whole(1, kDevices))});
}

JobDevice read_device(const json::Value& value) {
  JobDevice device;
  device.product = checked::text_of(value, "product");
  device.architecture = checked::text_of(value, "architecture");
  device.memory_bytes = checked::optional_whole(value, "memoryBytes");
  device.mig_profile = checked::text_of(value, "migProfile");
  device.count = checked::whole_of(value, "count");
  return device;
}

json::Value write_device(const JobDevice& device, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("product", device.product)
      .add_if(!device.architecture.empty(), "architecture", device.architecture);
  if (device.memory_bytes) out.add("memoryBytes", checked::number(*device.memory_bytes));
  out.add_if(!device.mig_profile.empty(), "migProfile", device.mig_profile)
      .add("count", checked::number(device.count));
  return out.finish();
}

// ---- The recipe ----

Node flags_shape() { return schema::list(checked::line(kRecipeFlagBytes), 0, kRecipeFlags); }

std::optional<std::vector<std::string>> read_flags(const json::Value& options,
                                                   std::string_view name) {
  if (options.find(name) == nullptr) return std::nullopt;
  return checked::texts_of(options, name);
}

json::Value write_options(const BuildRecipe::CompileOptions& options, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  if (options.cflags) out.add("cflags", checked::texts(*options.cflags, arena));
  if (options.cuda_cflags) out.add("cudaCflags", checked::texts(*options.cuda_cflags, arena));
  if (options.ld_flags) out.add("ldFlags", checked::texts(*options.ld_flags, arena));
  return out.finish();
}

// ---- What the job carries ----

Result<JobManifest> read_carried(const json::Value& value, ManifestKind kind, json::Arena& arena,
                                 const std::string& place) {
  Result<Manifest> manifest = make_manifest(value, arena);
  if (!manifest) return fail_in(place, manifest.error());
  if (manifest->kind != kind) {
    return fail(ErrorKind::invalid, "WRONG_MANIFEST", place,
                "this must be a manifest of the kind " + std::string(kind_name(kind)));
  }
  return JobManifest{manifest->identity, std::move(manifest->name), std::move(manifest->bytes)};
}

Result<Digest> operation_of(const JobManifest& workload) {
  const Result<Manifest> manifest = read_manifest(workload.text);
  if (!manifest) return fail(manifest.error());
  return std::get<WorkloadFacts>(manifest->facts).operation;
}

Status read_manifests(const json::Value& value, JobDocument& job, json::Arena& arena) {
  Result<JobManifest> operation =
      read_carried(*value.find("operation"), ManifestKind::operation_spec, arena, "operation");
  if (!operation) return fail(operation.error());
  job.operation = std::move(*operation);
  for (const json::Value& item : checked::items_of(value, "workloads")) {
    const std::string place = "workloads[" + std::to_string(job.workloads.size()) + "]";
    Result<JobManifest> workload = read_carried(item, ManifestKind::workload_case, arena, place);
    if (!workload) return fail(workload.error());
    const Result<Digest> about = operation_of(*workload);
    if (!about || *about != job.operation.digest) {
      return fail(ErrorKind::invalid, "WRONG_MANIFEST", place,
                  "this workload is of another operation than the job's");
    }
    if (!job.workloads.empty() && job.workloads.back().digest >= workload->digest) {
      return fail(bad_member("workloads", "the list must be sorted by identity, none twice"));
    }
    job.workloads.push_back(std::move(*workload));
  }
  return {};
}

// A file cannot lie inside another file.
bool lies_in_another(const std::vector<JobSourceFile>& sources) {
  std::set<std::string_view> folders;
  for (const JobSourceFile& source : sources) {
    const std::string_view path = source.path;
    for (std::size_t i = path.find('/'); i != std::string_view::npos; i = path.find('/', i + 1)) {
      folders.insert(path.substr(0, i));
    }
  }
  return std::ranges::any_of(
      sources, [&](const JobSourceFile& source) { return folders.contains(source.path); });
}

Status read_sources(const json::Value& value, JobDocument& job) {
  std::size_t bytes = 0;
  for (const json::Value& item : checked::items_of(value, "sources")) {
    const std::string place = "sources[" + std::to_string(job.sources.size()) + "]";
    JobSourceFile source{checked::text_of(item, "path"), checked::digest_of(item, "digest"), {}};
    std::optional<std::string> content = from_base64(item.text("content"));
    if (!content) {
      return fail(bad_member(place + ".content", "this must be standard base64 with padding"));
    }
    source.content = std::move(*content);
    bytes += source.content.size();
    if (sha256(source.content) != source.digest) {
      return fail(ErrorKind::invalid, "DIGEST_MISMATCH", place,
                  "the bytes of this file are not those that the job names");
    }
    if (!job.sources.empty() && job.sources.back().path >= source.path) {
      return fail(bad_member("sources", "the list must be sorted by path, none twice"));
    }
    job.sources.push_back(std::move(source));
  }
  if (bytes > kJobSourceBytes) {
    return fail(bad_member("sources", "all files together have more than " +
                                          std::to_string(kJobSourceBytes) + " bytes"));
  }
  if (lies_in_another(job.sources)) {
    return fail(bad_member("sources", "one path is a file and the folder of another file"));
  }
  return {};
}

Status read_recipe_of(JobDocument& job) {
  const auto named = [&](std::string_view path) {
    return std::ranges::find(job.sources, path, &JobSourceFile::path);
  };
  const auto file = named(kRecipePath);
  if (file == job.sources.end()) {
    return fail(ErrorKind::invalid, "NO_RECIPE", "sources",
                "no file " + std::string(kRecipePath) + " says how to build the others");
  }
  Result<BuildRecipe> recipe = read_build_recipe(file->content);
  if (!recipe) return fail_in(std::string(kRecipePath), recipe.error());
  job.recipe = std::move(*recipe);
  if (job.recipe.entry_path == kRecipePath || named(job.recipe.entry_path) == job.sources.end()) {
    return fail_in(std::string(kRecipePath),
                   bad_member("entry.path", "no such file is among the sources"));
  }
  return {};
}

}  // namespace

std::string_view binding_name(BuildRecipe::Binding binding) {
  return kBindings[static_cast<std::size_t>(binding)];
}

Node build_recipe_shape() {
  return schema::object({
      required("format", schema::one_of({kRecipeFormat})),
      required("binding", checked::one_of_words(kBindings)),
      required("language", schema::text(schema::kToken, kLanguageBytes)),
      required("entry", schema::object({required("path", schema::text(checked::kSourcePath)),
                                        optional("symbol", checked::line(kSymbolBytes))})),
      required("destinationPassing", schema::boolean()),
      optional("compileOptions", schema::object({optional("cflags", flags_shape()),
                                                 optional("cudaCflags", flags_shape()),
                                                 optional("ldFlags", flags_shape())})),
  });
}

Result<BuildRecipe> read_build_recipe(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value =
      checked::parse_document(text, kRecipeFormat, build_recipe_shape(), kRecipeBytes, arena);
  if (!value) return fail(value.error());
  BuildRecipe recipe;
  recipe.binding = checked::word_of<BuildRecipe::Binding>(*value, "binding", kBindings);
  recipe.language = checked::text_of(*value, "language");
  const json::Value& entry = *value->find("entry");
  recipe.entry_path = checked::text_of(entry, "path");
  recipe.entry_symbol = checked::text_of(entry, "symbol");
  recipe.destination_passing = checked::flag_of(*value, "destinationPassing");
  if (const json::Value* options = value->find("compileOptions")) {
    recipe.compile_options.emplace(BuildRecipe::CompileOptions{read_flags(*options, "cflags"),
                                                               read_flags(*options, "cudaCflags"),
                                                               read_flags(*options, "ldFlags")});
  }
  if (recipe.entry_symbol.empty() != (recipe.trust() == TrustMode::device_only)) {
    return fail(
        bad_member("entry.symbol", "a function is named unless the entry is a launch manifest"));
  }
  return recipe;
}

std::string write_build_recipe(const BuildRecipe& recipe) {
  json::Arena arena;
  json::ObjectBuilder entry(arena);
  entry.add("path", recipe.entry_path)
      .add_if(!recipe.entry_symbol.empty(), "symbol", recipe.entry_symbol);
  json::ObjectBuilder out(arena);
  out.add("format", kRecipeFormat)
      .add("binding", binding_name(recipe.binding))
      .add("language", recipe.language)
      .add("entry", entry.finish())
      .add("destinationPassing", json::Value(recipe.destination_passing));
  if (recipe.compile_options) {
    out.add("compileOptions", write_options(*recipe.compile_options, arena));
  }
  return json::canonical(out.finish());
}

Node job_document_shape() {
  const Node source =
      schema::object({required("path", schema::text(checked::kSourcePath)),
                      required("digest", checked::digest()), required("content", schema::text())});
  return schema::object({
      required("format", schema::one_of({kJobFormat})),
      required("ledger", checked::digest()),
      required("job", checked::digest()),
      required("seen", schema::object({required("size", checked::whole(1)),
                                       required("root", checked::digest())})),
      required("run", checked::digest()),
      required("implementation", checked::digest()),
      required("runner", schema::text(schema::kHex64)),
      required("protocol", checked::digest()),
      required("harness", checked::digest()),
      required("clocks", checked::one_of_words(kClocks)),
      required("nonce", schema::text(checked::kBytes32)),
      required("expiresAt", schema::text(checked::kMicros)),
      required("sourceReviewed", schema::boolean()),
      required("device", device_shape()),
      required("limits", limits_shape()),
      required("operation", schema::document_schema(ManifestKind::operation_spec)),
      required("workloads", schema::list(schema::document_schema(ManifestKind::workload_case), 1,
                                         kJobWorkloads)),
      required("sources", schema::list(source, 1, kJobSources)),
  });
}

Result<JobDocument> read_job_document(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value =
      checked::parse_document(text, kJobFormat, job_document_shape(), kJobDocumentBytes, arena);
  if (!value) return fail(value.error());
  JobDocument job;
  job.ledger = checked::digest_of(*value, "ledger");
  job.job = checked::digest_of(*value, "job");
  const json::Value& seen = *value->find("seen");
  job.seen_size = static_cast<std::uint64_t>(checked::whole_of(seen, "size"));
  job.seen_root = checked::digest_of(seen, "root");
  job.run = checked::digest_of(*value, "run");
  job.implementation = checked::digest_of(*value, "implementation");
  job.runner = checked::hex_digest_of(*value, "runner");
  job.protocol = checked::digest_of(*value, "protocol");
  job.harness = checked::digest_of(*value, "harness");
  job.clocks = checked::word_of<ClockVariant>(*value, "clocks", kClocks);
  job.nonce = checked::bytes32_of(*value, "nonce");
  job.expires_at = checked::micros_of(*value, "expiresAt");
  job.source_reviewed = checked::flag_of(*value, "sourceReviewed");
  job.device = read_device(*value->find("device"));
  checked::read_rows(*value->find("limits"), kLimits, job.limits);
  if (Status ok = read_manifests(*value, job, arena); !ok) return fail(ok.error());
  if (Status ok = read_sources(*value, job); !ok) return fail(ok.error());
  if (Status ok = read_recipe_of(job); !ok) return fail(ok.error());
  return job;
}

Result<std::string> write_job_document(const JobDocument& job) {
  json::Arena arena;
  const auto carried = [&](const JobManifest& manifest) {
    return json::parse(manifest.text, arena);
  };
  const Result<json::Value> operation = carried(job.operation);
  if (!operation) return fail_in("operation", operation.error());
  std::vector<json::Value> workloads;
  for (const JobManifest& workload : job.workloads) {
    const Result<json::Value> value = carried(workload);
    if (!value) return fail_in("workloads", value.error());
    workloads.push_back(*value);
  }
  std::vector<json::Value> sources;
  for (const JobSourceFile& source : job.sources) {
    sources.push_back(json::ObjectBuilder(arena)
                          .add("path", source.path)
                          .add("digest", source.digest.text())
                          .add("content", to_base64(source.content))
                          .finish());
  }
  json::ObjectBuilder caps(arena);
  checked::write_rows(job.limits, kLimits, caps);
  const json::Value value =
      json::ObjectBuilder(arena)
          .add("format", kJobFormat)
          .add("ledger", job.ledger.text())
          .add("job", job.job.text())
          .add("seen", json::ObjectBuilder(arena)
                           .add("size", checked::number(static_cast<std::int64_t>(job.seen_size)))
                           .add("root", job.seen_root.text())
                           .finish())
          .add("run", job.run.text())
          .add("implementation", job.implementation.text())
          .add("runner", job.runner.hex())
          .add("protocol", job.protocol.text())
          .add("harness", job.harness.text())
          .add("clocks", clock_variant_name(job.clocks))
          .add("nonce", checked::base64(job.nonce))
          .add("expiresAt", format_utc_micros(job.expires_at))
          .add("sourceReviewed", json::Value(job.source_reviewed))
          .add("device", write_device(job.device, arena))
          .add("limits", caps.finish())
          .add("operation", *operation)
          .add("workloads", arena.array(workloads))
          .add("sources", arena.array(sources))
          .finish();
  std::string text = json::canonical(value);
  if (const auto read = read_job_document(text); !read) return fail(read.error());
  return text;
}

}  // namespace kernelindex
