// SPDX-License-Identifier: Apache-2.0
// YAML authoring: a manifest written by hand, read into the same values as JSON. The only door to
// libfyaml.
//
// What YAML adds over JSON is narrowed to what cannot surprise: exactly one document, no tags, no
// directives, no duplicate keys, `<<` is a key like any other, at most 100 aliases and 100,000
// nodes after expansion. Plain scalars mean what the core schema of YAML 1.2 says ("no" is a text),
// infinity and NaN are refused, and a key that would not be a text has to be quoted.
#pragma once

#include <string_view>

#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex {

// Reads one YAML document of at most 1 MiB. The values need nothing but the arena, carry byte
// offsets in `text`, and never hold a duplicate name. Errors have kind invalid and a place
// "line:column".
Result<json::Value> parse_yaml(std::string_view text, json::Arena& arena);

enum class ManifestSyntax {
  detect,  // JSON when the first character is an opening brace, else YAML
  json,
  yaml,
};

// Reads the text of a manifest file. parse_ gives the document unchecked, for validate_manifest.
Result<json::Value> parse_manifest_file_text(std::string_view text, json::Arena& arena,
                                             ManifestSyntax syntax = ManifestSyntax::detect);
Result<Manifest> read_manifest_file_text(std::string_view text,
                                         ManifestSyntax syntax = ManifestSyntax::detect);

}  // namespace kernelindex
