// SPDX-License-Identifier: Apache-2.0
#include "ingest/liger_kernel.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "ingest/curated_tables.h"
#include "ingest/kebab.h"
#include "ingest/manifest_document.h"
#include "ingest/source_item.h"
#include "ingest/text_cut.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::Member;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kRepository = "https://github.com/linkedin/Liger-Kernel";
constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::string_view kOfConfiguration = "cfg";
constexpr std::string_view kGenericDtype = "float";  // of a tensor whose type a case decides

using TextPairs = std::vector<std::pair<std::string_view, std::string_view>>;

TextPairs pairs_of(const Value* list) {
  TextPairs out;
  if (list == nullptr) return out;
  for (const Value& pair : list->array()) {
    out.emplace_back(pair.array()[0].string(), pair.array()[1].string());
  }
  return out;
}

std::vector<std::string_view> texts_of(const Value* list) {
  std::vector<std::string_view> out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Value& text : list->array()) out.push_back(text.string());
  return out;
}

LigerVariant variant_of(const Value& entry) {
  LigerVariant out;
  out.x_names = texts_of(entry.find("xNames"));
  out.axes = pairs_of(entry.find("axes"));
  out.dtype = entry.text("dtype");
  if (const Value* equals = entry.find("equals")) {
    out.equals.assign(equals->object().begin(), equals->object().end());
  }
  out.divisible = pairs_of(entry.find("divisible"));
  out.even = texts_of(entry.find("even"));
  out.scalars = pairs_of(entry.find("scalars"));
  return out;
}

// The axes are the named dimensions in the order in which they are declared, then what is derived.
std::vector<CuratedAxis> axes_of(const CuratedOperation& operation, const Value* derived) {
  std::vector<CuratedAxis> out;
  const auto add = [&](std::string_view name) {
    const bool known = std::ranges::find(out, name, &CuratedAxis::name) != out.end();
    if (known || (derived != nullptr && derived->find(name) != nullptr)) return;
    out.push_back({name, CuratedAxis::Role::variable, 0, {}});
  };
  for (const std::vector<CuratedTensor>* tensors : {&operation.inputs, &operation.outputs}) {
    for (const CuratedTensor& tensor : *tensors) {
      for (const Value& dimension : tensor.shape) {
        if (dimension.is_string()) add(dimension.string());
      }
    }
  }
  if (derived == nullptr) return out;
  for (const Member& axis : derived->object()) {
    out.push_back({axis.name, CuratedAxis::Role::derived, 0, axis.value.string()});
  }
  return out;
}

LigerKernel kernel_of(const Value& entry) {
  LigerKernel kernel;
  kernel.name = entry.text("csvName");
  kernel.operation.slug = entry.text("slug");
  kernel.operation.title = entry.text("title");
  kernel.operation.family = entry.text("family");
  kernel.operation.inputs = curated_tensors(*entry.find("inputs"));
  kernel.operation.outputs = curated_tensors(*entry.find("outputs"));
  kernel.operation.axes = axes_of(kernel.operation, entry.find("derived"));
  for (const Value& variant : entry.find("variants")->array()) {
    kernel.variants.push_back(variant_of(variant));
  }
  return kernel;
}

bool is_positive_integer(const Value* value) {
  return value != nullptr && value->is_number() && value->number() > 0 &&
         is_safe_integer(value->number());
}

// The value of an axis by its source in the table.
std::optional<double> axis_by(std::string_view source, double x_value, const Value& configuration) {
  if (source == "x") return x_value;
  std::string_view names = source.substr(source.find(':') + 1);
  double product = 1;
  while (true) {
    const std::size_t star = names.find('*');
    const Value* member = configuration.find(names.substr(0, star));
    if (!is_positive_integer(member)) return std::nullopt;
    product *= member->number();
    if (star == std::string_view::npos) break;
    names.remove_prefix(star + 1);
  }
  return is_safe_integer(product) ? std::optional(product) : std::nullopt;
}

std::optional<double> scalar_by(std::string_view source, const Value& configuration) {
  const std::size_t colon = source.find(':');
  const std::string_view rule = source.substr(0, colon);
  const std::string_view name = source.substr(colon + 1);
  if (rule == "literal") {
    double value = 0;
    std::from_chars(name.data(), name.data() + name.size(), value);
    return value;
  }
  const Value* member = configuration.find(name);
  if (member == nullptr || !member->is_number()) return std::nullopt;
  if (rule == "positive" && member->number() <= 0) return std::nullopt;
  return member->number();
}

std::optional<std::string> dtype_by(std::string_view source, const Value& configuration) {
  if (source != kOfConfiguration) return std::string(source);
  const std::string_view dtype = configuration.text("dtype");
  if (dtype == "torch.bfloat16") return "bf16";
  if (dtype == "torch.float16") return "fp16";
  if (dtype == "torch.float32") return "fp32";
  return std::nullopt;
}

