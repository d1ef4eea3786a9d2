// SPDX-License-Identifier: Apache-2.0
#include "cuda/safetensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "schema/json_reader.h"
#include "schema/json_value.h"

namespace kernelindex::runner {
namespace {

constexpr std::array<std::pair<std::string_view, Dtype>, 11> kTypes = {{{"F64", Dtype::f64},
                                                                        {"F32", Dtype::f32},
                                                                        {"F16", Dtype::f16},
                                                                        {"BF16", Dtype::bf16},
                                                                        {"F8_E4M3", Dtype::f8_e4m3},
                                                                        {"F8_E5M2", Dtype::f8_e5m2},
                                                                        {"I8", Dtype::i8},
                                                                        {"I16", Dtype::i16},
                                                                        {"I32", Dtype::i32},
                                                                        {"I64", Dtype::i64},
                                                                        {"BOOL", Dtype::boolean}}};

std::unexpected<Error> bad(std::string place, std::string message) {
  return fail(ErrorKind::invalid, "BAD_SAFETENSORS", std::move(place), std::move(message),
              "Give the file as its source published it");
}

std::optional<std::uint64_t> whole_number(const json::Value& value) {
  if (!value.is_number() || value.number() < 0 || value.number() > limits::kSafeInteger ||
      value.number() != std::floor(value.number())) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(value.number());
}

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Result<HostTensor> read_tensor(std::string_view name, const json::Value& entry,
                               std::string_view data, std::vector<Extent>& extents_seen) {
  const std::string place(name);
  const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&entry](const auto& row) {
    return row.first == entry.text("dtype");
  });
  if (type == kTypes.end()) return bad(place, "the type of this tensor is not known");
  const json::Value* shape = entry.find("shape");
  const json::Value* offsets = entry.find("data_offsets");
  if (shape == nullptr || !shape->is_array() || offsets == nullptr || !offsets->is_array() ||
      offsets->array().size() != 2) {
    return bad(place, "a tensor needs a shape and two data_offsets");
  }
  std::vector<std::int64_t> sizes;
  for (const json::Value& item : shape->array()) {
    const std::optional<std::uint64_t> extent = whole_number(item);
    if (!extent) return bad(place, "an extent of the shape is not a whole number");
    sizes.push_back(static_cast<std::int64_t>(*extent));
  }
  const std::optional<std::int64_t> count = element_count(sizes);
  if (!count) return bad(place, "the shape has too many dimensions or elements");
  const auto begin = whole_number(offsets->array()[0]);
  const auto end = whole_number(offsets->array()[1]);
  if (!begin || !end || *begin > *end || *end > data.size()) {
    return bad(place, "the data of this tensor lie outside of the file");
  }
  if (*end - *begin != static_cast<std::uint64_t>(*count) * dtype_bits(type->second) / 8) {
    return bad(place, "the data of this tensor have another size than its type and shape");
  }
  extents_seen.push_back({*begin, *end});
  HostTensor tensor(place, type->second, std::move(sizes));
  std::copy_n(data.data() + *begin, *end - *begin, reinterpret_cast<char*>(tensor.bytes().data()));
  return tensor;
}

}  // namespace

Result<std::map<std::string, HostTensor, std::less<>>> read_safetensors(std::string_view bytes) {
  if (bytes.size() < 8) return bad({}, "the file has less than eight bytes");
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  if (length > kSafetensorsHeaderBytes) return bad({}, "the header is longer than 1 MiB");
  if (length > bytes.size() - 8) return bad({}, "the header is longer than the file");
  json::Arena arena;
  const Result<json::Value> header =
      json::parse(bytes.substr(8, length), arena, {.bytes = kSafetensorsHeaderBytes, .depth = 4});
  if (!header) return bad("header", header.error().text());
  if (!header->is_object()) return bad("header", "the header is no object");
  if (header->object().size() > kSafetensorsTensors) return bad({}, "there are too many tensors");
  const std::string_view data = bytes.substr(8 + length);
  std::map<std::string, HostTensor, std::less<>> tensors;
  std::vector<Extent> seen;
  for (const json::Member& member : header->object()) {
    if (member.name == "__metadata__") continue;
    Result<HostTensor> tensor = read_tensor(member.name, member.value, data, seen);
    if (!tensor) return fail(tensor.error());
    tensors.emplace(std::string(member.name), std::move(*tensor));
  }
  std::sort(seen.begin(), seen.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Extent& extent : seen) {
    if (extent.begin != at) return bad({}, "the data overlap or have holes");
    at = extent.end;
  }
  if (at != data.size()) return bad({}, "there are bytes that no tensor names");
  return tensors;
}

}  // namespace kernelindex::runner
