// SPDX-License-Identifier: Apache-2.0
// kernelindex-runner: its modes. See README.md.
#include <cstdio>
#include <string>
#include <vector>

#include "cuda/kernel_builder.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string mode = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1),
                                      arguments.end());
  if (mode == "role-nvrtc") return kernelindex::runner::nvrtc_main(rest);
  std::fprintf(stderr, "usage: kernelindex-runner measure | calibrate | doctor\n");
  return 2;
}
