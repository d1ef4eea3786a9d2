// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelbot_board.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "ingest/curated_tables.h"
#include "ingest/kebab.h"
#include "ingest/lower_case.h"
#include "ingest/manifest_document.h"
#include "ingest/text_cut.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::Member;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kRepository = "https://github.com/gpu-mode/reference-kernels";
constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::string_view kComparator = "kernelbot_eval";
constexpr std::string_view kPerShapeNotes =
    "Per-case wall-clock statistics as published in the KernelBot dataset. Comparable only within "
    "one leaderboard problem and GPU type; runner software versions ride each run's labels.";
constexpr std::string_view kScoreNotes =
    "Aggregate leaderboard score in seconds over the problem's published benchmark suite, as "
    "computed by the upstream ranked run. Comparable only within one leaderboard problem and "
    "runner type.";

CuratedAxis axis_of(const Member& member) {
  CuratedAxis axis;
  axis.name = member.name;
  const std::string_view role = member.value.text("role");
  if (role == "constant") {
    axis.role = CuratedAxis::Role::constant;
    axis.value = member.value.find("value")->number();
  } else if (role == "derived") {
    axis.role = CuratedAxis::Role::derived;
    axis.expression = member.value.text("expression");
  }
  return axis;
}

KernelbotBoard board_of(const Value& entry) {
  KernelbotBoard board;
  board.name = entry.text("leaderboard");
  board.task_path = entry.text("taskPath");
  for (const Value& tag : entry.find("tags")->array()) board.tags.push_back(tag.string());
  board.operation.slug = entry.text("slug");
  board.operation.title = entry.text("title");
  board.operation.family = entry.text("family");
  for (const Member& axis : entry.find("axes")->object()) {
    board.operation.axes.push_back(axis_of(axis));
  }
  board.operation.inputs = curated_tensors(*entry.find("inputs"));
  board.operation.outputs = curated_tensors(*entry.find("outputs"));
  board.per_shape = entry.text("scoring") == "per-shape";
  if (board.per_shape) return board;
  board.statistic = entry.find("suite")->text("statistic");
  board.cases = entry.find({"suite", "cases"});
  return board;
}

struct Device {
  std::string_view runner;
  std::string_view vendor;
  std::string_view product;
  std::string_view architecture;
};
constexpr std::array<Device, 11> kDevices = {{
    {"AMD Instinct MI300X", "amd", "AMD Instinct MI300X", "gfx942"},
    {"MI300", "amd", "AMD Instinct MI300X", "gfx942"},
    {"AMD Instinct MI325X", "amd", "AMD Instinct MI325X", "gfx942"},
    {"MI355X", "amd", "AMD Instinct MI355X", "gfx950"},
    {"B200", "nvidia", "NVIDIA B200", "sm_100"},
    {"B200_Nebius", "nvidia", "NVIDIA B200", "sm_100"},
    {"NVIDIA", "nvidia", "NVIDIA B200", "sm_100"},
    {"A100", "nvidia", "NVIDIA A100", "sm_80"},
    {"H100", "nvidia", "NVIDIA H100", "sm_90"},
    {"L4", "nvidia", "NVIDIA L4", "sm_89"},
    {"T4", "nvidia", "NVIDIA T4", "sm_75"},
}};

// "mi" and a digit anywhere; or a name that begins as NVIDIA's do.
std::string_view vendor_by_name(std::string_view runner) {
  const std::string name = lower_case(runner);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i + 2 < name.size(); ++i) {
    if (name[i] == 'm' && name[i + 1] == 'i' && is_digit(name[i + 2])) return "amd";
  }
  if (name.starts_with("nvidia") || name.starts_with("rtx")) return "nvidia";
  const bool letter = !name.empty() && std::string_view("abhlt").find(name[0]) != std::string::npos;
  return letter && name.size() > 1 && is_digit(name[1]) ? "nvidia" : "unknown";
}

}  // namespace

const std::vector<KernelbotBoard>& kernelbot_boards() {
  static const auto* const boards = [] {
    auto* out = new std::vector<KernelbotBoard>();
    for (const Value& entry : gpumode_boards_table().find("boards")->array()) {
      out->push_back(board_of(entry));
    }
    return out;
  }();
  return *boards;
}

const KernelbotBoard* find_kernelbot_board(std::string_view name) {
  const auto found = std::ranges::find(kernelbot_boards(), name, &KernelbotBoard::name);
  return found == kernelbot_boards().end() ? nullptr : &*found;
}

Result<Manifest> make_kernelbot_operation(const KernelbotBoard& board, Arena& arena) {
  const std::string url = std::string(kRepository) + "/blob/main/" + std::string(board.task_path);
  return make_curated_operation(board.operation, url, {}, arena);
}

