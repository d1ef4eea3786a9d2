// SPDX-License-Identifier: Apache-2.0
#include "cuda/launch_expression.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelindex::runner {
namespace {

const Axes kAxes = {{"B", 3}, {"S", 128}, {"zero", 0}, {"huge", std::int64_t{1} << 62}};

std::int64_t value(std::string_view text) {
  const auto result = evaluate_expression(text, kAxes);
  EXPECT_TRUE(result) << text;
  return result.value_or(-1);
}

std::string code(std::string_view text) {
  const auto result = evaluate_expression(text, kAxes);
  return result ? "" : result.error().code;
}

TEST(LaunchExpression, KnowsArithmeticWithItsPrecedence) {
  EXPECT_EQ(value("2+3*4"), 14);
  EXPECT_EQ(value("(2+3)*4"), 20);
  EXPECT_EQ(value("20-3-2"), 15);
  EXPECT_EQ(value("-7/2"), -3);
  EXPECT_EQ(value("-7%3"), -1);
  EXPECT_EQ(value("B * S * 24 * 64"), 3 * 128 * 24 * 64);
  EXPECT_EQ(value("ceil_div(B*S*24*64,256)"), 2304);
  EXPECT_EQ(value("ceil_div(7,2)"), 4);
  EXPECT_EQ(value("ceil_div(-7,2)"), -3);
  EXPECT_EQ(value("min(B,S)+max(B,S)"), 131);
}

TEST(LaunchExpression, SaysWhatIsWrong) {
  for (const char* text : {"", "1+", "(1", "1)", "min(1)", "min(1,2,3)", "foo(1,2)", "1 2", "a.b",
                           "0x10", "1//2", "B++", "\n1"}) {
    EXPECT_FALSE(code(text).empty()) << text;
  }
  EXPECT_EQ(code("1+"), "BAD_EXPRESSION");
  EXPECT_EQ(code("C"), "UNKNOWN_AXIS");
  EXPECT_EQ(code("1/zero"), "DIVISION_BY_ZERO");
  EXPECT_EQ(code("1%zero"), "DIVISION_BY_ZERO");
  EXPECT_EQ(code("ceil_div(1,zero)"), "DIVISION_BY_ZERO");
}

TEST(LaunchExpression, NoValueEverWraps) {
  EXPECT_EQ(code("huge*2"), "EXPRESSION_OVERFLOW");
  EXPECT_EQ(code("huge+huge"), "EXPRESSION_OVERFLOW");
  EXPECT_EQ(code("-huge-huge-1"), "EXPRESSION_OVERFLOW");
  EXPECT_EQ(code("9223372036854775808"), "EXPRESSION_OVERFLOW");
  EXPECT_EQ(value("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(code("(-9223372036854775807-1)/-1"), "EXPRESSION_OVERFLOW");
}

TEST(LaunchExpression, DepthAndLengthHaveLimits) {
  EXPECT_EQ(code(std::string(100, '(') + "1" + std::string(99, ')')), "BAD_EXPRESSION");
  EXPECT_EQ(code(std::string(150, '-') + "1"), "BAD_EXPRESSION");
  EXPECT_EQ(code(std::string(201, '1')), "BAD_EXPRESSION");
}

class Launch : public ::testing::Test {
 protected:
  std::string code() {
    const auto shape = evaluate_launch(grid, block, cluster, shared, kAxes);
    return shape ? "" : shape.error().code;
  }
  std::vector<std::string> grid = {"B", "1", "1"};
  std::vector<std::string> block = {"256", "1", "1"};
  std::vector<std::string> cluster;
  std::string shared = "0";
};

TEST_F(Launch, IsEvaluated) {
  shared = "4*S";
  const auto shape = evaluate_launch(grid, block, cluster, shared, kAxes);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->grid[0], 3u);
  EXPECT_EQ(shape->block[0], 256u);
  EXPECT_EQ(shape->shared_bytes, 512u);
}

TEST_F(Launch, StaysWithinTheLimitsOfADevice) {
  const auto with = [this](std::vector<std::string>& list, std::size_t at, const char* text) {
    const std::string before = list[at];
    list[at] = text;
    const std::string found = code();
    list[at] = before;
    return found;
  };
  EXPECT_EQ(with(grid, 0, "2147483647"), "");
  EXPECT_EQ(with(grid, 0, "2147483648"), "LAUNCH_LIMIT");
  EXPECT_EQ(with(grid, 1, "65535"), "");
  EXPECT_EQ(with(grid, 1, "65536"), "LAUNCH_LIMIT");
  EXPECT_EQ(with(grid, 2, "0"), "LAUNCH_LIMIT");
  EXPECT_EQ(with(block, 0, "1024"), "");
  EXPECT_EQ(with(block, 0, "1025"), "LAUNCH_LIMIT");
  EXPECT_EQ(with(block, 1, "5"), "LAUNCH_LIMIT");  // 1280 threads
  shared = "232448";
  EXPECT_EQ(code(), "");
  shared = "232449";
  EXPECT_EQ(code(), "LAUNCH_LIMIT");
  shared = "0";
  cluster = {"2", "1", "1"};
  EXPECT_EQ(code(), "LAUNCH_LIMIT");  // three blocks are no multiple of two
  grid[0] = "4";
  EXPECT_EQ(code(), "");
}

}  // namespace
}  // namespace kernelindex::runner
