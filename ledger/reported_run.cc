// SPDX-License-Identifier: Apache-2.0
#include "ledger/reported_run.h"

#include <array>
#include <string_view>
#include <vector>

#include "ledger/controlled_protocol.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

__extension__ using Wide = __int128;
using json::Value;

std::int64_t dtype_bits(std::string_view dtype) {
  struct Row {
    std::string_view suffix;
    std::int64_t bits;
  };
  constexpr std::array kRows = {Row{"64", 64}, Row{"32", 32}, Row{"16", 16}, Row{"8", 8},
                                Row{"bool", 8}};
  if (dtype.starts_with("float8") || dtype.starts_with("fp8") || dtype.starts_with("f8")) return 8;
  for (const Row& row : kRows) {
    if (dtype.ends_with(row.suffix)) return row.bits;
  }
  return 0;  // not known: nothing is claimed about it
}

std::int64_t tensor_bytes(const Value& shape, std::string_view dtype) {
  Wide bits = dtype_bits(dtype);
  for (const Value& side : shape.array()) {
    if (!side.is_number()) return 0;
    bits *= static_cast<std::int64_t>(side.number());
    if (bits > (Wide{1} << 60)) return 0;
  }
  return static_cast<std::int64_t>(bits / 8);
}

// What each output byte costs once, and each byte of an input that an operation of this family must
// read whole: of those that gather, only the outputs.
std::int64_t compulsory_bytes(const Manifest& workload, const Manifest& operation) {
  json::Arena arena;
  const Result<Value> spec = json::parse(workload.bytes, arena);
  if (!spec) return 0;
  const Value* tensors = spec->find({"spec", "tensors"});
  const Value* axes = spec->find({"spec", "axes"});
  if (tensors == nullptr || axes == nullptr) return 0;
  const Result<Value> what = json::parse(operation.bytes, arena);
  if (!what) return 0;
  Wide bytes = 0;
  bool gathers = false;
  for (const json::Member& member : tensors->object()) {
    const std::string_view dtype = member.value.text("dtype");
    gathers |= dtype.starts_with("int");
    bytes += tensor_bytes(*member.value.find("shape"), dtype);
  }
  if (gathers) bytes = 0;
  const Value* defined = what->find({"spec", "axes"});
  for (const Value& output : what->find({"spec", "outputs"})->array()) {
    const Value* tensor = output.find("tensor");
    if (tensor == nullptr) continue;
    std::vector<Value> sides;
    for (const Value& side : tensor->find("shape")->array()) {
      const Value* length = &side;
      if (side.is_string()) {
        length = axes->find(side.string());
        const Value* axis = defined->find(side.string());
        if (length == nullptr && axis != nullptr) length = axis->find("value");
      }
      if (length == nullptr) return 0;
      sides.push_back(*length);
    }
    bytes += tensor_bytes(arena.array(sides), tensor->text("dtype"));
  }
  return bytes < 0 || bytes > (Wide{1} << 60) ? 0 : static_cast<std::int64_t>(bytes);
}

std::string_view timer_of(const Manifest& protocol, json::Arena& arena) {
  const Result<Value> document = json::parse(protocol.bytes, arena);
  if (!document) return {};
  const Value* timer = document->find({"spec", "measurement", "timer"});
  return timer != nullptr && timer->is_string() ? timer->string() : std::string_view();
}

bool is_cupti(std::string_view timer) { return timer.starts_with("cupti"); }

// The document of an identity, if it is of the kind that must stand there: a reference can lead to
// any.
Result<std::optional<Manifest>> read_of_kind(AttemptSource& source, const Digest& identity,
                                             ManifestKind kind) {
  Result<std::optional<Manifest>> found = source.document(identity);
  if (found && *found && (*found)->kind != kind) return std::nullopt;
  return found;
}

}  // namespace

bool ReportedRun::timed_by_cupti() const {
  json::Arena arena;
  return protocol && is_cupti(timer_of(*protocol, arena));
}

