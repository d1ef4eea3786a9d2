// SPDX-License-Identifier: Apache-2.0
// The process that loads an artifact and calls it: one trial. It gets the bytes of one sample at a
// time, and never a seed of another, an expected value, a tolerance or what the sample is for.
//
// Descriptor 4 is the memory of the inputs, 5 that of the outputs, both one tensor after the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/activity_records.h"
#include "cuda/device_session.h"

namespace kernelindex::runner {

inline constexpr int kInputDescriptor = 4;
inline constexpr int kOutputDescriptor = 5;

struct ChildTensor {
  bool scalar = false;
  double value = 0;        // of a scalar
  std::int32_t dtype = 0;  // DLPack
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;

  bool operator==(const ChildTensor&) const = default;
};

// An argument of a kernel of ki-kernel/1, evaluated by the parent.
struct ChildArgument {
  enum class Kind : std::uint64_t { input, output, workspace, i32, i64, f32, f64 };
  Kind kind{};
  std::uint64_t index = 0;  // of a tensor
  std::int64_t integer = 0;
  double real = 0;

  bool operator==(const ChildArgument&) const = default;
};

struct ChildKernel {
  std::string symbol;  // lowered
  std::array<std::uint64_t, 3> grid{1, 1, 1};
  std::array<std::uint64_t, 3> block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::vector<ChildArgument> arguments;

  bool operator==(const ChildKernel&) const = default;
};

// What the parent says first.
struct ChildLoad {
  enum class Binding : std::uint64_t { torch, ki_abi, ki_kernel };
  Binding binding{};
  std::string artifact;       // path
  std::string cuda_root;      // of the toolkit whose CUPTI records the calls; empty: nothing does
  std::string kernels_image;  // path of the image of the runner's own kernels; empty: there is none
  std::string symbol;
  bool destination_passing = false;
  std::vector<ChildTensor> inputs;  // scalars among them, in the order of the definition
  std::vector<ChildTensor> outputs;
  std::uint64_t workspace_bytes = 0;
  std::vector<ChildKernel> kernels;

  bool operator==(const ChildLoad&) const = default;
};

std::string encode_load(const ChildLoad& load);
std::optional<ChildLoad> decode_load(std::string_view payload);

// One thing to do.
struct ChildSample {
  enum class What : std::uint64_t {
    timed,         // a sample, as `plan` says
    empty_window,  // two events and nothing between them; `plan.blocking`
    make_slots,    // `number` of them
    fill_slot,     // slot `number`, from the memory of the inputs
    run_slots,     // `number` calls, each with the next slot
    run_nothing,   // the same loop with `launches` empty kernels for a call
    read_slot      // slot `number`, to the memory of the outputs
  };
  What what = What::timed;
  SamplePlan plan;
  std::uint64_t number = 0;
  std::uint64_t launches = 0;
};
std::string encode_sample(const ChildSample& sample);
std::optional<ChildSample> decode_sample(std::string_view payload);

// What came of it, and what ran on the device when CUPTI records.
struct ChildReport {
  SampleReport sample;
  CallActivities call;
};
std::string encode_report(const ChildReport& report);
std::optional<ChildReport> decode_report(std::string_view payload);

// The mode of the program. Returns the exit code.
int measuring_child_main();

}  // namespace kernelindex::runner