bool conditions_hold(const LigerVariant& variant, const Value& configuration,
                     const AxisValues& axes) {
  for (const Member& equal : variant.equals) {
    const Value* member = configuration.find(equal.name);
    if (member == nullptr || json::canonical(*member) != json::canonical(equal.value)) return false;
  }
  const auto divides = [&](std::string_view a, double b) {
    const auto found = axes.find(a);
    return found != axes.end() && std::fmod(found->second, b) == 0;
  };
  for (const auto& [dividend, divisor] : variant.divisible) {
    const auto found = axes.find(divisor);
    if (found == axes.end() || !divides(dividend, found->second)) return false;
  }
  return std::ranges::all_of(variant.even, [&](std::string_view axis) { return divides(axis, 2); });
}

struct Device {
  std::string_view gpu;
  std::string_view product;
  std::string_view architecture;
  std::string_view form_factor;
};
constexpr std::array<Device, 6> kDevices = {{
    {"NVIDIA A100-SXM4-80GB", "NVIDIA A100", "sm_80", "SXM4-80GB"},
    {"NVIDIA H100 80GB HBM3", "NVIDIA H100", "sm_90", "80GB HBM3"},
    {"NVIDIA H100 PCIe", "NVIDIA H100", "sm_90", "PCIe"},
    {"NVIDIA B200", "NVIDIA B200", "sm_100", ""},
    {"NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090", "sm_86", ""},
    {"NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "sm_89", ""},
}};

}  // namespace

const LigerKernel* find_liger_kernel(std::string_view name) {
  static const auto* const kernels = [] {
    auto* out = new std::map<std::string_view, LigerKernel>();
    for (const Value& entry : liger_kernels_table().find("kernels")->array()) {
      LigerKernel kernel = kernel_of(entry);
      const std::string_view key = kernel.name;
      out->emplace(key, std::move(kernel));
    }
    return out;
  }();
  const auto found = kernels->find(name);
  return found == kernels->end() ? nullptr : &found->second;
}

std::optional<LigerProvider> find_liger_provider(std::string_view name) {
  const Value* entry = liger_kernels_table().find({"providers", name});
  if (entry == nullptr) return std::nullopt;
  LigerProvider out;
  out.title = entry->text("title");
  out.project = entry->text("projectSlug");
  out.language = entry->text("language");
  out.declared = entry->text("declared");
  out.concluded = entry->text("concluded");
  out.package = entry->text("pipPackage");
  out.baseline = entry->text("role") == "baseline";
  return out;
}

std::string_view liger_mode_text(std::string_view mode) {
  return liger_kernels_table().find("modes")->text(mode);
}

std::optional<LigerCase> bind_liger_case(const LigerKernel& kernel, std::string_view x_name,
                                         double x_value, const Value& configuration) {
  const auto takes = [&](const LigerVariant& variant) {
    return variant.x_names.empty() ||
           std::ranges::find(variant.x_names, x_name) != variant.x_names.end();
  };
  const auto variant = std::ranges::find_if(kernel.variants, takes);
  if (variant == kernel.variants.end()) return std::nullopt;
  LigerCase out;
  for (const auto& [name, source] : variant->axes) {
    const std::optional<double> value = axis_by(source, x_value, configuration);
    if (!value) return std::nullopt;
    out.axes[std::string(name)] = *value;
  }
  std::optional<std::string> dtype = dtype_by(variant->dtype, configuration);
  if (!dtype || !conditions_hold(*variant, configuration, out.axes)) return std::nullopt;
  out.dtype = std::move(*dtype);
  for (const auto& [name, source] : variant->scalars) {
    const std::optional<double> value = scalar_by(source, configuration);
    if (!value) return std::nullopt;
    out.scalars.emplace_back(name, *value);
  }
  out.key = axis_key(out.axes) + "-" + out.dtype;
  return out;
}

Result<Manifest> make_liger_operation(const LigerKernel& kernel, std::string_view commit,
                                      Arena& arena) {
  const std::string url = std::string(kRepository) + "/blob/" +
                          std::string(commit.empty() ? "main" : commit) +
                          "/benchmark/scripts/benchmark_" + std::string(kernel.name) + ".py";
  return make_curated_operation(kernel.operation, url, kGenericDtype, arena);
}

Result<Manifest> make_liger_case(const LigerKernel& kernel, const Digest& operation,
                                 const LigerCase& of, Arena& arena) {
  Result<AxisValues> values = bind_curated_axes(kernel.operation, of.axes);
  if (!values) return fail(std::move(values.error()));
  Result<Value> tensors = bound_tensors(kernel.operation, *values, of.dtype, arena);
  if (!tensors) return fail(std::move(tensors.error()));
  ObjectBuilder spec(arena);
  spec.add("operationSpecDigest", operation.text()).add("axes", axes_value(of.axes, arena));
  spec.add("tensors", *tensors);
  if (!of.scalars.empty()) {
    ObjectBuilder scalars(arena);
    for (const auto& [name, value] : of.scalars) {
      scalars.add(name,
                  ObjectBuilder(arena).add("dtype", "fp32").add("value", Value(value)).finish());
    }
    spec.add("scalars", scalars.finish());
  }
  spec.add("correctness", ObjectBuilder(arena).add("comparator", "not_asserted").finish());
  const std::string name = std::string(kernel.operation.slug) + "-" + of.key;
  const std::string title =
      title_cut(std::string(kernel.operation.title) + std::string(kDot) + of.key);
  return make_manifest(manifest_document(ManifestKind::workload_case, named(name, title, arena),
                                         spec.finish(), arena),
                       arena);
}

