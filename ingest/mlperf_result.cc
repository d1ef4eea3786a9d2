// SPDX-License-Identifier: Apache-2.0
#include "ingest/mlperf_result.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

#include "ingest/curated_tables.h"
#include "ingest/kebab.h"
#include "ingest/lower_case.h"
#include "ingest/manifest_document.h"
#include "ingest/text_cut.h"
#include "schema/grammar.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "mlperf-inference";
constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::string_view kRulesUrl =
    "https://github.com/mlcommons/inference_policies/blob/master/inference_rules.adoc";
constexpr std::string_view kHomepage = "https://mlcommons.org/benchmarks/inference-datacenter/";
constexpr std::string_view kOffline = "Offline";
constexpr std::size_t kVersionUnits = 120;
constexpr std::size_t kOptionUnits = 500;

const Value* model_entry(std::string_view model) {
  return mlperf_models_table().find({"models", model});
}

// Lower case, runs of other characters one underscore, none of them, and no digit, at the front.
std::string token_of_name(std::string_view name) {
  std::string out;
  bool gap = false;
  for (const char c : lower_case(name)) {
    const bool letter = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit) {
      gap = true;
      continue;
    }
    if (out.empty() && !letter) continue;
    if (gap && !out.empty()) out += '_';
    gap = false;
    out += c;
  }
  return out.empty() ? "unknown" : out;
}

// "llama2-70b" of "llama2-70b-99.9"
std::string_view without_quality(std::string_view model) {
  for (const std::string_view suffix : {"-99.9", "-99"}) {
    if (model.ends_with(suffix)) return model.substr(0, model.size() - suffix.size());
  }
  return model;
}

// Without one trailing "(x16)".
std::string_view accelerator_model(std::string_view accelerator) {
  std::string_view text = accelerator;
  if (text.ends_with(')')) {
    const std::size_t open = text.rfind("(x");
    const std::string_view digits =
        open == std::string_view::npos ? "" : text.substr(open + 2, text.size() - open - 3);
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!digits.empty() && std::ranges::all_of(digits, is_digit)) text = text.substr(0, open);
  }
  return schema::trimmed(text);
}

std::string vendor_of(std::string_view accelerator) {
  constexpr std::array<std::string_view, 5> kVendors = {"nvidia", "amd", "intel", "google",
                                                        "cerebras"};
  const std::string_view text = schema::trimmed(accelerator);
  std::string first = lower_case(text.substr(0, text.find_first_of(" \t")));
  return std::ranges::find(kVendors, first) == kVendors.end() ? std::string() : first;
}

Value source_refs(std::string_view url, Arena& arena) {
  return arena.array({ObjectBuilder(arena).add("url", url).finish()});
}

Result<Manifest> make_model(const MlperfManifests& parts, const std::string& name, Arena& arena) {
  ObjectBuilder metadata(arena);
  metadata.add("name", parts.model_slug).add("title", name);
  metadata.add("sourceRefs", source_refs(kRulesUrl, arena));
  const Value spec = ObjectBuilder(arena).add("model", name).finish();
  return make_manifest(
      manifest_document(ManifestKind::model_revision, metadata.finish(), spec, arena), arena);
}

Result<Manifest> make_project(const MlperfManifests& parts, const std::string& name, Arena& arena) {
  ObjectBuilder spec(arena);
  spec.add("name", name).add("kind", "vendor").add("repository", kHomepage);
  return make_manifest(
      manifest_document(ManifestKind::software_project, named(parts.project_slug, {}, arena),
                        spec.finish(), arena),
      arena);
}

Result<Manifest> make_stack(const MlperfResult& result, const MlperfManifests& parts,
                            const std::string& project, Arena& arena) {
  const std::string_view version = first_utf16(schema::trimmed(result.software), kVersionUnits);
  ObjectBuilder spec(arena);
  spec.add("project", ObjectBuilder(arena).add("name", project).finish());
  spec.add("revision", ObjectBuilder(arena).add("version", version).finish());
  spec.add("apiProtocol", "loadgen_sut");
  return make_manifest(manifest_document(ManifestKind::serving_stack_revision,
                                         named(parts.stack_slug, {}, arena), spec.finish(), arena),
                       arena);
}

