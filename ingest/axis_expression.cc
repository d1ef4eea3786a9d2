// SPDX-License-Identifier: Apache-2.0
#include "ingest/axis_expression.h"

#include <cmath>
#include <optional>
#include <vector>

#include "ingest/lower_case.h"

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kExpressionBytes = 200;  // the schema's limit; it also bounds the recursion

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    if (is_digit(text[i])) {
      while (i < text.size() && is_digit(text[i])) ++i;
    } else if (starts_name(text[i])) {
      while (i < text.size() && (starts_name(text[i]) || is_digit(text[i]))) ++i;
    } else if (text.substr(i).starts_with("//")) {
      i += 2;
    } else if (std::string_view("+-*%()").find(text[i]) != std::string_view::npos) {
      ++i;
    } else {
      ++i;
      continue;
    }
    tokens.push_back(text.substr(start, i - start));
  }
  return tokens;
}

class Evaluator {
 public:
  Evaluator(std::string_view expression, const AxisValues& values)
      : tokens_(tokens_of(expression)), values_(values) {}

  std::optional<double> run() {
    const double value = sum();
    if (fault_.empty() && next_ < tokens_.size()) {
      fault_ = "\"" + std::string(tokens_[next_]) + "\" is left over";
    }
    return fault_.empty() ? std::optional(value) : std::nullopt;
  }
  const std::string& fault() const { return fault_; }

 private:
  double sum() {
    double value = product();
    while (true) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        return value;
      }
    }
  }

  double product() {
    double value = factor();
    while (true) {
      if (take("*")) {
        value *= factor();
      } else if (take("//")) {
        value = std::floor(value / factor());
      } else if (take("%")) {
        value = std::fmod(value, factor());
      } else {
        return value;
      }
    }
  }

  double factor() {
    if (next_ == tokens_.size()) return refuse("it ends too early");
    const std::string_view token = tokens_[next_++];
    if (is_digit(token[0])) return std::strtod(std::string(token).c_str(), nullptr);
    if (starts_name(token[0])) {
      const auto found = values_.find(token);
      return found != values_.end() ? found->second
                                    : refuse("the axis " + std::string(token) + " has no value");
    }
    if (token != "(") return refuse("\"" + std::string(token) + "\" stands where a value should");
    const double value = sum();
    return take(")") ? value : refuse("a parenthesis is not closed");
  }

  bool take(std::string_view token) {
    if (next_ == tokens_.size() || tokens_[next_] != token) return false;
    ++next_;
    return true;
  }

  // The first fault counts; after it nothing more is taken.
  double refuse(std::string reason) {
    if (fault_.empty()) fault_ = std::move(reason);
    next_ = tokens_.size();
    return 0;
  }

  std::vector<std::string_view> tokens_;
  const AxisValues& values_;
  std::size_t next_ = 0;
  std::string fault_;
};

}  // namespace

Result<double> evaluate_axis_expression(std::string_view expression, const AxisValues& values) {
  const auto refuse = [&](const std::string& reason) {
    return fail(ErrorKind::invalid, "BAD_AXIS_EXPRESSION", {},
                "the axis expression \"" + std::string(expression.substr(0, kExpressionBytes)) +
                    "\" has no value: " + reason);
  };
  if (expression.size() > kExpressionBytes) {
    return refuse("it has more than " + std::to_string(kExpressionBytes) + " bytes");
  }
  const std::string lowered = lower_case(expression);
  Evaluator evaluator(lowered, values);
  const std::optional<double> value = evaluator.run();
  if (!value) return refuse(evaluator.fault());
  return *value;
}

}  // namespace kernelindex::ingest
