// SPDX-License-Identifier: Apache-2.0
#include "cuda/number_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kernelindex::runner {
namespace {

constexpr Dtype kSmall[] = {Dtype::f16, Dtype::bf16, Dtype::f8_e4m3, Dtype::f8_e5m2,
                            Dtype::f4_e2m1};

// Every finite value of a format in order of magnitude, as bits without the sign.
std::vector<double> magnitudes(Dtype dtype) {
  std::vector<double> values;
  const std::uint64_t sign = std::uint64_t{1} << (dtype_bits(dtype) - 1);
  for (std::uint64_t bits = 0; bits < sign; ++bits) {
    const double value = decode_number(dtype, bits);
    if (!std::isfinite(value)) break;
    values.push_back(value);
  }
  return values;
}

// The nearest by search, ties to the even bits: no arithmetic in common with the code.
std::uint64_t nearest(const std::vector<double>& values, double magnitude) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double closer = std::fabs(values[i] - magnitude) - std::fabs(values[best] - magnitude);
    if (closer < 0 || (closer == 0 && i % 2 == 0)) best = i;
  }
  return best;
}

TEST(NumberFormat, EveryValueComesBackToItself) {
  for (const Dtype dtype : kSmall) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << dtype_bits(dtype); ++bits) {
      const double value = decode_number(dtype, bits);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_number(dtype, encode_number(dtype, value))));
      } else {
        ASSERT_EQ(encode_number(dtype, value), bits) << dtype_name(dtype) << " " << bits;
      }
    }
  }
}

TEST(NumberFormat, MidpointsGoToTheEvenNeighbourAndTheirNeighboursToTheNearer) {
  for (const Dtype dtype : kSmall) {
    const std::vector<double> values = magnitudes(dtype);
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double middle = (values[i] + values[i + 1]) / 2;
      ASSERT_EQ(encode_number(dtype, middle), i % 2 == 0 ? i : i + 1);
      ASSERT_EQ(encode_number(dtype, std::nextafter(middle, 0)), i);
      ASSERT_EQ(encode_number(dtype, std::nextafter(middle, 1e300)), i + 1);
    }
  }
}

TEST(NumberFormat, AgreesWithASearchOfTheNearestValue) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-12, 7);
  for (const Dtype dtype : {Dtype::f8_e4m3, Dtype::f8_e5m2, Dtype::f4_e2m1}) {
    const std::vector<double> values = magnitudes(dtype);
    for (int i = 0; i < 5000; ++i) {
      const double value = std::exp2(exponent(random));
      if (value > values.back()) continue;
      ASSERT_EQ(encode_number(dtype, value), nearest(values, value)) << value;
    }
  }
}

TEST(NumberFormat, KnownValues) {
  EXPECT_EQ(encode_number(Dtype::bf16, 1.0), 0x3f80u);
  EXPECT_EQ(encode_number(Dtype::bf16, -2.0), 0xc000u);
  EXPECT_EQ(encode_number(Dtype::f16, 1.0), 0x3c00u);
  EXPECT_EQ(encode_number(Dtype::f16, 65504.0), 0x7bffu);
  EXPECT_EQ(encode_number(Dtype::f16, 0x1p-24), 0x0001u);
  EXPECT_EQ(encode_number(Dtype::f8_e4m3, 448.0), 0x7eu);
  EXPECT_EQ(encode_number(Dtype::f8_e5m2, 57344.0), 0x7bu);
  EXPECT_EQ(encode_number(Dtype::f4_e2m1, 6.0), 0x7u);
  EXPECT_EQ(encode_number(Dtype::f4_e2m1, 0.5), 0x1u);
}

TEST(NumberFormat, WhatIsTooLargeOverflowsAsTheFormatSays) {
  EXPECT_EQ(encode_number(Dtype::f16, 65519.9), 0x7bffu);
  EXPECT_EQ(encode_number(Dtype::f16, 65520.0), 0x7c00u);  // halfway to the next power: infinity
  EXPECT_EQ(encode_number(Dtype::bf16, 3.4e38), 0x7f80u);
  EXPECT_EQ(encode_number(Dtype::f8_e4m3, 465.0), 0x7fu);
  EXPECT_EQ(encode_number(Dtype::f8_e5m2, 1e9), 0x7cu);
  EXPECT_EQ(encode_number(Dtype::f4_e2m1, 1e9), 0x7u);
}

// bf16 is the upper half of binary32, so rounding binary32 values has a second formula.
TEST(NumberFormat, Bf16OfAFloatIsItsUpperHalfRounded) {
  std::mt19937 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t word = random() & 0x7fffffff;
    const float value = std::bit_cast<float>(word);
    if (!std::isfinite(value)) continue;
    const std::uint32_t rounded = (word + 0x7fff + (word >> 16 & 1)) >> 16;
    ASSERT_EQ(encode_number(Dtype::bf16, static_cast<double>(value)), rounded) << word;
  }
}

// 1 + 2^-8 + 2^-40 is above the midpoint of bf16, but rounds to the midpoint in binary32.
TEST(NumberFormat, RoundsOnceAndNotThroughFloat) {
  EXPECT_EQ(encode_number(Dtype::bf16, 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(encode_number(Dtype::bf16, 1 + 0x1p-8), 0x3f80u);
}

TEST(NumberFormat, IntegersSaturateAndKeepTheirSign) {
  EXPECT_EQ(encode_number(Dtype::i8, 300), 0x7fu);
  EXPECT_EQ(encode_number(Dtype::i8, -300), 0x80u);
  EXPECT_EQ(decode_number(Dtype::i8, 0x80), -128);
  EXPECT_EQ(decode_number(Dtype::i32, 0xffffffff), -1);
  EXPECT_EQ(encode_number(Dtype::i32, 2.5), 2u);
  EXPECT_EQ(encode_number(Dtype::i64, 1e300), 0x7fffffffffffffffu);
  EXPECT_EQ(encode_number(Dtype::i64, -1e300), 0x8000000000000000u);
}

TEST(NumberFormat, NamesAreThoseOfManifestsAndDlpackCodesOfDlpack) {
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::boolean}) {
    EXPECT_EQ(dtype_from_name(dtype_name(dtype)), dtype);
  }
  EXPECT_FALSE(dtype_from_name("float"));
  EXPECT_EQ(dlpack_code(Dtype::bf16), 4 << 8 | 16);
  EXPECT_EQ(dlpack_code(Dtype::f32), 2 << 8 | 32);
  EXPECT_EQ(dlpack_code(Dtype::i32), 32);
}

}  // namespace
}  // namespace kernelindex::runner
