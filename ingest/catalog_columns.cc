// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_columns.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <ranges>
#include <set>
#include <utility>

#include "ingest/mlperf_result.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Member;
using json::Value;

constexpr std::string_view kDot = " \xC2\xB7 ";

// Strides as C lays a tensor out; without strides it is contiguous.
std::string layout_key(const Value& tensor) {
  const Value* strides = tensor.find("strides");
  const Value* shape = tensor.find("shape");
  if (strides == nullptr || !strides->is_array()) return "contiguous";
  if (shape == nullptr || shape->array().size() != strides->array().size()) return "strided";
  double expected = 1;
  for (std::size_t i = strides->array().size(); i-- > 0;) {
    const Value& stride = strides->array()[i];
    const Value& size = shape->array()[i];
    if (!stride.is_number() || stride.number() != expected) return "strided";
    expected *= size.number();
  }
  return "row_major";
}

std::string shape_text(const Value& tensor) {
  std::string text = "[";
  if (const Value* shape = tensor.find("shape")) {
    for (const Value& size : shape->array()) {
      if (text.size() > 1) text += ", ";
      json::append_canonical(size, text);
    }
  }
  return text + "]";
}

// SPDX expressions by their form alone: identifiers between AND, OR and WITH, in any brackets.
bool has_form_of_license(std::string_view text) {
  constexpr std::string_view kOperators[] = {"AND", "OR", "WITH"};
  bool after_identifier = false;
  for (const auto part : std::views::split(text, ' ')) {
    std::string_view word(part.begin(), part.end());
    while (word.starts_with('(')) word.remove_prefix(1);
    while (word.ends_with(')')) word.remove_suffix(1);
    const bool is_operator = std::ranges::find(kOperators, word) != std::end(kOperators);
    const bool is_identifier = !word.empty() && std::ranges::all_of(word, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '.' || c == '+' || c == ':';
    });
    if (!is_identifier || is_operator != after_identifier) return false;
    after_identifier = !is_operator;
  }
  return after_identifier;
}

std::vector<std::string> sorted(const std::set<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

// The integer that a version text begins with: 13 of "13.0".
std::optional<double> major_version(const std::optional<std::string>& version) {
  int major = 0;
  if (!version) return std::nullopt;
  const auto read = std::from_chars(version->data(), version->data() + version->size(), major);
  return read.ec == std::errc() && major >= 0 ? std::optional<double>(major) : std::nullopt;
}

}  // namespace

std::optional<std::string> text_member(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->string());
}

std::optional<double> number_member(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->number();
}

std::string first_tensor_name(const Value& operation) {
  for (const Value& input : operation.find({"spec", "inputs"})->array()) {
    if (input.find("tensor") != nullptr) return std::string(input.text("name"));
  }
  return {};
}

TensorColumns tensor_columns(const Value& workload_spec) {
  TensorColumns columns;
  std::set<std::string> dtypes;
  std::set<std::string> layouts;
  const Value* tensors = workload_spec.find("tensors");
  if (tensors != nullptr && tensors->is_object()) {
    for (const Member& tensor : tensors->object()) {
      dtypes.emplace(tensor.value.text("dtype"));
      layouts.insert(layout_key(tensor.value));
      columns.shapes += tensor.name;
      columns.shapes += '\n';
      columns.shapes += shape_text(tensor.value) + '\n';
    }
  }
  columns.dtypes = sorted(dtypes);
  columns.layouts = sorted(layouts);
  return columns;
}

std::string shape_of(std::string_view shapes, std::string_view name) {
  while (!shapes.empty()) {
    const std::size_t name_end = shapes.find('\n');
    const std::size_t shape_end = shapes.find('\n', name_end + 1);
    if (shapes.substr(0, name_end) == name) {
      return std::string(shapes.substr(name_end + 1, shape_end - name_end - 1));
    }
    shapes.remove_prefix(shape_end + 1);
  }
  return "[]";
}

std::string suite_summary(const WorkloadFacts& suite) {
  return "suite of " + std::to_string(suite.suite_cases) + " cases";
}

ImplementationColumns implementation_columns(const ImplementationFacts& facts, const Value& spec) {
  ImplementationColumns columns;
  if (!facts.revision.empty()) columns.revision = facts.revision;
  columns.framework = text_member(*spec.find("callable"), "interface");
  std::set<std::string> architectures;
  for (const Value& name : spec.find({"support", "hardwareArchitectures"})->array()) {
    architectures.emplace(name.string());
  }
  columns.architectures = sorted(architectures);
  columns.source_available =
      spec.find("source") != nullptr || spec.find({"projectRevision", "repository"}) != nullptr;
  const Value* variants = spec.find("buildVariants");
  columns.installable = variants != nullptr && !variants->array().empty();
  if (columns.installable) {
    const Value& install = *variants->array()[0].find("install");
    columns.install_kind = text_member(install, "kind");
    columns.install_command = text_member(install, "command");
  }
  const Value& licensing = *spec.find("licensing");
  columns.license_declared = text_member(licensing, "declared");
  columns.license = text_member(licensing, "concluded");
  if (!columns.license) columns.license = columns.license_declared;
  if (columns.license && !has_form_of_license(*columns.license)) columns.license.reset();
  return columns;
}

