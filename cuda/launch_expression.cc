// SPDX-License-Identifier: Apache-2.0
#include "cuda/launch_expression.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>

namespace kernelindex::runner {
namespace {

constexpr std::size_t kExpressionBytes = 200;
constexpr int kExpressionDepth = 32;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Recursive descent; after the first error every step gives 0 and the error stands.
class Parser {
 public:
  Parser(std::string_view text, const Axes& axes) : text_(text), axes_(axes) {}

  Result<std::int64_t> run() {
    if (text_.size() > kExpressionBytes) {
      set_error("BAD_EXPRESSION", "an expression has at most 200 bytes");
      return fail(*error_);
    }
    const std::int64_t value = sum(0);
    skip_spaces();
    if (!error_ && at_ != text_.size()) set_error("BAD_EXPRESSION", "this is no expression");
    if (error_) return fail(*error_);
    return value;
  }

 private:
  void set_error(std::string code, std::string message) {
    if (error_) return;
    error_ = Error{ErrorKind::invalid, std::move(code), std::string(text_.substr(0, 200)),
                   std::move(message),
                   "Use integers, names of axes, + - * / % ( ), ceil_div, min and max"};
    at_ = text_.size();
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // By reference: the overflow and the value come from one call, in any order of the arguments.
  std::int64_t checked(bool overflow, const std::int64_t& value) {
    if (overflow) set_error("EXPRESSION_OVERFLOW", "a value does not fit 64 bits");
    return error_ ? 0 : value;
  }

  std::int64_t sum(int depth) {
    if (depth > kExpressionDepth) {
      set_error("BAD_EXPRESSION", "an expression is at most 32 levels deep");
      return 0;
    }
    std::int64_t value = product(depth);
    while (!error_) {
      std::int64_t result = 0;
      if (take('+')) {
        value = checked(__builtin_add_overflow(value, product(depth), &result), result);
      } else if (take('-')) {
        value = checked(__builtin_sub_overflow(value, product(depth), &result), result);
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t product(int depth) {
    std::int64_t value = unary(depth);
    while (!error_) {
      std::int64_t result = 0;
      if (take('*')) {
        value = checked(__builtin_mul_overflow(value, unary(depth), &result), result);
      } else if (take('/')) {
        value = divide(value, unary(depth), false);
      } else if (take('%')) {
        value = divide(value, unary(depth), true);
      } else {
        break;
      }
    }
    return value;
  }

  std::int64_t divide(std::int64_t a, std::int64_t b, bool remainder) {
    if (error_) return 0;
    if (b == 0) {
      set_error("DIVISION_BY_ZERO", "an expression divides by zero");
      return 0;
    }
    if (a == kLowest && b == -1) return checked(true, 0);
    return remainder ? a % b : a / b;
  }

  std::int64_t unary(int depth) {
    if (error_) return 0;
    if (depth > kExpressionDepth) {
      set_error("BAD_EXPRESSION", "an expression is at most 32 levels deep");
      return 0;
    }
    if (take('-')) {
      std::int64_t result = 0;
      return checked(__builtin_sub_overflow(std::int64_t{0}, unary(depth + 1), &result), result);
    }
    if (take('(')) {
      const std::int64_t value = sum(depth + 1);
      if (!take(')')) set_error("BAD_EXPRESSION", "a closing parenthesis is missing");
      return value;
    }
    skip_spaces();
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    if (at_ < text_.size() && is_letter(text_[at_])) return name(depth);
    set_error("BAD_EXPRESSION", "a value is missing");
    return 0;
  }

  std::int64_t number() {
    std::int64_t value = 0;
    bool overflow = false;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      overflow |= __builtin_mul_overflow(value, std::int64_t{10}, &value);
      overflow |= __builtin_add_overflow(value, std::int64_t{text_[at_] - '0'}, &value);
      ++at_;
    }
    return checked(overflow, value);
  }

  std::int64_t name(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (take('(')) return call(word, depth);
    const auto axis = axes_.find(word);
    if (axis == axes_.end()) {
      set_error("UNKNOWN_AXIS", "there is no axis " + std::string(word));
      return 0;
    }
    return axis->second;
  }

  std::int64_t call(std::string_view function, int depth) {
    const std::int64_t a = sum(depth + 1);
    if (!take(',')) set_error("BAD_EXPRESSION", "a function has two arguments");
    const std::int64_t b = sum(depth + 1);
    if (!take(')')) set_error("BAD_EXPRESSION", "a closing parenthesis is missing");
    if (error_) return 0;
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (function == "ceil_div") {
      const std::int64_t quotient = divide(a, b, false);
      if (error_) return 0;
      const bool up = a % b != 0 && (a > 0) == (b > 0);
      return quotient + (up ? 1 : 0);
    }
    set_error("BAD_EXPRESSION", "there is no function " + std::string(function));
    return 0;
  }

  std::string_view text_;
  const Axes& axes_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

Error over_limit(std::string_view text, std::int64_t value, std::int64_t low, std::int64_t high) {
  return {ErrorKind::invalid, "LAUNCH_LIMIT", std::string(text),
          "the value " + std::to_string(value) + " is not in " + std::to_string(low) + " to " +
              std::to_string(high),
          "Give a launch that the device takes"};
}

Result<std::int64_t> bounded(std::string_view text, const Axes& axes, std::int64_t low,
                             std::int64_t high) {
  Result<std::int64_t> value = evaluate_expression(text, axes);
  if (value && (*value < low || *value > high)) return fail(over_limit(text, *value, low, high));
  return value;
}

}  // namespace

Result<std::int64_t> evaluate_expression(std::string_view text, const Axes& axes) {
  return Parser(text, axes).run();
}

Result<LaunchShape> evaluate_launch(std::span<const std::string> grid,
                                    std::span<const std::string> block,
                                    std::span<const std::string> cluster,
                                    std::string_view shared_bytes, const Axes& axes,
                                    const LaunchLimits& limits) {
  assert(grid.size() == 3 && block.size() == 3 && (cluster.empty() || cluster.size() == 3));
  LaunchShape shape;
  std::int64_t threads = 1;
  std::int64_t cluster_blocks = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const Result<std::int64_t> g = bounded(grid[i], axes, 1, limits.grid[i]);
    if (!g) return fail(g.error());
    const Result<std::int64_t> b = bounded(block[i], axes, 1, limits.block[i]);
    if (!b) return fail(b.error());
    shape.grid[i] = static_cast<std::uint32_t>(*g);
    shape.block[i] = static_cast<std::uint32_t>(*b);
    threads *= *b;
    if (cluster.empty()) continue;
    const Result<std::int64_t> c = bounded(cluster[i], axes, 1, limits.cluster_blocks);
    if (!c) return fail(c.error());
    if (*g % *c != 0) {
      return fail(ErrorKind::invalid, "LAUNCH_LIMIT", cluster[i],
                  "the grid is not a multiple of the cluster");
    }
    shape.cluster[i] = static_cast<std::uint32_t>(*c);
    cluster_blocks *= *c;
  }
  if (threads > limits.threads_per_block) {
    return fail(over_limit("block", threads, 1, limits.threads_per_block));
  }
  if (cluster_blocks > limits.cluster_blocks) {
    return fail(over_limit("cluster", cluster_blocks, 1, limits.cluster_blocks));
  }
  const Result<std::int64_t> shared = bounded(shared_bytes, axes, 0, limits.shared_bytes);
  if (!shared) return fail(shared.error());
  shape.shared_bytes = static_cast<std::uint32_t>(*shared);
  return shape;
}

}  // namespace kernelindex::runner