Result<Manifest> make_kernelbot_suite(const KernelbotBoard& board, const Digest& operation,
                                      Arena& arena) {
  assert(board.cases != nullptr);
  ObjectBuilder spec(arena);
  spec.add("operationSpecDigest", operation.text()).add("cases", *board.cases);
  spec.add("correctness", ObjectBuilder(arena).add("comparator", kComparator).finish());
  spec.add("aggregation",
           ObjectBuilder(arena).add("metric", "score").add("statistic", board.statistic).finish());
  const Value metadata =
      named(std::string(board.operation.slug) + "-suite",
            std::string(board.operation.title) + std::string(kDot) + "leaderboard suite", arena);
  return make_manifest(
      manifest_document(ManifestKind::workload_suite, metadata, spec.finish(), arena), arena);
}

Result<Manifest> make_kernelbot_case(const KernelbotBoard& board, const Digest& operation,
                                     const AxisValues& axes, const std::string& title_axes,
                                     Arena& arena) {
  Result<AxisValues> values = bind_curated_axes(board.operation, axes);
  if (!values) return fail(std::move(values.error()));
  Result<Value> tensors = bound_tensors(board.operation, *values, {}, arena);
  if (!tensors) return fail(std::move(tensors.error()));
  ObjectBuilder spec(arena);
  spec.add("operationSpecDigest", operation.text()).add("axes", axes_value(axes, arena));
  spec.add("tensors", *tensors);
  spec.add("correctness", ObjectBuilder(arena).add("comparator", kComparator).finish());
  const std::string name = kebab(std::string(board.operation.slug) + "-" + axis_key(axes));
  const std::string title =
      title_cut(std::string(board.operation.title) + std::string(kDot) + title_axes);
  return make_manifest(manifest_document(ManifestKind::workload_case, named(name, title, arena),
                                         spec.finish(), arena),
                       arena);
}

Result<Manifest> make_kernelbot_protocol(const KernelbotBoard& board, Arena& arena) {
  const std::string_view statistic = board.per_shape ? "mean" : board.statistic;
  ObjectBuilder harness(arena);
  harness.add("name", "reference-kernels eval.py").add("repository", kRepository);
  ObjectBuilder measurement(arena);
  measurement.add("timer", "wall_clock").add("primaryStatistic", statistic);
  ObjectBuilder correctness(arena);
  correctness.add("reference", "problem reference implementation").add("comparator", kComparator);
  ObjectBuilder comparability(arena);
  comparability.add("family", "gpumode_kernelbot");
  comparability.add("notes", board.per_shape ? kPerShapeNotes : kScoreNotes);
  ObjectBuilder spec(arena);
  spec.add("harness", harness.finish()).add("measurement", measurement.finish());
  spec.add("correctness", correctness.finish()).add("comparability", comparability.finish());
  const Value metadata =
      board.per_shape
          ? named("gpumode-kernelbot-eval", "GPU MODE KernelBot evaluation harness", arena)
          : named("gpumode-kernelbot-leaderboard-" + std::string(statistic),
                  "GPU MODE KernelBot ranked leaderboard run", arena);
  return make_manifest(
      manifest_document(ManifestKind::benchmark_protocol, metadata, spec.finish(), arena), arena);
}

Hardware kernelbot_hardware(std::string_view runner) {
  const auto* device = std::ranges::find(kDevices, runner, &Device::runner);
  if (device == kDevices.end()) {
    return {std::string(vendor_by_name(runner)), std::string(runner), "unknown", false};
  }
  return {std::string(device->vendor), std::string(device->product),
          std::string(device->architecture), true};
}

Result<Manifest> make_kernelbot_environment(const KernelbotBoard& board, std::string_view runner,
                                            Arena& arena) {
  const Hardware hardware = kernelbot_hardware(runner);
  ObjectBuilder device(arena);
  device.add("vendor", hardware.vendor).add("product", hardware.product);
  device.add("architecture", hardware.architecture);
  if (!board.per_shape) device.add("formFactor", "runner:" + std::string(runner));
  ObjectBuilder spec(arena);
  spec.add("hardware", device.finish()).add("software", ObjectBuilder(arena).finish());
  const std::string name = "gpumode-kernelbot-" + kebab(runner);
  const std::string title = title_cut("KernelBot runner" + std::string(kDot) + hardware.product);
  return make_manifest(manifest_document(ManifestKind::execution_environment,
                                         named(name, title, arena), spec.finish(), arena),
                       arena);
}

}  // namespace kernelindex::ingest
