// SPDX-License-Identifier: Apache-2.0
// Whole small files, read with a bound.
#pragma once

#include <cstddef>
#include <string>

#include "schema/result.h"
#include "schema/yaml_reader.h"

namespace kernelindex::tools {

// The bytes of a file, or of standard input for "-". Not there: not_found. Larger than `limit`:
// invalid, without reading more than that. Anything else: system.
Result<std::string> read_input(const std::string& path, std::size_t limit);

// What errors call it.
std::string input_name(const std::string& path);

// How a manifest is written, by the extension of its name; other names are looked into.
ManifestSyntax manifest_syntax(const std::string& path);

}  // namespace kernelindex::tools
