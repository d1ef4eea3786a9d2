// SPDX-License-Identifier: Apache-2.0
#include "cuda/input_distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace kernelindex::runner {
namespace {

using Kind = Distribution::Kind;

std::string sqrt_text(double scale) {
  return "/sqrt(" + std::to_string(std::llround(1 / (scale * scale))) + ")";
}

bool contains_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [name](std::string_view word) { return name.find(word) != name.npos; });
}

double value_of(const Distribution& distribution, const WordStream& words, std::uint64_t element) {
  switch (distribution.kind) {
    case Kind::normal:
      return standard_normal(words, element) * distribution.scale;
    case Kind::clamped_normal:
      return std::clamp(standard_normal(words, element), -2.0, 2.0);
    case Kind::decay:
      return -1.0 + 0.999 * unit_interval(words.word(element));
    case Kind::ones:
      return 1;
    case Kind::zeros:
      return 0;
    case Kind::positive_normal:
      return std::fabs(standard_normal(words, element)) + 0.1;
    case Kind::cosine:
      return std::cos(2 * std::numbers::pi * unit_interval(words.word(element)));
    case Kind::sine:
      return std::sin(2 * std::numbers::pi * unit_interval(words.word(element)));
    case Kind::integers:
      return std::floor(unit_interval(words.word(element)) *
                        static_cast<double>(2 * distribution.range)) -
             static_cast<double>(distribution.range);
    case Kind::coin:
      return words.word(element) >> 31;
    case Kind::row_members:
      return std::floor(unit_interval(words.word(element)) *
                        static_cast<double>(distribution.range));
    case Kind::softmax:
    case Kind::row_starts:
      break;  // of a whole row, below
  }
  return 0;
}

// Cut points of [0, total], sorted, with both ends.
void fill_row_starts(HostTensor& tensor, std::int64_t total, const WordStream& words) {
  std::vector<double> cuts;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    cuts.push_back(std::floor(unit_interval(words.word(static_cast<std::uint64_t>(i))) *
                              static_cast<double>(total + 1)));
  }
  if (!cuts.empty()) cuts.front() = 0;
  if (cuts.size() > 1) cuts.back() = static_cast<double>(total);
  std::sort(cuts.begin(), cuts.end());
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    tensor.set(i, cuts[static_cast<std::size_t>(i)]);
  }
}

void fill_softmax(HostTensor& tensor, const WordStream& words) {
  const std::int64_t length = tensor.row_length();
  std::vector<double> row(static_cast<std::size_t>(length));
  for (std::int64_t start = 0; start < tensor.count(); start += length) {
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      sum += row[static_cast<std::size_t>(i)] =
          std::exp(standard_normal(words, static_cast<std::uint64_t>(start + i)));
    }
    for (std::int64_t i = 0; i < length; ++i) {
      tensor.set(start + i, row[static_cast<std::size_t>(i)] / sum);
    }
  }
}

// Both normals of a pair at once: half the logarithms.
void fill_normal(HostTensor& tensor, double scale, const WordStream& words) {
  for (std::int64_t i = 0; i < tensor.count(); i += 4) {
    const PhiloxCounter block = words.block(static_cast<std::uint64_t>(i) / 4);
    for (std::int64_t pair = 0; pair < 4; pair += 2) {
      const auto at = static_cast<std::size_t>(pair);
      const double radius = std::sqrt(-2 * std::log(unit_interval(block[at])));
      const double angle = 2 * std::numbers::pi * unit_interval(block[at + 1]);
      if (i + pair < tensor.count()) tensor.set(i + pair, radius * std::cos(angle) * scale);
      if (i + pair + 1 < tensor.count()) tensor.set(i + pair + 1, radius * std::sin(angle) * scale);
    }
  }
}

}  // namespace

std::string Distribution::text() const {
  switch (kind) {
    case Kind::normal:
      return scale == 1 ? "sol:normal" : "sol:normal" + sqrt_text(scale);
    case Kind::clamped_normal:
      return "sol:normal_clamped_2";
    case Kind::decay:
      return "sol:ssm_decay_A";
    case Kind::ones:
      return "sol:ones";
    case Kind::zeros:
      return "sol:zeros";
    case Kind::positive_normal:
      return "sol:abs_normal_plus_0.1";
    case Kind::cosine:
      return "sol:cos";
    case Kind::sine:
      return "sol:sin";
    case Kind::softmax:
      return "sol:softmax_rows";
    case Kind::integers:
      return "sol:uniform_" + std::to_string(range);
    case Kind::coin:
      return "sol:bernoulli";
    case Kind::row_starts:
      return "ki:row_starts";
    case Kind::row_members:
      return "ki:row_members";
  }
  return {};
}

Distribution sol_distribution(std::string_view name, Dtype dtype,
                              std::span<const std::int64_t> shape) {
  if (dtype == Dtype::boolean) return {Kind::coin, 1, 0};
  if (dtype == Dtype::i8) return {Kind::integers, 1, 128};
  if (!is_floating(dtype)) return {Kind::integers, 1, 1024};
  if (dtype == Dtype::f8_e4m3 || dtype == Dtype::f8_e5m2) return {Kind::clamped_normal, 1, 0};
  if (name == "A") return {Kind::decay, 1, 0};
  if (name.ends_with("_norm_weight")) return {Kind::ones, 1, 0};
  if (name.ends_with("_norm_bias")) return {Kind::zeros, 1, 0};
  if (shape.size() >= 2 && (name.ends_with("_proj") || name.ends_with("_weight"))) {
    return {Kind::normal, 1 / std::sqrt(static_cast<double>(shape.back())), 0};
  }
  if (name == "cos" || name == "rope_cos" || name == "cos_cached") return {Kind::cosine, 1, 0};
  if (name == "sin" || name == "rope_sin" || name == "sin_cached") return {Kind::sine, 1, 0};
  if (name == "attn_weights") return {Kind::softmax, 1, 0};
  if (contains_any(name, {"rstd", "var"})) return {Kind::positive_normal, 1, 0};
  return {};
}

double unit_interval(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

double standard_normal(const WordStream& words, std::uint64_t element) {
  const PhiloxCounter block = words.block(element / 4);
  const std::size_t pair = element % 4 / 2 * 2;
  const double radius = std::sqrt(-2 * std::log(unit_interval(block[pair])));
  const double angle = 2 * std::numbers::pi * unit_interval(block[pair + 1]);
  return radius * (element % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

void fill(HostTensor& tensor, const Distribution& distribution, const WordStream& words) {
  switch (distribution.kind) {
    case Kind::normal:
      return fill_normal(tensor, distribution.scale, words);
    case Kind::row_starts:
      return fill_row_starts(tensor, distribution.range, words);
    case Kind::softmax:
      return fill_softmax(tensor, words);
    default:
      for (std::int64_t i = 0; i < tensor.count(); ++i) {
        tensor.set(i, value_of(distribution, words, static_cast<std::uint64_t>(i)));
      }
  }
}

}  // namespace kernelindex::runner
