// SPDX-License-Identifier: Apache-2.0
// A ledger on disk in which a run is reported, and the acts of controller and runners on it. The
// devices are what a test says they are: results are written and signed here, and no built program
// can do that.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ledger/attest.h"
#include "ledger/query.h"
#include "tests/support/sample_result.h"
#include "tests/verify/ledger_fixture.h"
#include "verify/accept_result.h"
#include "verify/issue_job.h"

namespace kernelindex::test {

inline constexpr UtcMicros kHour = UtcMicros{3'600'000'000};

// Of "tester", the ledger's own owner, and "bob".
SigningKey runner_key(const std::string& owner);

class Measuring : public testing::Test {
 protected:
  // The reported run is of 100 us on an H200, reproducible; both runners are enrolled, harness and
  // protocol approved.
  Measuring();

  void open();
  Attested say(Role role, const Digest& subject, const Predicate& predicate);

  JobOrder order(const std::string& owner = "tester") const;
  Result<IssuedJob> issue(const JobOrder& order) {
    return issue_job(*ledger_, order, fixture_key(Role::controller), {"add", "1", "{}"});
  }
  std::string code(const JobOrder& order) {
    const Result<IssuedJob> issued = issue(order);
    return issued ? "issued" : issued.error().code;
  }

  struct Measured {
    std::string owner = std::string("tester");
    std::string machine = std::string("one");
    std::uint64_t median = 100'000;
    bool simulated = false;
    bool keep_samples = true;
    std::vector<std::string> reasons = std::vector<std::string>();  // of the runner's own doubts
  };
  // The folder of a result for the job, written and signed as `rerun` does, after the machine was
  // calibrated.
  std::filesystem::path measure(const JobDocument& job, const Measured& measured);

  // Sessions of a machine over three boots, with their samples.
  struct Sessions {
    CalibrationDocument document;
    std::string samples;
  };
  Sessions sessions(const std::string& machine, int count) const;
  std::filesystem::path write_calibration(const std::string& owner, const Sessions& sessions);
  // Ten of them, once for each machine.
  void calibrate(const std::string& owner, const std::string& machine);

  Result<AcceptedResult> accept(const std::filesystem::path& path,
                                const std::vector<std::string>& allowed = {});
  // From the job to the acceptance.
  AcceptedResult attempt() { return attempt(Measured()); }
  AcceptedResult attempt(const Measured& measured);

  RunView view(const Digest& run, std::optional<std::uint64_t> size = std::nullopt);
  // Of the reported run.
  Level level() { return view(reported_).evidence.level; }
  // That an audit finds nothing.
  void expect_sound();

  UtcMicros now_ = kFixtureTime;
  LedgerFixture fixture_;
  TempDir place_;
  std::unique_ptr<Ledger> ledger_;
  JobDocument sample_;
  Digest harness_ = sha256("the runner's executable");
  Digest implementation_;
  Digest workload_;
  Digest environment_;
  Digest reported_;
  std::set<std::string> calibrated_;
  int folders_ = 0;

 private:
  // The run with everything that it refers to, and the files of its source.
  Digest record_reported();
};

}  // namespace kernelindex::test
