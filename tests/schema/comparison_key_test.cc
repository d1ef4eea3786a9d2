// SPDX-License-Identifier: Apache-2.0
// The keys against their recipe, spelled out; catalog_digests_test.cc has the 8,579 published ones.
#include "schema/comparison_key.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/json_reader.h"

namespace kernelindex {
namespace {

Digest filled(char digit) { return Digest::parse_hex(std::string(64, digit)).value(); }
std::string text(char digit) { return "sha256:" + std::string(64, digit); }

BenchmarkRunFacts run_facts() {
  BenchmarkRunFacts run;
  run.implementation = filled('1');
  run.workload = filled('2');
  run.protocol = filled('3');
  run.environment = filled('4');
  run.primary.emplace();
  run.primary->metric = "latency";
  run.primary->statistic = "mean";
  run.primary->unit = "ns";
  return run;
}

WorkloadFacts workload_facts() {
  WorkloadFacts workload;
  workload.operation = filled('5');
  workload.correctness_key = filled('6');
  return workload;
}

std::string recipe(const std::string& metric) {
  return R"({"correctness":")" + text('6') + R"(","environment":")" + text('4') +
         R"(","metric":")" + metric + R"(","operation":")" + text('5') + R"(","protocol":")" +
         text('3') + R"(","v":1,"workload":")" + text('2') + R"("})";
}

TEST(ComparisonKey, IsTheHashOfTheCanonicalRecipe) {
  EXPECT_EQ(comparison_key(run_facts(), workload_facts()), sha256(recipe("latency:mean:ns")));
}

TEST(ComparisonKey, DoesNotDependOnTheImplementation) {
  BenchmarkRunFacts other = run_facts();
  other.implementation = filled('9');
  EXPECT_EQ(comparison_key(other, workload_facts()), comparison_key(run_facts(), workload_facts()));
}

TEST(ComparisonKey, ARunWithoutPrimaryMeasurementHasMetricNone) {
  BenchmarkRunFacts run = run_facts();
  run.primary.reset();
  EXPECT_EQ(comparison_key(run, workload_facts()), sha256(recipe("none")));
}

// IMPORT section 4: the constant of every leaderboard run.
TEST(ComparisonKey, CorrectnessKeyOfTheLeaderboardSuites) {
  json::Arena arena;
  const Result<json::Value> correctness = json::parse(
      R"({"description":"Correctness must pass on every case in the SOL evaluation stack.",)"
      R"("comparator":"sol_execbench_eval"})",
      arena);
  EXPECT_EQ(correctness_key(*correctness).text(),
            "sha256:d2595bd58bcaafaece79e7574209fa6a4f982d5b33b629d08422fa31037c4c7a");
}

TEST(ComparisonKey, AnUnknownTokenizerIsNullAndNotAbsent) {
  ServingRunFacts run;
  run.model = filled('1');
  run.workload = filled('2');
  run.harness = "h/v1";
  run.placement = "unspecified";
  run.quality_policy = "q";
  run.topology_key = "nvidia/H200/8x1/unspecified";
  run.metric_set_key = "m\xC2\xB7s";
  const ServingWorkloadFacts workload{true, "open_loop"};
  const auto expected = [](const std::string& tokenizer) {
    return sha256("{\"metricSetKey\":\"m\xC2\xB7s\",\"modelDigest\":\"" + text('1') +
                  R"(","protocolKey":"h/v1/unspecified/streaming/open_loop","qualityPolicy":"q",)" +
                  R"("tokenizer":)" + tokenizer +
                  R"(,"topologyKey":"nvidia/H200/8x1/unspecified","workloadDigest":")" + text('2') +
                  "\"}");
  };
  EXPECT_EQ(cohort_key(run, workload, std::nullopt), expected("null"));
  EXPECT_EQ(cohort_key(run, workload, "t\"k"), expected(R"("t\"k")"));
  EXPECT_NE(cohort_key(run, {false, "open_loop"}, std::nullopt), expected("null"));
}

}  // namespace
}  // namespace kernelindex