Result<Manifest> make_configuration(const MlperfResult& result, const MlperfManifests& parts,
                                    Arena& arena) {
  ObjectBuilder options(arena);
  options.add("system", first_utf16(result.system, kOptionUnits));
  options.add("software", first_utf16(result.software, kOptionUnits));
  options.add("availability", first_utf16(result.availability, kOptionUnits));
  const std::string_view notes = result.notes.value_or(std::string_view());
  options.add_if(!notes.empty(), "notes", first_utf16(notes, kOptionUnits));
  ObjectBuilder spec(arena);
  spec.add("stackDigest", parts.stack.identity.text());
  const std::string_view dtypes = result.weight_data_types.value_or(std::string_view());
  if (!dtypes.empty()) spec.add("dtype", token_of_name(dtypes));
  spec.add("options", options.finish());
  const std::string name =
      kebab("mlperf-" + std::string(result.submitter) + "-" + std::string(result.system));
  return make_manifest(manifest_document(ManifestKind::serving_configuration,
                                         named(name, {}, arena), spec.finish(), arena),
                       arena);
}

Value limits_value(const Value& limits, Arena& arena) {
  std::vector<Value> out;
  for (const std::string_view metric : {"ttft_ms", "tpot_ms"}) {
    out.push_back(ObjectBuilder(arena)
                      .add("metric", metric)
                      .add("statistic", "p99")
                      .add("operator", "<=")
                      .add("value", *limits.find(metric))
                      .add("unit", "ms")
                      .finish());
  }
  return arena.array(out);
}

Result<Manifest> make_workload(const MlperfResult& result, const Value& model,
                               MlperfManifests& parts, Arena& arena) {
  const bool offline = result.scenario == kOffline;
  ObjectBuilder spec(arena);
  spec.add("dataset", ObjectBuilder(arena).add("name", model.text("dataset")).finish());
  spec.add("streaming", Value(!offline));
  spec.add("loadGeneration", offline ? "offline" : "open_loop");
  spec.add_if(!offline, "arrival", "poisson");
  const Value* limits = model.find({"slo", result.scenario});
  parts.has_limits = limits != nullptr || offline;
  if (limits != nullptr) spec.add("slo", limits_value(*limits, arena));
  ObjectBuilder metadata(arena);
  metadata.add("name", parts.workload_slug);
  metadata.add("title", title_cut(std::string(result.model) + std::string(kDot) +
                                  std::string(result.scenario)));
  metadata.add("sourceRefs", source_refs(kRulesUrl, arena));
  return make_manifest(
      manifest_document(ManifestKind::serving_workload, metadata.finish(), spec.finish(), arena),
      arena);
}

Value topology_value(const MlperfResult& result, Arena& arena) {
  ObjectBuilder out(arena);
  const std::string vendor = vendor_of(result.accelerator);
  out.add_if(!vendor.empty(), "acceleratorVendor", vendor);
  out.add("acceleratorModel", accelerator_model(result.accelerator));
  out.add("acceleratorsPerNode", Value(result.accelerators)).add("nodeCount", Value(result.nodes));
  return out.finish();
}

Value native_value(const MlperfResult& result, Arena& arena) {
  ObjectBuilder metrics(arena);
  metrics.add("performance_result", Value(result.performance));
  metrics.add("performance_units", result.units);
  ObjectBuilder out(arena);
  out.add("source", kSource).add("benchmark", result.model);
  out.add("scenario", token_of_name(result.scenario)).add("division", "closed");
  out.add("category", "datacenter");
  out.add("externalId", std::string(result.round) + "/" + std::string(result.id));
  out.add("metrics", metrics.finish());
  return out.finish();
}

Result<Manifest> make_run(const MlperfResult& result, const Value& model,
                          std::string_view published, const MlperfManifests& parts, Arena& arena) {
  ObjectBuilder measurement(arena);
  measurement.add("metric", "output_token_throughput_tps").add("unit", "tokens_s");
  measurement.add("statistic", "reported").add("value", Value(result.performance));
  ObjectBuilder spec(arena);
  spec.add("modelDigest", parts.model.identity.text());
  spec.add("configurationDigest", parts.configuration.identity.text());
  spec.add("workloadDigest", parts.workload.identity.text());
  spec.add("topology", topology_value(result, arena));
  spec.add(
      "harness",
      ObjectBuilder(arena).add("name", "mlperf_loadgen").add("version", result.round).finish());
  spec.add("qualityPolicy", token_of_name(model.text("quality"))).add("status", "valid");
  spec.add("measurements", arena.array({measurement.finish()}));
  spec.add("sourceNative", native_value(result, arena));
  if (result.availability != "available") {
    const std::string caveat = "Availability: " + std::string(result.availability);
    spec.add("caveats", text_list({caveat}, arena));
  }
  spec.add("observedAt", published);
  ObjectBuilder metadata(arena);
  metadata.add("name", kebab("mlperf-" + std::string(result.round) + "-" + std::string(result.id)));
  metadata.add("title", title_cut(std::string(result.submitter) + std::string(kDot) +
                                  std::string(result.model) + std::string(kDot) +
                                  std::string(result.scenario)));
  if (result.details && result.details->starts_with("https://")) {
    metadata.add("sourceRefs", source_refs(*result.details, arena));
  }
  return make_manifest(
      manifest_document(ManifestKind::serving_run, metadata.finish(), spec.finish(), arena), arena);
}

