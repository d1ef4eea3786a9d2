// SPDX-License-Identifier: Apache-2.0
#include "tools/local_manifest.h"

#include "tools/input_file.h"

namespace kernelindex::tools {

Result<Manifest> read_local_manifest(const std::string& name, std::string_view bytes) {
  Result<Manifest> manifest = read_manifest_file_text(bytes, manifest_syntax(name));
  if (!manifest) return fail_in(input_name(name), manifest.error());
  return manifest;
}

}  // namespace kernelindex::tools