EnvironmentColumns environment_columns(const Value& environment, const Value& protocol) {
  const Value empty;
  const Value* found = environment.find({"spec", "software"});
  const Value& software = found == nullptr ? empty : *found;
  const Value* hardware = environment.find({"spec", "hardware"});
  EnvironmentColumns columns;
  columns.vendor = hardware->text("vendor");
  columns.product = hardware->text("product");
  columns.architecture = hardware->text("architecture");
  columns.driver_major = major_version(text_member(software, "driver"));
  const std::optional<std::string> cuda = text_member(software, "cudaToolkit");
  columns.cuda_major = major_version(cuda);
  if (cuda) columns.summary += "CUDA " + *cuda + std::string(kDot);
  if (const Value* framework = software.find("framework")) {
    columns.summary += framework->text("name");
    columns.summary += ' ';
    columns.summary += framework->text("version");
    columns.summary += kDot;
  }
  columns.summary += protocol.find({"spec", "harness"})->text("name");
  return columns;
}

PrimaryColumns primary_columns(const BenchmarkRunFacts& run) {
  PrimaryColumns columns;
  columns.metric = "none";
  if (!run.primary) return columns;
  columns.metric = run.primary->metric;
  columns.statistic = run.primary->statistic;
  columns.unit = run.primary->unit;
  columns.value = run.primary->value;
  if (run.primary->sample_count) {
    columns.sample_count = static_cast<double>(*run.primary->sample_count);
  }
  return columns;
}

bool has_raw_evidence(const BenchmarkRunFacts& run) {
  return !run.raw_samples.empty() || !run.logs.empty();
}

std::string configuration_summary(const Value& configuration, const Value& stack) {
  const Value* system = configuration.find({"spec", "options", "system"});
  std::string_view project = stack.find({"spec", "project"})->text("name");
  if (system != nullptr && project.ends_with(kMlperfSubmitter)) {
    project.remove_suffix(kMlperfSubmitter.size());
    return std::string(project) + std::string(kDot) + std::string(system->string());
  }
  const Value& metadata = *configuration.find("metadata");
  const std::string_view title = metadata.text("title");
  return std::string(title.empty() ? metadata.text("name") : title);
}

TopologyColumns topology_columns(const Value& serving_run_spec) {
  const Value& topology = *serving_run_spec.find("topology");
  return {text_member(topology, "acceleratorVendor"),
          number_member(topology, "acceleratorsPerNode").value_or(0),
          number_member(topology, "nodeCount").value_or(0)};
}

std::vector<CatalogMeasurement> listed_measurements(const Value& spec) {
  std::vector<CatalogMeasurement> out;
  const Value* list = spec.find("measurements");
  if (list == nullptr || !list->is_array()) return out;
  for (const Value& item : list->array()) {
    CatalogMeasurement measurement;
    measurement.metric = item.text("metric");
    measurement.statistic = item.text("statistic");
    measurement.unit = item.text("unit");
    measurement.value = number_member(item, "value").value_or(0);
    measurement.sample_count = number_member(item, "sampleCount");
    out.push_back(std::move(measurement));
  }
  return out;
}

std::vector<CatalogMeasurement> run_measurements(const Value& spec) {
  constexpr std::pair<std::string_view, std::string_view> kStatistics[] = {
      {"median", "median"}, {"mean", "mean"},   {"p05", "p05"}, {"p95", "p95"},
      {"minimum", "min"},   {"maximum", "max"}, {"mad", "mad"}};
  std::vector<CatalogMeasurement> out;
  if (const Value* latency = spec.find({"timing", "latencyNs"})) {
    const std::optional<double> samples = number_member(*spec.find("timing"), "samples");
    for (const auto& [member, statistic] : kStatistics) {
      const std::optional<double> value = number_member(*latency, member);
      if (value) out.push_back({"latency", std::string(statistic), "ns", *value, samples});
    }
  }
  std::vector<CatalogMeasurement> listed = listed_measurements(spec);
  out.insert(out.end(), std::make_move_iterator(listed.begin()),
             std::make_move_iterator(listed.end()));
  return out;
}

}  // namespace kernelindex::ingest
