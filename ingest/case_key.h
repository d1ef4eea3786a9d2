// SPDX-License-Identifier: Apache-2.0
// How a source's case of a workload is named when it has no id of its own: by its axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelindex::ingest {

struct AxisValue {
  std::string_view name;  // in the case the source wrote
  double value = 0;
};

// Negative, zero or positive as `a` sorts before, with or after `b` in the root collation of
// Unicode, for names of letters, digits and underscores: position by position underscore, digits,
// letters of either case; the shorter first; on a tie the first difference decides, lower case
// before upper. It is not byte order: x_2 < X_2 < x2, hidden_size < M < num_experts.
int compare_axis_names(std::string_view a, std::string_view b);

// First 12 hex digits of the SHA-256 of the axes as compact JSON, sorted by compare_axis_names().
// {"batch_size":64,"head_dim":64,"hidden_size":2048,"num_heads":32,"seq_len":128}: edabdcf4bcec.
// A key is unique within one definition only.
std::string case_key(std::vector<AxisValue> axes);

}  // namespace kernelindex::ingest
