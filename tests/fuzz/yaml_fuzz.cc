// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes are read as YAML; the seeds use every feature that is taken or refused.
//
// Invariants:
// - what is taken is valid for the strict JSON reader once printed canonically: no duplicate names,
// no
//   bad UTF-8, no number without a JSON value, no nesting beyond the limit;
// - its canonical text, read as YAML, is either refused or gives the same value;
// - aliases never make it larger than the bounds say;
// - every error is of kind invalid and has a code and a message, and nothing is written to stderr;
// - reading as a manifest agrees with reading the values and validating them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/yaml_reader.h"

namespace kernelindex {
namespace {

std::size_t count_nodes(const json::Value& value) {
  std::size_t count = 1;
  if (value.is_array()) {
    for (const json::Value& item : value.array()) count += count_nodes(item);
  }
  if (value.is_object()) {
    for (const json::Member& member : value.object()) count += count_nodes(member.value);
  }
  return count;
}

void check_document(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = parse_yaml(text, arena);
  if (!value) {
    FUZZ_CHECK(value.error().kind == ErrorKind::invalid);
    FUZZ_CHECK(!value.error().code.empty() && !value.error().message.empty());
    return;
  }
  FUZZ_CHECK(value->begin() <= text.size());
  FUZZ_CHECK(count_nodes(*value) <= limits::kYamlNodes);
  const std::string canonical = json::canonical(*value);
  const Result<json::Value> as_json = json::parse(canonical, arena, {limits::kAnyJsonBytes});
  FUZZ_CHECK(as_json.has_value());
  FUZZ_CHECK(json::canonical(*as_json) == canonical);
  const Result<json::Value> as_yaml = parse_yaml(canonical, arena);
  FUZZ_CHECK(!as_yaml || json::canonical(*as_yaml) == canonical);
  const bool valid = read_manifest_file_text(text, ManifestSyntax::yaml).has_value();
  FUZZ_CHECK(valid == validate_manifest(*value).empty() ||
             canonical.size() > limits::kManifestBytes);
}

}  // namespace
}  // namespace kernelindex

// libfyaml 0.7.12 leaks a buffer of two kilobytes on some malformed quoted scalars.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfyaml"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kernelindex::check_document({reinterpret_cast<const char*>(data), size});
  return 0;
}
