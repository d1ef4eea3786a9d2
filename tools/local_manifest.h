// SPDX-License-Identifier: Apache-2.0
// How `add` reads a file: the parser that its import statements name, so that `audit --reimport`
// can read the kept bytes again.
#pragma once

#include <string>
#include <string_view>

#include "ledger/entry.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::tools {

inline constexpr std::string_view kLocalSource = "local";  // a file can name no other
inline constexpr std::string_view kAddParser = "add";
inline constexpr std::string_view kAddParserVersion = "1";

// The manifest in a file of that name.
Result<Manifest> read_local_manifest(const std::string& name, std::string_view bytes);

}  // namespace kernelindex::tools
