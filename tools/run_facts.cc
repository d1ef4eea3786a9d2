// SPDX-License-Identifier: Apache-2.0
#include "tools/run_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "tools/display_text.h"
#include "tools/units.h"

namespace kernelindex::tools {
namespace {

const json::Value& spec_of(const json::Value& document) {
  static const json::Value null;
  const json::Value* spec = document.find("spec");
  return spec == nullptr ? null : *spec;
}

std::string text_at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* found = value.find(path);
  return found == nullptr ? std::string() : plain_text(*found);
}

void add(Facts& facts, std::string_view name, std::string value) {
  if (!value.empty()) facts.push_back({std::string(name), std::move(value)});
}

// Digests of manifests are links of their own on every page.
bool is_reference(std::string_view path) {
  return path.ends_with("Digest") && path.find('.') == std::string_view::npos;
}

bool left_out(std::string_view path, const std::vector<std::string_view>& paths) {
  return std::ranges::any_of(paths, [&](std::string_view out) {
    return path == out || (path.starts_with(out) && path[out.size()] == '.');
  });
}

bool is_plain(const json::Value& value) { return !value.is_array() && !value.is_object(); }

void flatten(const json::Value& value, const std::string& path,
             const std::vector<std::string_view>& without, Facts& facts) {
  if (!path.empty() && (left_out(path, without) || is_reference(path))) return;
  if (value.is_object()) {
    for (const json::Member& member : value.object()) {
      flatten(member.value,
              path.empty() ? std::string(member.name) : path + "." + std::string(member.name),
              without, facts);
    }
    return;
  }
  if (value.is_array()) {
    if (std::ranges::all_of(value.array(), is_plain)) {
      std::string text;
      for (const json::Value& item : value.array()) {
        text += (text.empty() ? "" : ", ") + plain_text(item);
      }
      add(facts, path, std::move(text));
      return;
    }
    std::size_t at = 0;
    for (const json::Value& item : value.array()) {
      flatten(item, path + "." + std::to_string(at++), without, facts);
    }
    return;
  }
  add(facts, path, plain_text(value));
}

void append(Facts& facts, Facts more) { std::ranges::move(more, std::back_inserter(facts)); }

std::string axes_text(const json::Value& axes) {
  std::string text;
  if (!axes.is_object()) return text;
  for (const json::Member& axis : axes.object()) {
    text += (text.empty() ? "" : ", ") + std::string(axis.name) + "=" + plain_text(axis.value);
  }
  return text;
}

// Metrics that repeat a measurement of the run in another unit.
constexpr std::array<std::string_view, 2> kRepeated = {"latency_ms", "latency_ns"};

std::string decimals(double value, int count) { return fmt::format("{:.{}f}", value, count); }

}  // namespace

Result<json::Value> Documents::read(const Digest& identity) {
  if (const auto found = known_.find(identity); found != known_.end()) return found->second;
  const Result<std::optional<SubjectRow>> row = reader_.subject(identity);
  if (!row) return fail(row.error());
  json::Value value;
  if (*row) {
    const Result<ShownManifest> shown = show_manifest(reader_, identity);
    if (!shown) return fail(shown.error());
    if (!shown->bytes.empty()) {
      const Result<json::Value> parsed = json::parse(arena_.copy(shown->bytes), arena_);
      if (!parsed) return fail_in(identity.text(), parsed.error());
      value = *parsed;
    }
  }
  known_.emplace(identity, value);
  return value;
}

std::string plain_text(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::string:
      return std::string(value.string());
    case json::Kind::boolean:
      return value.boolean() ? "yes" : "no";
    case json::Kind::null:
      return {};
    default:
      return json::canonical(value);
  }
}

Facts field_facts(const json::Value& document, const std::vector<std::string_view>& left_out) {
  Facts facts;
  const json::Value& spec = spec_of(document);
  if (spec.is_object()) flatten(spec, "", left_out, facts);
  return facts;
}

Facts protocol_facts(const json::Value& protocol) {
  const json::Value& spec = spec_of(protocol);
  Facts facts;
  std::string harness = text_at(spec, {"harness", "name"});
  if (const std::string version = text_at(spec, {"harness", "version"}); !version.empty()) {
    harness += " " + version;
  }
  add(facts, "harness", std::move(harness));
  add(facts, "timer", text_at(spec, {"measurement", "timer"}));
  add(facts, "primaryStatistic", text_at(spec, {"measurement", "primaryStatistic"}));
  add(facts, "correctnessReference", text_at(spec, {"correctness", "reference"}));
  add(facts, "comparabilityFamily", text_at(spec, {"comparability", "family"}));
  append(facts, field_facts(protocol, {"harness.name", "harness.version", "measurement.timer",
                                       "measurement.primaryStatistic", "correctness.reference",
                                       "comparability.family"}));
  return facts;
}

