// SPDX-License-Identifier: Apache-2.0
// Files that the runner brings along: the headers of the shim and the source of its own kernels.
#pragma once

#include <span>
#include <string_view>

namespace kernelindex::runner {

struct EmbeddedFile {
  std::string_view path;  // "shim/torch/extension.h"
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();
// The text of one; empty when there is none.
std::string_view embedded_file(std::string_view path);

}  // namespace kernelindex::runner
