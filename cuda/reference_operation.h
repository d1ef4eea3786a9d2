// SPDX-License-Identifier: Apache-2.0
// The operations whose results we compute ourselves, in binary64 from the stored inputs, with
// exactly the rounding points that the definition's own code has. REFERENCES section 1, rows 1
// to 12.
//
// A reference gives any stretch of any row of any output alone, so that 64 rows of a large output
// cost 64 rows. Everything here is pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/host_tensor.h"
#include "cuda/input_distribution.h"
#include "schema/digest.h"

namespace kernelindex::runner {

// What a tensor means to the families of inputs and the controls.
enum class InputRole : std::uint8_t {
  data,      // its rows are scaled, made constant, given extremes
  weight,    // a control ignores it
  residual,  // likewise
  index,     // never changed
  scalar,    // the workload's value, exactly
};

struct InputSpec {
  std::string_view name;             // as manifests spell it
  std::string_view definition_name;  // as the definition spells it; the name rule is about this
  Dtype dtype{};                     // of a scalar: f64
  std::vector<std::string_view> axes;
  InputRole role{};
  // The definition's own generator where it has one; else the name rule.
  std::string_view scaled_by_axis = {};  // N / sqrt(extent of that axis)
};

struct OutputSpec {
  std::string_view name;
  Dtype dtype{};
  std::vector<std::string_view> axes;
  std::string_view summed_axis = {};  // an element is a sum over this axis
};

// The values of all axes of a workload, constants included.
using Axes = std::map<std::string, std::int64_t, std::less<>>;

// What an operation is applied to.
struct Arguments {
  Axes axes;
  std::vector<HostTensor> inputs;  // in the order of the operation
  // A control: only this share of each reduction is done. 1 for everything that counts.
  double kept = 1;

  std::int64_t kept_of(std::int64_t length) const {
    return static_cast<std::int64_t>(static_cast<double>(length) * kept);
  }
};

struct ReferenceOperation {
  std::string_view name;      // "rmsnorm-h4096"
  std::string_view identity;  // identity digest of the OperationSpec, 64 hex digits
  Axes constants;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  // The values of columns [first, first + out.size()) of one row of an output; a row is the last
  // dimension.
  void (*evaluate)(const Arguments&, std::size_t output, std::int64_t row, std::int64_t first,
                   std::span<double> out);
  // The largest magnitude with which family C4 leaves the definition's own arithmetic finite.
  double extreme = 0;
  // For family C3: the input whose rows become one-hot and the one whose rows come back bit for
  // bit; absent where the operation has no such probe.
  struct Probe {
    std::size_t one_hot = 0;
    std::size_t returned = 0;
    bool transposed = false;  // the returned matrix lies [out, in]: columns come back
  };
  std::optional<Probe> probe = {};
  bool exact = false;          // each output element is one rounding: compared bit for bit
  bool reduces = true;         // has a reduction that a control can cut short
  double work_per_output = 0;  // floating-point operations for one output element and summand
};

// All rows, in the order of REFERENCES.
std::span<const ReferenceOperation> reference_operations();
// By the identity digest of the OperationSpec; null when there is none.
const ReferenceOperation* find_reference(const Digest& operation);
const ReferenceOperation* find_reference(std::string_view name);

// The extents of a list of axes; nothing when one has no value.
std::optional<std::vector<std::int64_t>> extents(std::span<const std::string_view> names,
                                                 const Axes& axes);
// Constants and the workload's own values together. Errors (invalid): UNKNOWN_AXIS, MISSING_AXIS,
// AXIS_RANGE (below 0, or a tensor of the operation above kTensorElements), WRONG_CONSTANT.
Result<Axes> bind_axes(const ReferenceOperation& operation, const Axes& given);

// A whole output, as the definition stores it.
HostTensor evaluate_output(const ReferenceOperation& operation, const Arguments& arguments,
                           std::size_t output);

// Compulsory traffic: each input byte that influences the output once, each output byte once.
std::int64_t compulsory_bytes(const ReferenceOperation& operation, const Arguments& arguments);
double floating_operations(const ReferenceOperation& operation, const Arguments& arguments);

}  // namespace kernelindex::runner