Result<Manifest> make_liger_protocol(std::string_view mode, Arena& arena) {
  ObjectBuilder harness(arena);
  harness.add("name", "Liger-Kernel benchmark scripts").add("repository", kRepository);
  ObjectBuilder measurement(arena);
  measurement.add("timer", "cuda_events").add("primaryStatistic", "median");
  ObjectBuilder comparability(arena);
  comparability.add("family", "liger_kernel_bench");
  comparability.add("notes",
                    "Timed: " + std::string(liger_mode_text(mode)) +
                        ", via triton.testing.do_bench with quantiles 0.5/0.2/0.8 (median with "
                        "p20/p80 spread). The upstream CSV records no CUDA, driver, or torch "
                        "version; the Liger release rides each run's labels. Comparable only "
                        "within one kernel, workload, timed pass, and GPU.");
  ObjectBuilder spec(arena);
  spec.add("harness", harness.finish()).add("measurement", measurement.finish());
  spec.add("comparability", comparability.finish());
  const Value metadata = named("liger-kernel-bench-" + std::string(mode),
                               "Liger-Kernel benchmark, " + std::string(mode), arena);
  return make_manifest(
      manifest_document(ManifestKind::benchmark_protocol, metadata, spec.finish(), arena), arena);
}

Result<Manifest> make_liger_project(std::string_view slug, Arena& arena) {
  const auto project = liger_kernels_table().find({"projects", slug})->array();
  ObjectBuilder spec(arena);
  spec.add("name", project[0].string()).add("kind", "library");
  spec.add("repository", project[1].string());
  spec.add("host",
           ObjectBuilder(arena).add("kind", "github").add("id", project[2].string()).finish());
  return make_manifest(manifest_document(ManifestKind::software_project, named(slug, {}, arena),
                                         spec.finish(), arena),
                       arena);
}

Result<Manifest> make_liger_implementation(const LigerKernel& kernel, const LigerProvider& provider,
                                           const Digest& operation, Arena& arena) {
  ObjectBuilder support(arena);
  support.add("hardwareArchitectures", text_list({}, arena)).add("dtypes", text_list({}, arena));
  ObjectBuilder spec(arena);
  spec.add("projectRevision", ObjectBuilder(arena).finish());
  spec.add("operation", ObjectBuilder(arena).add("specDigest", operation.text()).finish());
  spec.add("callable", ObjectBuilder(arena).add("language", provider.language).finish());
  spec.add("support", support.finish());
  if (!provider.package.empty()) {
    const Value install =
        ObjectBuilder(arena).add("kind", "pip").add("package", provider.package).finish();
    const Value variant = ObjectBuilder(arena).add("name", "pip").add("install", install).finish();
    spec.add("buildVariants", arena.array({variant}));
  }
  ObjectBuilder licensing(arena);
  licensing.add("declared", provider.declared);
  licensing.add_if(!provider.concluded.empty(), "concluded", provider.concluded);
  spec.add("licensing", licensing.finish());
  ObjectBuilder metadata(arena);
  metadata.add("name",
               kebab(std::string(kernel.operation.slug) + "-" + std::string(provider.title)));
  metadata.add("title", std::string(provider.title) + std::string(kDot) +
                            std::string(kernel.operation.title));
  if (provider.baseline) {
    metadata.add("labels", ObjectBuilder(arena).add("role", "baseline").finish());
  }
  return make_manifest(manifest_document(ManifestKind::implementation_revision, metadata.finish(),
                                         spec.finish(), arena),
                       arena);
}

std::optional<Result<Manifest>> make_liger_environment(std::string_view gpu, Arena& arena) {
  const auto* device = std::ranges::find(kDevices, gpu, &Device::gpu);
  if (device == kDevices.end()) return std::nullopt;
  ObjectBuilder hardware(arena);
  hardware.add("vendor", "nvidia").add("product", device->product);
  hardware.add("architecture", device->architecture);
  hardware.add_if(!device->form_factor.empty(), "formFactor", device->form_factor);
  ObjectBuilder spec(arena);
  spec.add("hardware", hardware.finish()).add("software", ObjectBuilder(arena).finish());
  const Value metadata = named("liger-kernel-bench-" + kebab(gpu), gpu, arena);
  return make_manifest(
      manifest_document(ManifestKind::execution_environment, metadata, spec.finish(), arena),
      arena);
}

}  // namespace kernelindex::ingest
