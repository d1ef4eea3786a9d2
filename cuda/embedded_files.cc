// SPDX-License-Identifier: Apache-2.0
#include "cuda/embedded_files.h"

namespace kernelindex::runner {

std::string_view embedded_file(std::string_view path) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path == path) return file.text;
  }
  return {};
}

}  // namespace kernelindex::runner
