// SPDX-License-Identifier: Apache-2.0
// Which jobs are issued, and what is handed out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/controlled_protocol.h"
#include "tests/verify/measurement_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::IsEmpty;

TEST_F(Measuring, TheDocumentOfAJobIsMadeAgainFromTheLog) {
  const IssuedJob issued = issue(order()).value();
  EXPECT_THAT(issued.uncovered, IsEmpty());
  JobDocument again = job_document(ledger_->read(), issued.document.job).value();
  EXPECT_EQ(again.sources, issued.document.sources);
  EXPECT_EQ(again.nonce, issued.document.nonce);
  EXPECT_EQ(again.implementation, implementation_);
  EXPECT_GT(again.seen_size, issued.index);
  EXPECT_EQ(kept_sources(ledger_->read(), reported_)->size(), sample_.sources.size() - 1);
  const Result<JobDocument> none = job_document(ledger_->read(), sha256("no job"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "NO_SUCH_JOB");
}

TEST_F(Measuring, AJobThatCouldNeverCountIsNotIssued) {
  EXPECT_EQ(code(order()), "issued");
  JobOrder wrong = order();
  wrong.files = {};
  EXPECT_EQ(code(wrong), "NO_SOURCE");
  wrong = order();
  std::erase_if(wrong.files, [](const JobSourceFile& file) { return file.path == kRecipePath; });
  EXPECT_EQ(code(wrong), "NO_RECIPE");
  wrong = order();
  wrong.harness = sha256("another program");
  EXPECT_EQ(code(wrong), "HARNESS_UNKNOWN");
  wrong = order();
  wrong.clocks = ClockVariant::locked;
  EXPECT_EQ(code(wrong), "PROTOCOL_UNKNOWN");
  wrong = order();
  wrong.runner = sha256("nobody");
  EXPECT_EQ(code(wrong), "RUNNER_NOT_ENROLLED");
  wrong = order();
  wrong.expires_at = now_;
  EXPECT_EQ(code(wrong), "JOB_EXPIRED");
  wrong = order();
  wrong.run = sha256("no run");
  EXPECT_EQ(code(wrong), "NO_SUCH_RUN");
  wrong = order();
  wrong.run = implementation_;
  EXPECT_EQ(code(wrong), "NOT_A_RUN");
}

TEST_F(Measuring, AJobOfFiftyYearsIsNotIssued) {
  JobOrder longest = order();
  longest.expires_at = now_ + 24 * kHour + 1;
  EXPECT_EQ(code(longest), "JOB_TOO_LONG");
}

TEST_F(Measuring, AJobThatCannotBeHandedOutIsNotRecorded) {
  JobOrder wrong = order();
  for (JobSourceFile& file : wrong.files) {
    if (file.path != kRecipePath) continue;
    file.content = "{}";
    file.digest = sha256(file.content);
  }
  const std::uint64_t size = ledger_->read().head().size;
  EXPECT_FALSE(issue(wrong));
  wrong = order();
  std::erase_if(wrong.files, [](const JobSourceFile& file) { return file.path == "main.cpp"; });
  EXPECT_FALSE(issue(wrong));
  EXPECT_EQ(ledger_->read().head().size, size);
}

// The root approves a protocol by its identity before anybody claims its manifest.
TEST_F(Measuring, AManifestThatWasApprovedBeforeItCameHasAWholeChain) {
  const Manifest late = controlled_protocol(ClockVariant::locked);
  say(Role::root, late.identity, KeyChange{DigestApproval{DigestApproval::Kind::protocol, {}}});
  JobOrder locked = order();
  locked.clocks = ClockVariant::locked;
  ASSERT_TRUE(issue(locked));
  expect_sound();
}

}  // namespace
}  // namespace kernelindex::test