Result<std::optional<ReportedRun>> read_reported_run(AttemptSource& source, const Digest& run) {
  Result<std::optional<Manifest>> manifest = read_of_kind(source, run, ManifestKind::benchmark_run);
  if (!manifest) return fail(manifest.error());
  if (!*manifest) return std::nullopt;
  ReportedRun out{std::get<BenchmarkRunFacts>((*manifest)->facts), {}, {}, {}, 0};
  Result<std::optional<Manifest>> protocol =
      read_of_kind(source, out.run.protocol, ManifestKind::benchmark_protocol);
  if (!protocol) return fail(protocol.error());
  out.protocol = std::move(*protocol);
  Result<std::optional<Manifest>> environment =
      read_of_kind(source, out.run.environment, ManifestKind::execution_environment);
  if (!environment) return fail(environment.error());
  out.environment = std::move(*environment);
  const Result<std::optional<Manifest>> workload =
      read_of_kind(source, out.run.workload, ManifestKind::workload_case);
  if (!workload) return fail(workload.error());
  if (!*workload) return out;
  const auto& about = std::get<WorkloadFacts>((*workload)->facts);
  out.comparator = about.comparator;
  const Result<std::optional<Manifest>> operation =
      read_of_kind(source, about.operation, ManifestKind::operation_spec);
  if (!operation) return fail(operation.error());
  if (*operation) out.compulsory_bytes = compulsory_bytes(**workload, **operation);
  return out;
}

TimerRelation timer_relation(const Manifest& reported_protocol, const Digest& controlled) {
  if (reported_protocol.identity == controlled) return TimerRelation::same_protocol;
  json::Arena arena;
  const std::string_view timer = timer_of(reported_protocol, arena);
  if (is_cupti(timer) || controlled_variant(reported_protocol.identity)) {
    return TimerRelation::same_family;
  }
  // What leaderboards time with device events, or say nothing more of.
  if (timer == "cuda_events" || timer == "cuda_event" || timer == "harness_reported") {
    return TimerRelation::cross_family;
  }
  return TimerRelation::unknown;
}

EnvironmentRelation environment_relation(const Manifest& reported,
                                         const MeasurementResult& result) {
  json::Arena arena;
  const Result<Value> document = json::parse(reported.bytes, arena);
  const Value* hardware = document ? document->find({"spec", "hardware"}) : nullptr;
  if (hardware == nullptr) return EnvironmentRelation::different;
  const MeasuredDevice& device = result.device;
  const std::string_view architecture = hardware->text("architecture");
  const std::string_view form = hardware->text("formFactor");
  const auto whole = [&](std::string_view name) -> std::optional<std::int64_t> {
    const Value* value = hardware->find(name);
    if (value == nullptr) return std::nullopt;
    return static_cast<std::int64_t>(value->number());
  };
  if (hardware->text("product") != device.product ||
      (architecture != "unknown" && architecture != device.architecture) ||
      (!form.empty() && !device.form_factor.empty() && form != device.form_factor) ||
      whole("count").value_or(1) != device.count || !device.mig_profile.empty()) {
    return EnvironmentRelation::different;
  }
  const std::optional<std::int64_t> memory = whole("memoryBytes");
  if (memory && device.memory_bytes) {
    const Wide gap = Wide{*memory} - Wide{*device.memory_bytes};
    if ((gap < 0 ? -gap : gap) * 50 > Wide{*memory}) return EnvironmentRelation::different;
  }
  // What is not said cannot be equal.
  const Value* driver = document->find({"spec", "software", "driver"});
  const Value* clocks = document->find({"spec", "settings", "clocksLocked"});
  const Value* power = document->find({"spec", "settings", "powerLimitWatts"});
  const bool equal =
      driver != nullptr && driver->string() == result.software.driver && clocks != nullptr &&
      result.settings.clocks_locked == clocks->boolean() && power != nullptr &&
      result.settings.power_limit_milliwatts &&
      power->number() * 1000 == static_cast<double>(*result.settings.power_limit_milliwatts);
  return equal ? EnvironmentRelation::equal : EnvironmentRelation::equivalent;
}

bool other_form_factor(const Manifest& reported, const MeasurementResult& result) {
  json::Arena arena;
  const Result<Value> document = json::parse(reported.bytes, arena);
  const Value* form = document ? document->find({"spec", "hardware", "formFactor"}) : nullptr;
  const std::string& measured = result.device.form_factor;
  return form != nullptr && !measured.empty() && form->string() != measured;
}

}  // namespace kernelindex
