// SPDX-License-Identifier: Apache-2.0
// The small pure helpers: slugs, tokens, tables, cuts, axis order, case keys, expressions, times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ingest/axis_expression.h"
#include "ingest/case_key.h"
#include "ingest/kebab.h"
#include "ingest/lower_case.h"
#include "ingest/nanoseconds.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"
#include "schema/canonical_json.h"
#include "schema/utc_time.h"

namespace kernelindex {
namespace {

using namespace ingest;

TEST(Kebab, MakesSlugs) {
  const std::pair<std::string, std::string> kCases[] = {
      {"Amir M. Mir | SF Tensor", "amir-m-mir-sf-tensor"},
      {"004_attention_output_projection", "004-attention-output-projection"},
      {"imec.AILabs", "imec-ailabs"},
      {"Isaac Sun (AES)", "isaac-sun-aes"},
      {"Ünïcode Näme", "n-code-n-me"},
      {"Straße", "stra-e"},
      {"İstanbul", "i-stanbul"},
      {"\xE2\x84\xAA"
       "2",
       "k2"},
      {"张三", ""},
      {"ſ", ""},
      {"***", ""},
      {"--a--", "a"},
      {"", ""}};
  for (const auto& [text, slug] : kCases) EXPECT_EQ(kebab(text), slug) << text;
}

TEST(Kebab, IsCutAfterTheHyphensAreStripped) {
  EXPECT_EQ(kebab(std::string(120, 'a')), std::string(100, 'a'));
  EXPECT_EQ(kebab(std::string(99, 'a') + " b"), std::string(99, 'a') + "-");
}

TEST(Tokens, ReplaceWhatIsNoTokenCharacterByCodeUnit) {
  EXPECT_EQ(token_of("hip_cpp"), "hip_cpp");
  EXPECT_EQ(token_of("Python"), "python");
  EXPECT_EQ(token_of("C++ 20"), "c___20");
  EXPECT_EQ(token_of("é"), "_");
  EXPECT_EQ(token_of("🍪"), "__") << "two UTF-16 code units";
  EXPECT_EQ(token_of("İ"), "i_");
  EXPECT_EQ(argument_name("A_log"), "a_log");
  EXPECT_EQ(argument_name("2x"), "x_2x");
  EXPECT_EQ(argument_name("_t"), "x__t");
  EXPECT_EQ(argument_name(""), "x_");
}

TEST(Tokens, KnowTheDataTypes) {
  const std::pair<std::string, std::string> kCases[] = {{"bfloat16", "bf16"},
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
                                                        {"float4_e2m1fn_x2", "float4_e2m1fn_x2"},
                                                        {"BFloat16", "bfloat16"}};
  for (const auto& [dtype, token] : kCases) EXPECT_EQ(dtype_token(dtype), token);
  EXPECT_EQ(language_token("cuda_cpp"), "cuda");
  EXPECT_EQ(language_token("cute_dsl"), "cute_dsl");
  EXPECT_EQ(language_token("Triton"), "triton");
}

TEST(Hardware, IsListedOrKeepsItsName) {
  const auto text = [](std::string_view name) {
    const Hardware hardware = hardware_of(name);
    return hardware.vendor + "/" + hardware.product + "/" + hardware.architecture;
  };
  EXPECT_EQ(text("B200"), "nvidia/NVIDIA B200/sm_100");
  EXPECT_EQ(text("NVIDIA_B200"), "nvidia/NVIDIA B200/sm_100");
  EXPECT_EQ(text("GB200"), "nvidia/NVIDIA GB200/sm_100");
  EXPECT_EQ(text("H200"), "nvidia/NVIDIA H200/sm_90");
  EXPECT_EQ(text("NVIDIA_H100"), "nvidia/NVIDIA H100/sm_90");
  EXPECT_EQ(text("A100"), "nvidia/NVIDIA A100/sm_80");
  EXPECT_EQ(text("NVIDIA B200"), "nvidia/NVIDIA B200/unknown") << "the digest rule, odd as it is";
  EXPECT_EQ(text("AMD_Radeon"), "nvidia/AMD Radeon/unknown");
  EXPECT_FALSE(hardware_of("NVIDIA B200").listed);
}

TEST(TextCut, CountsUtf16AndSplitsNoCharacter) {
  EXPECT_EQ(first_utf16("abc", 2), "ab");
  EXPECT_EQ(first_utf16("éé", 1), "é");
  EXPECT_EQ(first_utf16("a🍪b", 2), "a") << "half a pair is no character";
  EXPECT_EQ(first_utf16("a🍪b", 3), "a🍪");
  const std::string fits(200, 'x');
  EXPECT_EQ(title_cut(fits), fits);
  EXPECT_EQ(title_cut(fits + "y"), std::string(199, 'x') + "…");
}

TEST(AxisOrder, IsThatOfTheRootCollation) {
  std::vector<std::string> names = {"x2",  "hidden_size", "M",   "num_experts", "X_2", "a0b",
                                    "x_2", "a_b",         "num", "N",           "n"};
  std::ranges::sort(names,
                    [](const auto& a, const auto& b) { return compare_axis_names(a, b) < 0; });
  const std::vector<std::string> expected = {"a_b", "a0b",         "hidden_size", "M",   "n", "N",
                                             "num", "num_experts", "x_2",         "X_2", "x2"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(compare_axis_names("ab", "ab"), 0);
}

TEST(CaseKey, IsTheBeginningOfTheHashOfTheSortedAxes) {
  EXPECT_EQ(case_key({{"seq_len", 128},
                      {"batch_size", 64},
                      {"num_heads", 32},
                      {"hidden_size", 2048},
                      {"head_dim", 64}}),
            "edabdcf4bcec");
}

double value_of(std::string_view expression) {
  const AxisValues values = {{"a", 7}, {"b", 2}, {"hidden_size", 4096}, {"_x", 3}};
  const Result<double> value = evaluate_axis_expression(expression, values);
  EXPECT_TRUE(value) << expression;
  return value.value_or(-1);
}

TEST(AxisExpression, FollowsTheGrammar) {
  EXPECT_EQ(value_of("a"), 7);
  EXPECT_EQ(value_of("A - b - 1"), 4) << "to the left, lower-cased";
  EXPECT_EQ(value_of("a // b * b"), 6);
  EXPECT_EQ(value_of("a % b + 10"), 11);
  EXPECT_EQ(value_of("2 * (a + b)"), 18);
  EXPECT_EQ(value_of("hidden_size//32"), 128);
  EXPECT_EQ(value_of("1 - 8 // 3"), -1);
  EXPECT_EQ(value_of("(1 - 8) // 2"), -4) << "floor, not towards zero";
  EXPECT_EQ(value_of("(1 - 8) % 2"), -1) << "the sign of the left side";
  EXPECT_EQ(value_of("a, ^ ."), 7) << "other characters are passed over";
  EXPECT_EQ(value_of("_x*1"), 3);
  EXPECT_TRUE(std::isinf(value_of("1 // 0")));
  EXPECT_TRUE(std::isnan(value_of("1 % 0")));
}

TEST(AxisExpression, RefusesTheRest) {
  for (const std::string expression :
       {"", "c", "a / b", "a b", "(a", "a)", "a +", "-a", "a ++ b", "()", "2a"}) {
    EXPECT_FALSE(evaluate_axis_expression(expression, {{"a", 1}, {"b", 1}})) << expression;
  }
  EXPECT_FALSE(evaluate_axis_expression(std::string(100'000, '('), {}));
}

TEST(Nanoseconds, AreOneMultiplicationAndThenHalfUp) {
  EXPECT_EQ(nanoseconds_of(0.0317325), 31732) << "the product is 31732.499999999996";
  EXPECT_EQ(nanoseconds_of(0.0000005), 1);
  EXPECT_EQ(nanoseconds_of(0.059812), 59812);
  EXPECT_EQ(nanoseconds_of(0.1736964999999999), 173696);
}

TEST(SourceTime, IsUtcToTheMillisecond) {
  const std::pair<std::string, std::string> kCases[] = {
      {"2026-08-14T05:38:44.902912", "2026-08-14T05:38:44.902Z"},
      {"2026-08-14T05:38:44.9999999", "2026-08-14T05:38:44.999Z"},
      {"2026-08-14T05:38", "2026-08-14T05:38:00.000Z"},
      {"2026-08-14", "2026-08-14T00:00:00.000Z"},
      {"2026-08-14 05:38:44.902912+00:00", "2026-08-14T05:38:44.902Z"},
      {"2026-08-14T05:38:44+02:30", "2026-08-14T03:08:44.000Z"},
      {"2026-08-14T24:00:00", "2026-08-15T00:00:00.000Z"}};
  for (const auto& [text, instant] : kCases) {
    const Result<SourceTime> time = parse_source_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(time->text, instant);
  }
  for (const std::string text : {"2026-02-30T00:00:00", "2026-08-14T05:38:44-0700",
                                 "2026-08-14T25:00:00", "2026-08-14T05:38:60", "1755149924", ""}) {
    EXPECT_FALSE(parse_source_time(text)) << text;
  }
  EXPECT_TRUE(parse_source_time("2026-08-14T05:38:44")->zone_assumed);
  EXPECT_FALSE(parse_source_time("2026-08-14T05:38:44Z")->zone_assumed);
}

}  // namespace
}  // namespace kernelindex
