// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/attempts_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelindex::serve {
namespace {

using ::testing::HasSubstr;

TEST(AttemptsPart, EveryControlledAttemptIsShownUnansweredOnesToo) {
  const auto job = [](std::uint64_t index) {
    MeasurementJob asked;
    asked.device.product = "NVIDIA <b>H200</b>";
    asked.expires_at = UtcMicros{1'767'225'600'000'000};
    ControlledJob out;
    out.job = {index, 0, sha256("job " + std::to_string(index)), {Digest(), {}, asked}};
    out.owner = "a-lab";
    return out;
  };
  RunMeasurements measured;
  measured.about = {job(7), job(9)};
  ControlledJob& answered = measured.about[1];
  answered.by_operator = true;
  answered.result = SaidAt{11, 0, sha256("result"), {answered.job.id, {}, ControlledRun{}}};
  Acceptance acceptance;
  acceptance.verdict = Acceptance::Verdict::differs_slower;
  acceptance.accepted = true;
  answered.acceptance = SaidAt{12, 0, sha256("acceptance"), {answered.result->id, {}, acceptance}};
  answered.judged.emplace();
  answered.judged->verdict = acceptance.verdict;
  answered.judged->codes = {"LAUNCH_BOUND"};
  answered.judged->source_covered = true;
  DecisionInput input;
  input.reported_ns = 100'000;
  input.median_ns = 111'500;
  input.low_ns = 111'000;
  input.high_ns = 112'000;
  input.timer = TimerRelation::same_family;
  answered.judged->compared = input;
  answered.judged->decision = decide(input);
  Html html;
  append_attempts(html, measured);
  const std::string page = html.take();
  for (const char* text :
       {"open", "until 2026-01-01T00:00:00", "differs_slower", "a-lab", "OPERATOR_RAN_IT",
        "ratio 1.115", "confirming band [94000, 106000] ns", "LAUNCH_BOUND", "answered by entry 11",
        "NVIDIA &lt;b&gt;H200&lt;/b&gt;"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  Html nothing;
  append_attempts(nothing, {});
  EXPECT_EQ(nothing.take(), "");
}

}  // namespace
}  // namespace kernelindex::serve
