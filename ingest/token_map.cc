// SPDX-License-Identifier: Apache-2.0
#include "ingest/token_map.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "ingest/lower_case.h"

namespace kernelindex::ingest {
namespace {

using NameToToken = std::pair<std::string_view, std::string_view>;

constexpr std::array<NameToToken, 18> kDtypes = {{
    {"bfloat16", "bf16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"float64", "fp64"},
    {"double", "fp64"},
    {"float8_e4m3fn", "fp8_e4m3"},
    {"float8_e4m3", "fp8_e4m3"},
    {"float8_e5m2", "fp8_e5m2"},
    {"nvfp4", "nvfp4"},
    {"float4_e2m1", "fp4_e2m1"},
    {"int8", "int8"},
    {"int16", "int16"},
    {"int32", "int32"},
    {"int64", "int64"},
    {"uint8", "uint8"},
    {"bool", "bool"},
}};

constexpr std::array<NameToToken, 7> kLanguages = {{
    {"cuda_cpp", "cuda"},
    {"cute_dsl", "cute_dsl"},
    {"cutile", "cutile"},
    {"cutlass", "cutlass"},
    {"cudnn", "cudnn"},
    {"triton", "triton"},
    {"pytorch", "pytorch"},
}};

struct Device {
  std::string_view name;
  std::string_view product;
  std::string_view architecture;
};

constexpr std::array<Device, 7> kDevices = {{
    {"B200", "NVIDIA B200", "sm_100"},
    {"NVIDIA_B200", "NVIDIA B200", "sm_100"},
    {"GB200", "NVIDIA GB200", "sm_100"},
    {"H200", "NVIDIA H200", "sm_90"},
    {"H100", "NVIDIA H100", "sm_90"},
    {"NVIDIA_H100", "NVIDIA H100", "sm_90"},
    {"A100", "NVIDIA A100", "sm_80"},
}};

std::string mapped(std::span<const NameToToken> table, std::string_view name) {
  for (const auto& [listed, token] : table) {
    if (listed == name) return std::string(token);
  }
  return token_of(name);
}

}  // namespace

std::string token_of(std::string_view name) {
  std::string out;
  for (const char c : lower_case(name)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (kept) {
      out += c;
    } else if (byte < 0x80 || byte >= 0xC0) {
      out += byte >= 0xF0 ? "__" : "_";  // a character beyond U+FFFF has two code units
    }
  }
  return out;
}

std::string argument_name(std::string_view name) {
  std::string out = token_of(name);
  const bool starts_with_letter = !out.empty() && out[0] >= 'a' && out[0] <= 'z';
  return starts_with_letter ? out : "x_" + out;
}

std::string dtype_token(std::string_view dtype) { return mapped(kDtypes, dtype); }

std::string language_token(std::string_view language) { return mapped(kLanguages, language); }

Hardware hardware_of(std::string_view name) {
  const auto* device = std::ranges::find(kDevices, name, &Device::name);
  if (device != kDevices.end()) {
    return {"nvidia", std::string(device->product), std::string(device->architecture), true};
  }
  std::string product(name);
  std::ranges::replace(product, '_', ' ');
  return {"nvidia", std::move(product), "unknown", false};
}

}  // namespace kernelindex::ingest
