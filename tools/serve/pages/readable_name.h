// SPDX-License-Identifier: Apache-2.0
// The names that benchmarks give their operations, as people would write them. Only for showing:
// links, search and machine output keep the name as it was given.
//
//   079_ImageNet_83.6_ssm_output_projection_gate_multiply_backward
//   ImageNet 83.6 SSM output projection gate multiply backward
#pragma once

#include <string>
#include <string_view>

namespace kernelindex::serve {

// One rule: a name with a space in it was written for people and stays, but for words in it that
// are such names by their number ("Databricks · 079_ImageNet_…"). Of a name without a space a
// leading number of three digits goes (it numbers the kernels of one subset), underscores become
// spaces, words of the field's table take their spelling there, and the first letter is a capital.
// So the letters and digits behind the number stay, in their order, and change their case alone.
// Empty for a name that is empty.
std::string readable_name(std::string_view name);

}  // namespace kernelindex::serve
