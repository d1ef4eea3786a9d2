// SPDX-License-Identifier: Apache-2.0
// A small log in memory in which a run is measured under control: jobs, results and acceptances at
// their indexes, with bytes. Devices are what tests say they are; no built program links this.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ledger/controlled_attempts.h"
#include "ledger/signing_key.h"
#include "tests/support/sample_result.h"

namespace kernelindex::test {

class ControlledWorld final : public AttemptSource {
 public:
  struct Options {
    std::string timer = "cuda_events";       // of the reported run's protocol
    std::string form_factor = {};            // of its environment; empty: not said
    std::vector<std::string> hardware = {};  // that the runners may measure on; empty: any
    std::vector<Digest> protocols = {};      // that they may follow; empty: any
  };
  // A reported run of `reported_ns` (median) on an H200, its manifests, a controller, and a runner
  // for each of two owners, each calibrated on its device. The ledger is alice's.
  explicit ControlledWorld(std::int64_t reported_ns = 100'000)
      : ControlledWorld(reported_ns, Options()) {}
  ControlledWorld(std::int64_t reported_ns, Options options);

  struct Attempt {
    std::string owner = "alice";  // or "bob"
    std::string device = "device";
    std::string host;  // empty: one for each device
    std::string boot;  // empty: one for each device
    SampleTiming timing;
    std::vector<std::string> allowed;  // of the acceptance
    bool accept = true;
    // Changes the result before it is signed, and its artifacts.
    std::function<void(SampleResult&)> change;
    // Changes the statements before they are recorded.
    std::function<void(SaidAt& job)> change_job;
    std::function<void(SaidAt& result)> change_result;
  };
  // Records job, result and acceptance, and gives the judgement that was accepted.
  JudgedResult attempt(const Attempt& attempt);
  JudgedResult attempt() { return attempt(Attempt()); }
  // A job that nobody answers.
  void open_job(const std::string& owner);

  Evidence evidence();
  std::vector<ControlledJob> jobs();
  void expire() { now_ = job_.expires_at + 1; }
  void revoke(const Digest& subject, std::uint64_t void_from);
  void forget(const Digest& object) { objects_.erase(object); }
  void forget_calibration() { calibrations_.clear(); }
  // Leaves three sessions of ten repetitions of each calibration.
  void shorten_calibration() { short_ = true; }
  // The reader allows a switch.
  void allow(const std::string& one) { allow_.push_back(one); }
  const JobDocument& job() const { return job_; }
  Digest runner(const std::string& owner) const;
  std::uint64_t next() const { return index_; }

  Result<std::vector<SaidAt>> said_about(const Digest& subject) override;
  Result<std::optional<SaidAt>> attestation(const Digest& id) override;
  Result<std::vector<SaidAt>> calibrations(const Digest& runner) override;
  Result<std::optional<std::string>> object(const Digest& digest) override;
  Result<bool> held(const Digest& digest) override { return objects_.contains(digest); }
  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override;
  Result<std::optional<Manifest>> document(const Digest& identity) override;

 private:
  Digest add_manifest(const std::string& text);
  Digest keep(const std::string& bytes);
  void apply(const Digest& subject, const KeyChange& change);
  void enrol(Role role, const std::string& owner);
  void calibrate(const std::string& owner, const Digest& device, const SampleResult& sample);
  SaidAt record(const Digest& subject, const Digest& signer, Predicate predicate);
  SaidAt record_job(const std::string& owner, const std::function<void(SaidAt&)>& change);
  AttemptContext context() const { return {keys_, judgements_, now_, "alice", {}, allow_}; }

  std::uint64_t index_ = 0;
  UtcMicros now_ = 0;
  JobDocument job_;
  Digest implementation_;
  Digest workload_;
  Options options_;
  std::vector<std::string> allow_;
  bool short_ = false;
  KeyBook keys_;
  Judgements judgements_;
  std::map<Digest, Manifest> manifests_;
  std::map<Digest, std::string> objects_;
  std::vector<SaidAt> said_;
  std::map<Digest, std::vector<SaidAt>> calibrations_;
  std::set<std::pair<std::string, Digest>> calibrated_;
};

}  // namespace kernelindex::test