Facts environment_facts(const json::Value& environment) {
  const json::Value& spec = spec_of(environment);
  Facts facts;
  std::string gpu = text_at(spec, {"hardware", "product"});
  if (const std::string architecture = text_at(spec, {"hardware", "architecture"});
      !architecture.empty()) {
    gpu += " (" + architecture + ")";
  }
  add(facts, "gpu", std::move(gpu));
  append(facts, field_facts(environment, {"hardware.product", "hardware.architecture"}));
  return facts;
}

Facts workload_facts(const json::Value& workload) {
  const json::Value& spec = spec_of(workload);
  Facts facts;
  if (const json::Value* cases = spec.find("cases"); cases != nullptr && cases->is_array()) {
    add(facts, "cases", std::to_string(cases->array().size()));
    add(facts, "aggregation",
        text_at(spec, {"aggregation", "statistic"}) + " " +
            text_at(spec, {"aggregation", "metric"}));
  }
  const json::Value* tensors = spec.find("tensors");
  append(facts, field_facts(workload, {"cases", "aggregation", "correctness", "tensors"}));
  if (tensors != nullptr && tensors->is_object()) {
    for (const json::Member& tensor : tensors->object()) {
      std::string shape;
      if (const json::Value* sizes = tensor.value.find("shape"); sizes != nullptr) {
        for (const json::Value& size : sizes->array()) {
          shape += (shape.empty() ? "" : "×") + plain_text(size);
        }
      }
      add(facts, "tensors." + std::string(tensor.name),
          std::string(tensor.value.text("dtype")) + " " + shape);
      Facts rest;
      flatten(tensor.value, "tensors." + std::string(tensor.name),
              {"tensors." + std::string(tensor.name) + ".shape",
               "tensors." + std::string(tensor.name) + ".dtype"},
              rest);
      append(facts, std::move(rest));
    }
  }
  return facts;
}

Facts correctness_facts(const json::Value& workload) {
  const json::Value& spec = spec_of(workload);
  Facts facts;
  add(facts, "definition comparator", text_at(spec, {"correctness", "comparator"}));
  add(facts, "description", text_at(spec, {"correctness", "description"}));
  if (const json::Value* rule = spec.find("correctness"); rule != nullptr && rule->is_object()) {
    for (const json::Member& member : rule->object()) {
      if (member.name == "comparator" || member.name == "description") continue;
      add(facts, member.name, plain_text(member.value));
    }
  }
  return facts;
}

Facts implementation_facts(const json::Value& implementation) {
  const json::Value& spec = spec_of(implementation);
  Facts facts;
  add(facts, "language", text_at(spec, {"callable", "language"}));
  add(facts, "revision", text_at(spec, {"projectRevision", "version"}));
  append(facts, field_facts(implementation,
                            {"callable.language", "projectRevision.version", "operation"}));
  return facts;
}

Facts measurement_facts(const json::Value& run) {
  const json::Value& spec = spec_of(run);
  Facts facts;
  if (const json::Value* latency = spec.find({"timing", "latencyNs"}); latency != nullptr) {
    for (const json::Member& member : latency->object()) {
      const std::string name = "latency · " + std::string(member.name);
      if (member.value.is_number()) {
        add(facts, name, format_quantity(member.value.number(), "ns"));
      } else if (member.value.is_array()) {
        std::string text;
        for (const json::Value& bound : member.value.array()) {
          text += (text.empty() ? "" : " to ") + format_quantity(bound.number(), "ns");
        }
        add(facts, name, std::move(text));
      }
    }
    add(facts, "samples", text_at(spec, {"timing", "samples"}));
  }
  if (const json::Value* list = spec.find("measurements"); list != nullptr && list->is_array()) {
    for (const json::Value& item : list->array()) {
      const json::Value* value = item.find("value");
      if (value == nullptr || !value->is_number()) continue;
      std::string text = format_quantity(value->number(), item.text("unit"));
      if (const json::Value* count = item.find("sampleCount"); count != nullptr) {
        text += " of " + plain_text(*count) + " samples";
      }
      add(facts, std::string(item.text("metric")) + " · " + std::string(item.text("statistic")),
          std::move(text));
    }
  }
  return facts;
}

