// SPDX-License-Identifier: Apache-2.0
#include "cuda/reference_operation.h"

#include <algorithm>
#include <vector>

#include "cuda/reference_kernels.h"

namespace kernelindex::runner {
namespace {

using enum Dtype;
using enum InputRole;

// f32 sums of squares of 8192 elements stay finite below 2^57.
constexpr double kNormExtreme = 0x1p56;

std::vector<ReferenceOperation> make_operations() {
  std::vector<ReferenceOperation> all;
  all.push_back(
      {.name = "rmsnorm-h4096",
       .identity = "2871390f2acf5e895c37899aa361f04013a777aa68085c4d9f7f8072f06483bc",
       .constants = {{"hidden_size", 4096}},
       .inputs = {{"hidden_states", "hidden_states", bf16, {"batch_size", "hidden_size"}, data},
                  {"weight", "weight", bf16, {"hidden_size"}, weight}},
       .outputs = {{"output", bf16, {"batch_size", "hidden_size"}}},
       .evaluate = reference::rmsnorm,
       .extreme = kNormExtreme,
       .work_per_output = 4});
  all.push_back(
      {.name = "flux-rope",
       .identity = "1a9d5ab0883d1f8569568bb041985d2023f17253692131382b66679166de67ef",
       .constants = {{"attention_head_dim", 128},
                     {"half_head_dim", 64},
                     {"num_attention_heads", 24}},
       .inputs = {{"query_or_key",
                   "query_or_key",
                   bf16,
                   {"batch_size", "seq_len", "num_attention_heads", "attention_head_dim"},
                   data},
                  {"freqs_cos", "freqs_cos", bf16, {"seq_len", "attention_head_dim"}, weight},
                  {"freqs_sin", "freqs_sin", bf16, {"seq_len", "attention_head_dim"}, weight}},
       .outputs = {{"output",
                    bf16,
                    {"batch_size", "seq_len", "num_attention_heads", "attention_head_dim"}}},
       .evaluate = reference::flux_rope,
       .extreme = 0x1p100,
       .reduces = false,
       .work_per_output = 3});
  all.push_back({.name = "softmax-h4096",
                 .identity = "e7db834ed7c55956a4869da8901492467445dc42f231e217719632074b676121",
                 .constants = {{"hidden_size", 4096}},
                 .inputs = {{"input", "input", f32, {"batch_size", "hidden_size"}, data}},
                 .outputs = {{"output", f32, {"batch_size", "hidden_size"}}},
                 .evaluate = reference::softmax,
                 .extreme = 1e4,
                 .work_per_output = 4});
  all.push_back({.name = "gemm-n4096-k4096",
                 .identity = "bf34c9de1e19888b762cb31ae5aa3e63361be83e4a63b3c510c45e892b237255",
                 .constants = {{"k", 4096}, {"n", 4096}},
                 .inputs = {{"a", "A", f32, {"m", "k"}, data}, {"b", "B", f32, {"k", "n"}, weight}},
                 .outputs = {{"c", f32, {"m", "n"}, "k"}},
                 .evaluate = reference::matmul,
                 .extreme = 0x1p40,
                 .probe = {{0, 1, false}},
                 .work_per_output = 2});
  all.push_back(
      {.name = "gemma3-gate-up-geglu",
       .identity = "6befd3d9ffa728d7015031c86ff56e814e977c063bd78a0e003983277c8ee4ee",
       .constants = {{"hidden_size", 3072}, {"intermediate_size", 24576}},
       .inputs = {{"x", "x", bf16, {"batch_size", "seq_len", "hidden_size"}, data},
                  {"gate_proj", "gate_proj", bf16, {"intermediate_size", "hidden_size"}, weight},
                  {"up_proj", "up_proj", bf16, {"intermediate_size", "hidden_size"}, weight}},
       .outputs = {{"output", bf16, {"batch_size", "seq_len", "intermediate_size"}, "hidden_size"}},
       .evaluate = reference::gemma_geglu,
       .extreme = 0x1p20,
       .work_per_output = 4});
  all.push_back(
      {.name = "linear-backward",
       .identity = "3e644dda99fe42e99786e89c1f37f628a5586823f95589bfa6a51c9cd73cdd4e",
       .constants = {},
       // The definition brings its own generator, said here again by the axis.
       .inputs = {{"grad_output", "grad_output", f32, {"m", "n"}, data, "n"},
                  {"x", "x", f32, {"m", "k"}, data, "k"},
                  {"weight", "weight", f32, {"n", "k"}, weight, "k"}},
       .outputs = {{"grad_input", f32, {"m", "k"}, "n"}, {"grad_weight", f32, {"n", "k"}, "m"}},
       .evaluate = reference::linear_backward,
       .extreme = 0x1p40,
       .probe = {{0, 2, false}},
       .work_per_output = 2});
  all.push_back(
      {.name = "nemotron-rms-norm",
       .identity = "6e202b1218cfc972660e311db93f04083e4381b5a9af63525f1eabcf9d0c2bd2",
       .constants = {{"hidden_size", 8192}},
       .inputs =
           {{"hidden_states",
             "hidden_states",
             bf16,
             {"batch_size", "seq_len", "hidden_size"},
             data},
            {"residual", "residual", bf16, {"batch_size", "seq_len", "hidden_size"}, residual},
            {"weight", "weight", bf16, {"hidden_size"}, weight},
            {"eps", "eps", f64, {}, scalar}},
       .outputs = {{"output", bf16, {"batch_size", "seq_len", "hidden_size"}}},
       .evaluate = reference::nemotron_rmsnorm,
       .extreme = kNormExtreme,
       .work_per_output = 5});
  all.push_back(
      {.name = "olmo3-post-norm-residual",
       .identity = "0e240a29cc50b80e330544b758a798caec1f7fd551153050b88b03d0a09a014c",
       .constants = {{"hidden_size", 4096}},
       .inputs =
           {{"sublayer_output",
             "sublayer_output",
             bf16,
             {"batch_size", "seq_len", "hidden_size"},
             data},
            {"residual", "residual", bf16, {"batch_size", "seq_len", "hidden_size"}, residual},
            {"weight", "weight", bf16, {"hidden_size"}, weight},
            {"eps", "eps", f64, {}, scalar}},
       .outputs = {{"output", bf16, {"batch_size", "seq_len", "hidden_size"}}},
       .evaluate = reference::olmo_post_norm,
       .extreme = kNormExtreme,
       .work_per_output = 5});
  all.push_back(
      {.name = "jamba-projection-residual",
       .identity = "845a5dba06e5be4fd9cb43049bc6b8b9f6ef13a3784ebf5e6169278434867575",
       .constants = {{"hidden_size", 2560}},
       .inputs =
           {{"attn_output", "attn_output", bf16, {"batch_size", "seq_len", "hidden_size"}, data},
            {"residual", "residual", bf16, {"batch_size", "seq_len", "hidden_size"}, residual},
            {"o_proj_weight", "o_proj_weight", bf16, {"hidden_size", "hidden_size"}, weight}},
       .outputs = {{"output", bf16, {"batch_size", "seq_len", "hidden_size"}, "hidden_size"}},
       .evaluate = reference::projection_residual,
       .extreme = 0x1p40,
       .work_per_output = 2});
  all.push_back(
      {.name = "custom-matmul",
       .identity = "27689b03fbb371f4c335879f4551e89336058d422355da7398ec7255ec138e33",
       .constants = {},
       .inputs = {{"a", "A", f32, {"m", "k"}, data, "k"}, {"b", "B", f32, {"k", "n"}, weight, "k"}},
       .outputs = {{"c", f32, {"m", "n"}, "k"}},
       .evaluate = reference::matmul,
       .extreme = 0x1p40,
       .probe = {{0, 1, false}},
       .work_per_output = 2});
  all.push_back({.name = "vector-add",
                 .identity = "88e6012fe914d36137ad3531818b9f4ca1b16cb57f8968de4bf96ace00ba02dc",
                 .constants = {{"n", 1024}},
                 .inputs = {{"x", "x", f32, {"n"}, data}, {"y", "y", f32, {"n"}, residual}},
                 .outputs = {{"z", f32, {"n"}}},
                 .evaluate = reference::vector_add,
                 .extreme = 0x1p120,
                 .exact = true,
                 .reduces = false,
                 .work_per_output = 1});
  all.push_back({.name = "gqa-paged-decode",
                 .identity = "547a03fbfaa5a6bcebb001cd56f46e9b24f34ecbcc7bc28ad23aeefa66ad95b7",
                 .constants = {{"head_dim", 128},
                               {"num_kv_heads", 8},
                               {"num_qo_heads", 32},
                               {"page_size", 1}},
                 .inputs = {{"q", "q", bf16, {"batch_size", "num_qo_heads", "head_dim"}, data},
                            {"k_cache",
                             "k_cache",
                             bf16,
                             {"num_pages", "page_size", "num_kv_heads", "head_dim"},
                             weight},
                            {"v_cache",
                             "v_cache",
                             bf16,
                             {"num_pages", "page_size", "num_kv_heads", "head_dim"},
                             weight},
                            {"kv_indptr", "kv_indptr", i32, {"len_indptr"}, index},
                            {"kv_indices", "kv_indices", i32, {"num_kv_indices"}, index},
                            {"sm_scale", "sm_scale", f64, {}, scalar}},
                 .outputs = {{"output", bf16, {"batch_size", "num_qo_heads", "head_dim"}},
                             {"lse", f32, {"batch_size", "num_qo_heads"}}},
                 .evaluate = reference::gqa_paged_decode,
                 .extreme = 0x1p10,
                 // A batch may have one member: a floor may be too low, never too high.
                 .work_per_output = 4});
  return all;
}

Error axis_error(std::string code, std::string name, std::string message) {
  return {ErrorKind::invalid, std::move(code), std::move(name), std::move(message), {}};
}

// Whether every tensor of the operation has a size that we hold.
bool fits(const ReferenceOperation& operation, const Axes& axes) {
  const auto all = [&](const auto& specs) {
    return std::all_of(specs.begin(), specs.end(), [&](const auto& spec) {
      const auto shape = extents(spec.axes, axes);
      return shape && element_count(*shape).has_value();
    });
  };
  return all(operation.inputs) && all(operation.outputs);
}

}  // namespace

std::span<const ReferenceOperation> reference_operations() {
  static const std::vector<ReferenceOperation> all = make_operations();
  return all;
}

const ReferenceOperation* find_reference(const Digest& operation) {
  const std::string hex = operation.hex();
  for (const ReferenceOperation& row : reference_operations()) {
    if (row.identity == hex) return &row;
  }
  return nullptr;
}

const ReferenceOperation* find_reference(std::string_view name) {
  for (const ReferenceOperation& row : reference_operations()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::optional<std::vector<std::int64_t>> extents(std::span<const std::string_view> names,
                                                 const Axes& axes) {
  std::vector<std::int64_t> shape;
  for (const std::string_view name : names) {
    const auto found = axes.find(name);
    if (found == axes.end()) return std::nullopt;
    shape.push_back(found->second);
  }
  return shape;
}

Result<Axes> bind_axes(const ReferenceOperation& operation, const Axes& given) {
  Axes axes = operation.constants;
  for (const auto& [name, value] : given) {
    if (value < 0 || value > kTensorElements) {
      return fail(axis_error("AXIS_RANGE", name, "this value of an axis is out of range"));
    }
    const auto [at, added] = axes.emplace(name, value);
    if (!added && at->second != value) {
      return fail(
          axis_error("WRONG_CONSTANT", name, "the operation has another value for this axis"));
    }
    const auto uses = [&](const auto& specs) {
      return std::any_of(specs.begin(), specs.end(), [&](const auto& spec) {
        return std::find(spec.axes.begin(), spec.axes.end(), name) != spec.axes.end();
      });
    };
    if (added && !uses(operation.inputs) && !uses(operation.outputs)) {
      return fail(axis_error("UNKNOWN_AXIS", name, "the operation has no such axis"));
    }
  }
  for (const InputSpec& input : operation.inputs) {
    if (!extents(input.axes, axes)) {
      return fail(axis_error("MISSING_AXIS", std::string(input.name),
                             "the workload leaves an axis of this input without a value"));
    }
  }
  if (!fits(operation, axes)) {
    return fail(axis_error("AXIS_RANGE", std::string(operation.name),
                           "a tensor of this workload is larger than this runner holds"));
  }
  return axes;
}

HostTensor evaluate_output(const ReferenceOperation& operation, const Arguments& arguments,
                           std::size_t output) {
  const OutputSpec& spec = operation.outputs[output];
  HostTensor tensor(std::string(spec.name), spec.dtype, *extents(spec.axes, arguments.axes));
  std::vector<double> row(static_cast<std::size_t>(tensor.row_length()));
  for (std::int64_t i = 0; i < tensor.rows(); ++i) {
    operation.evaluate(arguments, output, i, 0, row);
    for (std::int64_t j = 0; j < tensor.row_length(); ++j) {
      tensor.set(i * tensor.row_length() + j, row[static_cast<std::size_t>(j)]);
    }
  }
  return tensor;
}

std::int64_t compulsory_bytes(const ReferenceOperation& operation, const Arguments& arguments) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    const HostTensor& input = arguments.inputs[i];
    // Of a paged cache only the pages that are named are read; how many is not known here, so they
    // do not count: a floor may be too low, never too high.
    const bool sparse = operation.name == "gqa-paged-decode" && (i == 1 || i == 2);
    if (!sparse) bytes += static_cast<std::int64_t>(input.bytes().size());
  }
  for (const OutputSpec& output : operation.outputs) {
    const std::int64_t count = *element_count(*extents(output.axes, arguments.axes));
    bytes += count * dtype_bits(output.dtype) / 8;
  }
  return bytes;
}

double floating_operations(const ReferenceOperation& operation, const Arguments& arguments) {
  double total = 0;
  for (const OutputSpec& output : operation.outputs) {
    const std::int64_t summands =
        output.summed_axis.empty() ? 1 : arguments.axes.find(output.summed_axis)->second;
    total += static_cast<double>(*element_count(*extents(output.axes, arguments.axes))) *
             static_cast<double>(summands);
  }
  return total * operation.work_per_output;
}

}  // namespace kernelindex::runner
