// SPDX-License-Identifier: Apache-2.0
#include "cuda/number_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace kernelindex::runner {
namespace {

// A binary format with a sign: bits = sign, exponent, mantissa.
struct FloatFormat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  std::uint64_t largest_bits = 0;  // of the largest finite magnitude
  bool has_infinity = false;
  bool has_nan = false;

  int smallest_exponent() const { return 2 - (1 << (exponent_bits - 1)); }
  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

constexpr FloatFormat kF16{5, 10, 0x7bff, true, true};
constexpr FloatFormat kBf16{8, 7, 0x7f7f, true, true};
constexpr FloatFormat kE4m3{4, 3, 0x7e, false, true};
constexpr FloatFormat kE5m2{5, 2, 0x7b, true, true};
constexpr FloatFormat kE2m1{2, 1, 0x7, false, false};

std::uint64_t nan_bits(const FloatFormat& format) {
  if (!format.has_nan) return 0;
  if (!format.has_infinity) return (std::uint64_t{1} << (format.bits() - 1)) - 1;  // E4M3: all ones
  return format.largest_bits + 1 + (std::uint64_t{1} << (format.mantissa_bits - 1));
}

std::uint64_t overflow_bits(const FloatFormat& format) {
  if (format.has_infinity) return format.largest_bits + 1;
  return format.has_nan ? nan_bits(format) : format.largest_bits;
}

std::uint64_t encode_small(const FloatFormat& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (format.bits() - 1) : 0;
  if (std::isnan(value)) return nan_bits(format);
  if (std::isinf(value)) return sign | overflow_bits(format);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), format.smallest_exponent());
  // Scaled so that one unit is the last place; below 2^53, so nearbyint rounds once and exactly.
  const double units = std::nearbyint(std::scalbn(magnitude, format.mantissa_bits - exponent));
  // A carry out of the mantissa runs into the exponent by itself, and subnormals have exponent 0.
  const auto biased = static_cast<std::uint64_t>(exponent - format.smallest_exponent());
  const std::uint64_t bits = (biased << format.mantissa_bits) + static_cast<std::uint64_t>(units);
  return sign | (bits > format.largest_bits ? overflow_bits(format) : bits);
}

double decode_small(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t sign_bit = std::uint64_t{1} << (format.bits() - 1);
  const double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & (sign_bit - 1);
  if (magnitude > format.largest_bits) {
    if (format.has_infinity && magnitude == format.largest_bits + 1) {
      return sign * std::numeric_limits<double>::infinity();
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint64_t hidden = std::uint64_t{1} << format.mantissa_bits;
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const std::uint64_t mantissa = magnitude & (hidden - 1);
  const auto units = static_cast<double>(exponent == 0 ? mantissa : mantissa + hidden);
  return sign * std::scalbn(units, format.smallest_exponent() + std::max(exponent - 1, 0) -
                                       format.mantissa_bits);
}

const FloatFormat* small_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return &kF16;
    case Dtype::bf16:
      return &kBf16;
    case Dtype::f8_e4m3:
      return &kE4m3;
    case Dtype::f8_e5m2:
      return &kE5m2;
    case Dtype::f4_e2m1:
      return &kE2m1;
    default:
      return nullptr;
  }
}

// Integers: the value to nearest even, kept inside of [-2^(bits-1), 2^(bits-1) - 1].
std::uint64_t encode_integer(unsigned bits, double value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(value);
  const double limit = std::scalbn(1.0, static_cast<int>(bits) - 1);
  std::int64_t integer = 0;
  if (rounded >= limit) {
    integer = static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1);
  } else if (rounded <= -limit) {
    integer = -static_cast<std::int64_t>((std::uint64_t{1} << (bits - 1)) - 1) - 1;
  } else {
    integer = static_cast<std::int64_t>(rounded);
  }
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return static_cast<std::uint64_t>(integer) & mask;
}

double decode_integer(unsigned bits, std::uint64_t word) {
  const unsigned shift = 64 - bits;
  return static_cast<double>(static_cast<std::int64_t>(word << shift) >> shift);
}

struct NamedDtype {
  Dtype dtype;
  std::string_view name;
  unsigned bits;
  int dlpack;  // type code
};
// DLPack 1.1: int 0, uint 1, float 2, bfloat 4, bool 6, e4m3fn 10, e5m2 12, e2m1fn 17.
constexpr std::array kDtypes = {
    NamedDtype{Dtype::f64, "fp64", 64, 2},         NamedDtype{Dtype::f32, "fp32", 32, 2},
    NamedDtype{Dtype::f16, "fp16", 16, 2},         NamedDtype{Dtype::bf16, "bf16", 16, 4},
    NamedDtype{Dtype::f8_e4m3, "fp8_e4m3", 8, 10}, NamedDtype{Dtype::f8_e5m2, "fp8_e5m2", 8, 12},
    NamedDtype{Dtype::f4_e2m1, "fp4_e2m1", 4, 17}, NamedDtype{Dtype::i8, "int8", 8, 0},
    NamedDtype{Dtype::i16, "int16", 16, 0},        NamedDtype{Dtype::i32, "int32", 32, 0},
    NamedDtype{Dtype::i64, "int64", 64, 0},        NamedDtype{Dtype::boolean, "bool", 8, 6}};

const NamedDtype& row_of(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view dtype_name(Dtype dtype) { return row_of(dtype).name; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const NamedDtype& row : kDtypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

unsigned dtype_bits(Dtype dtype) { return row_of(dtype).bits; }
bool is_floating(Dtype dtype) { return dtype <= Dtype::f4_e2m1; }
std::int32_t dlpack_code(Dtype dtype) {
  return row_of(dtype).dlpack << 8 | static_cast<std::int32_t>(row_of(dtype).bits);
}

std::uint64_t encode_number(Dtype dtype, double value) {
  if (const FloatFormat* format = small_format(dtype)) return encode_small(*format, value);
  switch (dtype) {
    case Dtype::f64:
      return std::bit_cast<std::uint64_t>(value);
    case Dtype::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Dtype::boolean:
      return value != 0 ? 1 : 0;
    default:
      return encode_integer(dtype_bits(dtype), value);
  }
}

double decode_number(Dtype dtype, std::uint64_t bits) {
  // The two that inputs mostly are, without the general way.
  if (dtype == Dtype::bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  if (dtype == Dtype::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (const FloatFormat* format = small_format(dtype)) return decode_small(*format, bits);
  if (dtype == Dtype::f64) return std::bit_cast<double>(bits);
  if (dtype == Dtype::boolean) return bits != 0 ? 1 : 0;
  return decode_integer(dtype_bits(dtype), bits);
}

double round_to(Dtype dtype, double value) {
  return decode_number(dtype, encode_number(dtype, value));
}

double largest_value(Dtype dtype) {
  if (const FloatFormat* format = small_format(dtype)) {
    return decode_small(*format, format->largest_bits);
  }
  switch (dtype) {
    case Dtype::f64:
      return std::numeric_limits<double>::max();
    case Dtype::f32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case Dtype::boolean:
      return 1;
    default:
      return std::scalbn(1.0, static_cast<int>(dtype_bits(dtype)) - 1) - 1;
  }
}

double smallest_value(Dtype dtype) {
  if (const FloatFormat* format = small_format(dtype)) return decode_small(*format, 1);
  if (dtype == Dtype::f64) return std::numeric_limits<double>::denorm_min();
  if (dtype == Dtype::f32) return static_cast<double>(std::numeric_limits<float>::denorm_min());
  return 1;
}

}  // namespace kernelindex::runner