Facts run_correctness_facts(const json::Value& run) {
  Facts facts;
  if (const json::Value* said = spec_of(run).find("correctness"); said != nullptr) {
    for (const json::Member& member : said->object()) {
      add(facts, member.name, plain_text(member.value));
    }
  }
  return facts;
}

Facts source_metric_facts(const json::Value& run) {
  Facts facts;
  if (const json::Value* metrics = spec_of(run).find({"sourceNative", "metrics"});
      metrics != nullptr && metrics->is_object()) {
    for (const json::Member& metric : metrics->object()) {
      add(facts, metric.name, plain_text(metric.value));
    }
  }
  return facts;
}

std::vector<std::string> source_metric_line(const json::Value& run) {
  std::vector<std::string> line;
  const json::Value* metrics = spec_of(run).find({"sourceNative", "metrics"});
  if (metrics == nullptr || !metrics->is_object()) return line;
  const auto value = [&](std::string_view name) -> std::optional<double> {
    const json::Value* found = metrics->find(name);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    return found->number();
  };
  if (const auto score = value("sol_score")) line.push_back("SOL " + decimals(*score, 4));
  if (const auto speedup = value("avg_speedup")) {
    line.push_back(decimals(*speedup, 2) + "× reference");
  }
  const auto faster = value("fast_1_count");
  const auto total = value("fast_1_total");
  if (faster && total) {
    line.push_back(fmt::format("{:.0f}/{:.0f} cases faster", *faster, *total));
  }
  for (const json::Member& metric : metrics->object()) {
    const bool paired = faster && total;
    if (metric.name == "sol_score" || metric.name == "avg_speedup") continue;
    if (paired && (metric.name == "fast_1_count" || metric.name == "fast_1_total")) continue;
    if (std::ranges::find(kRepeated, metric.name) != kRepeated.end()) continue;
    line.push_back(std::string(metric.name) + " " + plain_text(metric.value));
  }
  return line;
}

std::vector<std::string> spread_texts(const json::Value& run) {
  std::vector<std::string> out;
  const json::Value* latency = spec_of(run).find({"timing", "latencyNs"});
  if (latency == nullptr) return out;
  const auto quantity = [&](std::string_view name) -> std::string {
    const json::Value* value = latency->find(name);
    return value == nullptr || !value->is_number() ? std::string()
                                                   : format_quantity(value->number(), "ns");
  };
  if (const json::Value* interval = latency->find("confidence95");
      interval != nullptr && interval->is_array() && interval->array().size() == 2) {
    out.push_back("95 % interval " + format_quantity(interval->array()[0].number(), "ns") + " to " +
                  format_quantity(interval->array()[1].number(), "ns"));
  }
  for (const auto& [low, high, words] :
       {std::array<std::string_view, 3>{"minimum", "maximum", "range "},
        std::array<std::string_view, 3>{"p05", "p95", "p5 to p95 "}}) {
    const std::string from = quantity(low);
    const std::string to = quantity(high);
    if (!from.empty() && !to.empty()) {
      out.push_back(std::string(words) + from + " to " + to);
    } else if (!from.empty() || !to.empty()) {
      out.push_back(std::string(from.empty() ? high : low) + " " + (from.empty() ? to : from));
    }
  }
  if (const std::string mad = quantity("mad"); !mad.empty()) out.push_back("MAD " + mad);
  if (const json::Value* samples = spec_of(run).find({"timing", "samples"}); samples != nullptr) {
    out.push_back(plain_text(*samples) + " samples");
  }
  return out;
}

std::string workload_text(const json::Value& workload) {
  const json::Value& spec = spec_of(workload);
  if (const json::Value* cases = spec.find("cases"); cases != nullptr && cases->is_array()) {
    return "suite of " + counted(cases->array().size(), "case") + " · " +
           text_at(spec, {"aggregation", "statistic"}) + " " +
           text_at(spec, {"aggregation", "metric"});
  }
  if (const json::Value* axes = spec.find("axes"); axes != nullptr) {
    const std::string text = axes_text(*axes);
    return text.empty() ? "one case without axes" : text;
  }
  const json::Value* metadata = workload.find("metadata");
  if (metadata == nullptr) return {};
  return std::string(metadata->text("title").empty() ? metadata->text("name")
                                                     : metadata->text("title"));
}

}  // namespace kernelindex::tools
