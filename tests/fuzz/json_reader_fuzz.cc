// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes go through the strict reader and through the one that collects defects.
//
// Invariants:
// - what the strict reader takes prints canonically, and the canonical text reads back to itself;
// - it is taken by the collecting reader too, with the same canonical text, and the only defects
// found
//   are integers beyond 2^53 - 1;
// - what the collecting reader takes without a defect, the strict reader takes;
// - every value lies inside the document, its children inside it, in order;
// - every error is of kind invalid, has a code, and a place unless it is about the size.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

constexpr json::ReadLimits kLimits = {64 * limits::kKiB, limits::kJsonDepth};

void check_places(const json::Value& value, std::size_t begin, std::size_t end) {
  FUZZ_CHECK(begin <= value.begin() && value.begin() <= value.end() && value.end() <= end);
  std::size_t from = value.begin();
  if (value.is_array()) {
    for (const json::Value& item : value.array()) {
      check_places(item, from, value.end());
      from = item.end();
    }
  }
  if (value.is_object()) {
    for (const json::Member& member : value.object()) {
      check_places(member.value, from, value.end());
      from = member.value.end();
    }
  }
}

void check_error(const Error& error) {
  FUZZ_CHECK(error.kind == ErrorKind::invalid);
  FUZZ_CHECK(!error.code.empty() && !error.message.empty());
  FUZZ_CHECK(!error.place.empty() || error.code == "TOO_LARGE");
}

void check_document(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> strict = json::parse(text, arena, kLimits);
  std::vector<json::Defect> defects;
  const Result<json::Value> loose = json::parse_collecting_defects(text, arena, kLimits, defects);
  if (!loose) check_error(loose.error());
  if (loose) check_places(*loose, 0, text.size());
  if (!strict) {
    check_error(strict.error());
    FUZZ_CHECK(!loose || !defects.empty());
    return;
  }
  check_places(*strict, 0, text.size());
  const std::string canonical = json::canonical(*strict);
  FUZZ_CHECK(loose.has_value());
  FUZZ_CHECK(json::canonical(*loose) == canonical);
  for (const json::Defect& defect : defects) {
    FUZZ_CHECK(defect.code == "UNSAFE_INTEGER");
    FUZZ_CHECK(defect.offset < text.size());
  }
  const Result<json::Value> again =
      json::parse(canonical, arena, {limits::kAnyJsonBytes, kLimits.depth});
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(json::canonical(*again) == canonical);
}

}  // namespace
}  // namespace kernelindex

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kernelindex::check_document({reinterpret_cast<const char*>(data), size});
  return 0;
}
