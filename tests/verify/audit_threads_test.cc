// SPDX-License-Identifier: Apache-2.0
// The threads of an audit share one reading of the ledger: more entries than one task takes, damage
// in several places, and any number of threads finds the same. Runs under the thread sanitizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/key_layout.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class AuditThreads : public testing::Test {
 protected:
  static constexpr int kModels = 1200;

  static Manifest model(int number) {
    return make_document(ManifestKind::model_revision, "m",
                         R"({"model":"Model )" + std::to_string(number) + "\"}");
  }

  void SetUp() override {
    const std::unique_ptr<Ledger> open = ledger.open();
    const std::unique_ptr<Appender> appender = std::move(*open->append({"board", "1", "{}"}));
    for (int i = 0; i < kModels; ++i) {
      ManifestEntry claim;
      claim.source = "board";
      claim.snapshot = sha256(ledger.records().snapshot);
      claim.external_ids = {"board:model/" + std::to_string(i)};
      ASSERT_TRUE(appender->claim(claim, model(i)).has_value());
    }
    ASSERT_TRUE(appender->finish(std::nullopt).has_value());
  }

  AuditReport audit(unsigned threads) const {
    AuditOptions options;
    options.threads = threads;
    return ledger.audit(options);
  }

  LedgerFixture ledger;
};

TEST_F(AuditThreads, FindNothingInACleanLedger) {
  for (const unsigned threads : {1u, 2u, 4u}) {
    const AuditReport report = audit(threads);
    EXPECT_THAT(fault_texts(report), IsEmpty());
    EXPECT_EQ(report.checked.leaves, ledger.head().size);
    EXPECT_EQ(report.checked.rows, ledger.all(Space::derived).size());
  }
}

TEST_F(AuditThreads, FindTheSameDamageWhateverTheirNumber) {
  for (int i = 0; i < kModels; i += 100) {
    ledger.erase(Space::evidence, key_layout::object(model(i).document));
    ledger.erase(Space::derived, key_layout::subject(model(i + 1).identity));
  }
  const AuditReport one = audit(1);
  EXPECT_THAT(one.faults, SizeIs(kModels / 100 * 2));
  EXPECT_EQ(audit(2).json(), one.json());
  EXPECT_EQ(audit(4).json(), one.json());
}

}  // namespace
}  // namespace kernelindex::test
