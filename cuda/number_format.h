// SPDX-License-Identifier: Apache-2.0
// The number formats of tensors: binary64 to each with one rounding to nearest, ties to even, and
// back. PROTOCOL section 3.2.
//
// Rounding goes straight from binary64: going through binary32 would round twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelindex::runner {

enum class Dtype : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8_e4m3,  // OCP E4M3: no infinities, largest 448
  f8_e5m2,  // OCP E5M2
  f4_e2m1,  // OCP E2M1, two in a byte, the first in the low half
  i8,
  i16,
  i32,
  i64,
  boolean,
};

// The name in manifests: "bf16", "fp32", "fp8_e4m3", "int32", "bool".
std::string_view dtype_name(Dtype dtype);
std::optional<Dtype> dtype_from_name(std::string_view name);
// 4, 8, 16, 32 or 64.
unsigned dtype_bits(Dtype dtype);
bool is_floating(Dtype dtype);
// The packed DLPack code of ki-abi/1: code << 8 | bits. REFERENCES section 4.1.
std::int32_t dlpack_code(Dtype dtype);

// The bits of `value` in the format, in the low bits of the word. Floating formats: what is too
// large becomes infinite, NaN in E4M3, the largest in E2M1; NaN becomes a quiet one, 0 in E2M1,
// which has none. Integers: to nearest even, saturated; NaN is 0. Booleans: whether it is not 0.
std::uint64_t encode_number(Dtype dtype, double value);
// The exact value of the bits; int64 beyond 2^53 is rounded, so integers are compared as bits.
double decode_number(Dtype dtype, std::uint64_t bits);
// decode(encode(value)): the rounding point q() of the references.
double round_to(Dtype dtype, double value);
// The largest finite value; of integers, the largest.
double largest_value(Dtype dtype);
// The smallest positive value: a subnormal of the floating formats, 1 of integers.
double smallest_value(Dtype dtype);

}  // namespace kernelindex::runner
