// SPDX-License-Identifier: Apache-2.0
// What this machine has of what a controlled measurement needs, and what it lacks.
#pragma once

#include <string>
#include <vector>

namespace kernelindex::runner {

// The mode `doctor [--json]`: 0 when everything is there that builds and measures, else 1.
int doctor_main(const std::vector<std::string>& arguments);

}  // namespace kernelindex::runner
