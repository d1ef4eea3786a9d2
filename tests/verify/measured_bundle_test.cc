// SPDX-License-Identifier: Apache-2.0
// Bundles of runs that were measured again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/verify/measurement_fixture.h"
#include "verify/bundle.h"
#include "verify/bundle_format.h"
#include "verify/bundle_writer.h"
#include "verify/result_folder.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;

class MeasuredBundle : public Measuring {
 protected:
  std::string bundle(const Digest& run) {
    const SigningKey status = fixture_key(Role::status);
    Result<std::string> bytes =
        make_bundle(ledger_->read(), run, ledger_->checkpoint().value(), &status);
    EXPECT_TRUE(bytes) << bytes.error().text();
    return bytes.value_or("");
  }
  // A policy of owners of this ledger.
  ReaderPolicy policy(const std::vector<std::string>& owners) const {
    ReaderPolicy policy;
    for (const std::string& owner : owners) {
      policy.owners.push_back({ledger_->format().ledger_id, owner});
    }
    std::ranges::sort(policy.owners);
    return policy;
  }
  BundleVerdict judge(const std::string& bytes,
                      const std::optional<ReaderPolicy>& policy = std::nullopt) {
    VerifyOptions options;
    options.ledger_id = ledger_->format().ledger_id;
    options.policy = policy;
    options.now = now_;
    Result<BundleVerdict> verdict = verify_bundle(bytes, options);
    EXPECT_TRUE(verdict) << verdict.error().text();
    return std::move(*verdict);
  }
  // The same of a file in which every arrow holds.
  BundleVerdict verify(const std::string& bytes,
                       const std::optional<ReaderPolicy>& policy = std::nullopt) {
    BundleVerdict verdict = judge(bytes, policy);
    for (const BundleCheck& check : verdict.checks) {
      EXPECT_TRUE(check.ok || check.check == "level") << check.check << ": " << check.detail;
    }
    return verdict;
  }
  static std::string without_artifact(const std::string& bytes, std::size_t number) {
    Bundle bundle = parse_bundle(bytes).value();
    bundle.artifacts.erase(bundle.artifacts.begin() + static_cast<std::ptrdiff_t>(number));
    return bundle.encode().value();
  }
};

TEST_F(MeasuredBundle, CarriesWhatALevelAboveReproducibleIsJudgedFrom) {
  attempt({.owner = "tester", .machine = "one"});
  attempt({.owner = "bob", .machine = "two", .median = 100'100});
  const std::string bytes = bundle(reported_);
  EXPECT_EQ(verify(bytes, policy({"tester", "bob"})).level, Level::replicated);
  EXPECT_EQ(verify(bytes, policy({"bob"})).level, Level::verified);
  EXPECT_EQ(verify(bytes, policy({"carol"})).level, Level::reproducible);
  EXPECT_EQ(verify(bytes).level, Level::reproducible);
  ReaderPolicy key;
  key.keys = {runner_key("bob").public_key().id()};
  EXPECT_EQ(verify(bytes, key).level, Level::verified);
}

TEST_F(MeasuredBundle, OfAControlledRunCarriesItsJobAndAcceptance) {
  const AcceptedResult accepted = attempt();
  const std::string bytes = bundle(accepted.run);
  EXPECT_EQ(verify(bytes, policy({"tester"})).level, Level::verified);
  EXPECT_EQ(verify(bytes).level, Level::none);
}

TEST_F(MeasuredBundle, LackingAnyOfItsBytesConfirmsNothing) {
  attempt();
  const std::string bytes = bundle(reported_);
  const std::size_t artifacts = parse_bundle(bytes)->artifacts.size();
  ASSERT_EQ(artifacts, 5U);  // the document, three kinds of samples, those of the calibration
  for (std::size_t i = 0; i < artifacts; ++i) {
    EXPECT_LE(judge(without_artifact(bytes, i), policy({"tester"})).level, Level::reproducible);
  }
}

TEST_F(MeasuredBundle, HoldsNoArtifactThatNothingReads) {
  attempt();
  Bundle bundle = parse_bundle(this->bundle(reported_)).value();
  bundle.artifacts.push_back("bytes of nobody");
  std::ranges::sort(bundle.artifacts, {}, [](const std::string& bytes) { return sha256(bytes); });
  VerifyOptions options;
  options.ledger_id = ledger_->format().ledger_id;
  const BundleVerdict verdict = verify_bundle(bundle.encode().value(), options).value();
  EXPECT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.checks, Contains(testing::Field(&BundleCheck::code, "UNNEEDED_OBJECT")));
  std::ranges::reverse(bundle.artifacts);
  const Result<Bundle> unsorted = parse_bundle(bundle.encode().value());
  ASSERT_FALSE(unsorted);
  EXPECT_EQ(unsorted.error().code, "ARTIFACT_ORDER");
}

TEST_F(MeasuredBundle, AJobWithoutAnAnswerCountsAgainstTheRunByTheReadersClock) {
  attempt();
  ASSERT_TRUE(issue(order()));
  const std::string bytes = bundle(reported_);
  EXPECT_EQ(verify(bytes, policy({"tester"})).level, Level::verified);
  now_ += 2 * kHour;
  EXPECT_EQ(verify(bytes, policy({"tester"})).level, Level::reproducible);
}

// Whoever kept an earlier file has the bytes; they count no more.
TEST_F(MeasuredBundle, WithheldBytesThatTheFileCarriesAllTheSameCountNothing) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  ASSERT_TRUE(accept(folder));
  const std::string document = ResultFolder::open(folder)->document();
  ASSERT_TRUE(withhold(*ledger_, sha256(document), "a licence", fixture_key(Role::root)));
  EXPECT_EQ(level(), Level::reproducible);
  Bundle file = parse_bundle(bundle(reported_)).value();
  file.artifacts.push_back(document);
  std::ranges::sort(file.artifacts, {}, [](const std::string& bytes) { return sha256(bytes); });
  EXPECT_LE(judge(file.encode().value(), policy({"tester"})).level, Level::reproducible);
}

TEST_F(MeasuredBundle, ARevokedRunnerConfirmsNothing) {
  const AcceptedResult accepted = attempt();
  say(Role::root, runner_key("tester").public_key().id(),
      KeyChange{Revocation{"stolen", accepted.result_index}});
  EXPECT_EQ(verify(bundle(reported_), policy({"tester"})).level, Level::reproducible);
}

}  // namespace
}  // namespace kernelindex::test
