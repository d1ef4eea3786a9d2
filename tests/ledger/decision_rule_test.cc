// SPDX-License-Identifier: Apache-2.0
#include "ledger/decision_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace kernelindex {
namespace {

using Verdict = Acceptance::Verdict;

DecisionInput input_of(std::int64_t reported, std::int64_t low, std::int64_t median,
                       std::int64_t high) {
  DecisionInput input;
  input.reported_ns = reported;
  input.low_ns = low;
  input.median_ns = median;
  input.high_ns = high;
  input.timer = TimerRelation::same_family;
  input.environment = EnvironmentRelation::equal;
  return input;
}

// ---- PROTOCOL section 16, the worked examples ----

TEST(DecisionRule, AShortKernelIsConfirmedWithinAMicrosecond) {
  DecisionInput input = input_of(4'096, 4'050, 4'090, 4'130);
  input.noise_ppm = 6'000;
  const Decision decision = decide(input);
  EXPECT_EQ(decision.verdict, Verdict::confirms);
  EXPECT_EQ(decision.band, (Band{2'892, 5'300}));        // [2891.2, 5300.8]
  EXPECT_EQ(decision.confirming, (Band{3'482, 4'710}));  // within 15 %
}

TEST(DecisionRule, ElevenPercentMoreIsSlower) {
  const Decision decision = decide(input_of(100'000, 111'000, 111'500, 112'000));
  EXPECT_EQ(decision.band, (Band{94'000, 106'000}));
  EXPECT_EQ(decision.verdict, Verdict::differs_slower);
}

TEST(DecisionRule, OtherHardwareIsNotComparable) {
  DecisionInput input = input_of(100'000, 99'000, 100'000, 101'000);
  input.environment = EnvironmentRelation::different;
  EXPECT_EQ(decide(input).verdict, Verdict::not_comparable);
  EXPECT_EQ(decide(input).codes, std::vector<std::string>{"OTHER_HARDWARE"});
}

TEST(DecisionRule, ANumberWithoutProtocolIsNotComparable) {
  DecisionInput input = input_of(100'000, 99'000, 100'000, 101'000);
  input.timer = TimerRelation::unknown;
  EXPECT_EQ(decide(input).verdict, Verdict::not_comparable);
}

TEST(DecisionRule, AnIntervalAcrossTheBoundIsInconclusive) {
  const Decision decision = decide(input_of(100'000, 104'000, 105'500, 107'000));
  EXPECT_EQ(decision.verdict, Verdict::inconclusive);
  EXPECT_EQ(decision.codes, std::vector<std::string>{"INTERVAL_OVERLAPS"});
}

TEST(DecisionRule, MoreThanTwiceIsNotReproduced) {
  EXPECT_EQ(decide(input_of(20'000, 50'000, 51'000, 52'000)).verdict, Verdict::not_reproduced);
  // 2 * 20 * 1.05 + 1 = 43 us is not more.
  EXPECT_EQ(decide(input_of(20'000, 43'000, 43'000, 43'000)).verdict, Verdict::differs_slower);
  EXPECT_EQ(decide(input_of(20'000, 43'001, 43'001, 43'001)).verdict, Verdict::not_reproduced);
}

TEST(DecisionRule, WhatFitsByTheAbsoluteMarginAloneIsBelowResolution) {
  const Decision decision = decide(input_of(896, 1'940, 1'940, 1'940));
  EXPECT_EQ(decision.verdict, Verdict::inconclusive);
  EXPECT_EQ(decision.codes, std::vector<std::string>{"BELOW_RESOLUTION"});
}

// ---- bounds ----

TEST(DecisionRule, EachBoundIsExactToTheNanosecond) {
  // R = 1 ms: the band is [949, 1051] us, wholly within 15 %.
  constexpr std::int64_t kR = 1'000'000;
  EXPECT_EQ(decide(input_of(kR, 949'000, kR, 1'051'000)).verdict, Verdict::confirms);
  EXPECT_EQ(decide(input_of(kR, 948'999, kR, 1'051'000)).verdict, Verdict::inconclusive);
  EXPECT_EQ(decide(input_of(kR, 949'000, kR, 1'051'001)).verdict, Verdict::inconclusive);
  EXPECT_EQ(decide(input_of(kR, 1'051'000, 1'051'500, 1'052'000)).verdict, Verdict::inconclusive);
  EXPECT_EQ(decide(input_of(kR, 1'051'001, 1'051'500, 1'052'000)).verdict, Verdict::differs_slower);
  EXPECT_EQ(decide(input_of(kR, 940'000, 945'000, 949'000)).verdict, Verdict::inconclusive);
  EXPECT_EQ(decide(input_of(kR, 940'000, 945'000, 948'999)).verdict, Verdict::differs_faster);
}

TEST(DecisionRule, NoMarginConfirmsBeyondFifteenPercent) {
  DecisionInput input = input_of(1'000'000, 850'000, 1'000'000, 1'150'000);
  input.timer = TimerRelation::cross_family;
  input.noise_ppm = 200'000;  // 60 % of margin
  EXPECT_EQ(decide(input).verdict, Verdict::confirms);
  input.high_ns = 1'150'001;
  EXPECT_EQ(decide(input).verdict, Verdict::inconclusive);
  input.high_ns = 1'150'000;
  input.low_ns = 849'999;
  EXPECT_EQ(decide(input).verdict, Verdict::inconclusive);
}

TEST(DecisionRule, MarginsFollowTheTableOfRelations) {
  DecisionInput input = input_of(1'000'000, 1'000'000, 1'000'000, 1'000'000);
  const auto margin = [&](TimerRelation timer, std::uint64_t noise, EnvironmentRelation where) {
    input.timer = timer;
    input.noise_ppm = noise;
    input.environment = where;
    return decide(input).margin_ppm;
  };
  using Timer = TimerRelation;
  using Where = EnvironmentRelation;
  EXPECT_EQ(margin(Timer::same_protocol, 0, Where::equal), 30'000u);
  EXPECT_EQ(margin(Timer::same_protocol, 20'000, Where::equal), 40'000u);
  EXPECT_EQ(margin(Timer::same_family, 20'000, Where::equal), 60'000u);
  EXPECT_EQ(margin(Timer::cross_family, 20'000, Where::equal), 100'000u);
  EXPECT_EQ(margin(Timer::same_family, 0, Where::equivalent), 100'000u);
  input.launches = 4;
  input.timer = Timer::cross_family;
  EXPECT_EQ(decide(input).absolute_ns, 12'000);
}

// ---- another program says the same ----

// The same rule by Python's unbounded integers and fractions.
constexpr const char* kOracle = R"(
import sys
from fractions import Fraction as F
for line in sys.stdin:
    R, m, lo, hi, noise, launches, timer, equivalent = map(int, line.split())
    d, k, t = [(F(3, 100), 2, 500), (F(5, 100), 3, 1000), (F(10, 100), 3, 3000 * launches)][timer]
    d = max(d, k * F(noise, 10**6)) + (F(5, 100) if equivalent else 0)
    band = (R * (1 - d) - t, R * (1 + d) + t)
    cap = (R * F(85, 100), R * F(115, 100))
    inside = band[0] <= lo and hi <= band[1]
    if inside and cap[0] <= lo and hi <= cap[1]: print(0)
    elif inside: print(3)
    elif m > 2 * R * (1 + d) + t: print(4)
    elif lo > band[1]: print(1)
    elif hi < band[0]: print(2)
    else: print(3)
)";

// Random inputs, and inputs whose interval ends lie at a bound of the rule and a nanosecond to
// either side of it.
std::vector<DecisionInput> vectors() {
  std::mt19937_64 random(16);
  const auto upto = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  std::vector<DecisionInput> out;
  for (int i = 0; i < 4'000; ++i) {
    DecisionInput input;
    input.reported_ns = 1 + upto(i % 2 == 0 ? 3'000 : 1'000'000'000);
    input.median_ns = input.reported_ns * (500 + upto(2'000)) / 1'000 + 1;
    input.low_ns = input.median_ns - upto(input.median_ns / 20 + 1);
    input.high_ns = input.median_ns + upto(input.median_ns / 20 + 1);
    input.noise_ppm = static_cast<std::uint64_t>(upto(60'000));
    input.launches = 1 + upto(5);
    input.timer = static_cast<TimerRelation>(upto(3));
    input.environment = static_cast<EnvironmentRelation>(upto(2));
    out.push_back(input);
    const Decision decision = decide(input);
    const std::int64_t twice = 2 * input.reported_ns *
                                   (1'000'000 + static_cast<std::int64_t>(decision.margin_ppm)) /
                                   1'000'000 +
                               decision.absolute_ns;
    for (const std::int64_t bound :
         {decision.band.low_ns, decision.band.high_ns, decision.confirming.low_ns,
          decision.confirming.high_ns, twice}) {
      for (const std::int64_t step : {-1, 0, 1}) {
        DecisionInput at = input;
        at.low_ns = at.median_ns = at.high_ns = std::max<std::int64_t>(1, bound + step);
        out.push_back(at);
      }
    }
  }
  return out;
}

std::string text_of(const std::vector<DecisionInput>& inputs) {
  std::string text;
  for (const DecisionInput& input : inputs) {
    for (const std::int64_t value :
         {input.reported_ns, input.median_ns, input.low_ns, input.high_ns,
          static_cast<std::int64_t>(input.noise_ppm), input.launches,
          static_cast<std::int64_t>(input.timer), static_cast<std::int64_t>(input.environment)}) {
      text += std::to_string(value) + " ";
    }
    text += "\n";
  }
  return text;
}

// What a program says to the vectors.
std::vector<int> ask(const std::string& program, const test::TempDir& folder) {
  const test::Outcome outcome =
      test::run_program({"/bin/sh", "-c", program + " < " + (folder / "numbers.txt").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::vector<int> answers;
  std::istringstream lines(outcome.out);
  for (int answer = 0; lines >> answer;) answers.push_back(answer);
  return answers;
}

TEST(DecisionRule, AnIndependentProgramAndEveryOptimisationAgreeToTheNanosecond) {
  const std::vector<DecisionInput> inputs = vectors();
  constexpr Verdict kNumbered[] = {Verdict::confirms, Verdict::differs_slower,
                                   Verdict::differs_faster, Verdict::inconclusive,
                                   Verdict::not_reproduced};
  const test::TempDir folder;
  std::ofstream(folder / "oracle.py") << kOracle;
  std::ofstream(folder / "numbers.txt") << text_of(inputs);
  for (const std::string& program :
       {"python3 " + (folder / "oracle.py").string(), std::string(DECISION_WITHOUT_OPTIMISATION),
        std::string(DECISION_WITH_OPTIMISATION)}) {
    const std::vector<int> theirs = ask(program, folder);
    ASSERT_EQ(theirs.size(), inputs.size()) << program;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_TRUE(theirs[i] >= 0 && theirs[i] < 5) << program << " " << i;
      EXPECT_EQ(decide(inputs[i]).verdict, kNumbered[theirs[i]]) << program << " " << i;
    }
  }
}

}  // namespace
}  // namespace kernelindex