bool is_empty_text(const Value* value) {
  return value != nullptr && value->is_string() && value->string().empty();
}

}  // namespace

std::string_view mlperf_skip_reason(const Value& item) {
  if (item.text("Category") != "closed") return "open_or_network_division";
  if (item.text("Suite") != "datacenter") return "non_datacenter_suite";
  if (model_entry(item.text("Model")) == nullptr) return "non_llm_benchmark";
  if (item.text("Performance_Units") != "Tokens/s") return "non_token_throughput_units";
  if (is_empty_text(item.find("Accelerator")) || is_empty_text(item.find("a#"))) {
    return "no_accelerator";
  }
  return {};
}

Result<MlperfResult> read_mlperf_result(const Value& item, DriftLog& drift) {
  ItemReader reader(item, {});
  MlperfResult out;
  out.id = reader.text("ID");
  out.submitter = reader.text("Submitter");
  out.availability = reader.text("Availability");
  reader.text("Category");
  reader.text("Suite");
  out.system = reader.text("System");
  out.model = reader.text("Model");
  out.scenario = reader.text("Scenario");
  out.accelerator = reader.text("Accelerator");
  out.software = reader.text("Software");
  out.units = reader.text("Performance_Units");
  out.round = reader.text("version");
  out.nodes = reader.integer("Nodes");
  out.accelerators = reader.integer("a#");
  out.performance = reader.optional_number("Performance_Result").value_or(0);
  if (out.nodes < 1) reader.refuse("Nodes", "an integer above 0");
  if (out.accelerators < 1) reader.refuse("a#", "an integer above 0");
  if (out.performance <= 0) reader.refuse("Performance_Result", "a number above 0");
  out.weight_data_types = reader.optional_text("weight_data_types");
  out.notes = reader.optional_text("Notes");
  out.details = reader.optional_text("Details");
  reader.ignore({"Platform", "UsedModel", "Accuracy", "Processor", "host_processors_per_node",
                 "host_processor_core_count", "Location", "operating_system", "compliance",
                 "errors", "inferred", "has_power", "p#", "Code", "Unique ID (e.g. for Audit)",
                 "ColorKey", "Power_Result", "Power_Units", "Total Accelerators"});
  reader.report_unknown("result", drift);
  if (reader.fault()) return fail(*reader.fault());
  return out;
}

Result<MlperfManifests> make_mlperf_result(const MlperfResult& result, Arena& arena) {
  const Value* model = model_entry(result.model);
  assert(model != nullptr);
  const Value* published = mlperf_models_table().find({"rounds", result.round});
  if (published == nullptr) {
    return fail(ErrorKind::invalid, "UNKNOWN_ROUND", "version",
                "when the round \"" + std::string(first_utf16(result.round, 100)) +
                    "\" was published is not known to this program");
  }
  const std::string submitter = std::string(result.submitter) + std::string(kMlperfSubmitter);
  MlperfManifests out;
  out.model_slug = "mlperf-" + kebab(without_quality(result.model));
  out.project_slug = "mlperf-" + kebab(result.submitter);
  out.stack_slug =
      kebab("mlperf-stack-" + std::string(result.submitter) + "-" + std::string(result.software));
  out.workload_slug =
      kebab("mlperf-" + std::string(result.model) + "-" + std::string(result.scenario));
  out.external_id = std::string(result.round) + "/" + std::string(result.id) + "/" +
                    std::string(result.model) + "/" + std::string(result.scenario);
  const auto keep = [](std::string_view part, Result<Manifest> made, Manifest& place) -> Status {
    if (!made) return fail_in(std::string(part), std::move(made.error()));
    place = std::move(*made);
    return {};
  };
  const std::string name = std::string(model->text("name")) + " (MLPerf reference)";
  if (Status made = keep("model", make_model(out, name, arena), out.model); !made)
    return fail(made.error());
  if (Status made = keep("project", make_project(out, submitter, arena), out.project); !made) {
    return fail(made.error());
  }
  if (Status made = keep("stack", make_stack(result, out, submitter, arena), out.stack); !made) {
    return fail(made.error());
  }
  if (Status made =
          keep("configuration", make_configuration(result, out, arena), out.configuration);
      !made) {
    return fail(made.error());
  }
  if (Status made = keep("workload", make_workload(result, *model, out, arena), out.workload);
      !made) {
    return fail(made.error());
  }
  if (Status made = keep("run", make_run(result, *model, published->string(), out, arena), out.run);
      !made) {
    return fail(made.error());
  }
  return out;
}

}  // namespace kernelindex::ingest
