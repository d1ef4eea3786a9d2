// SPDX-License-Identifier: Apache-2.0
// One child of a physical device and the talk with it: what it was given, what it answered, and
// what was seen of it from outside. PROTOCOL sections 1, 12 and 13.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/activity_records.h"
#include "cuda/code_pages.h"
#include "cuda/confined_process.h"
#include "cuda/device_polls.h"
#include "cuda/measurement.h"
#include "cuda/measuring_child.h"
#include "cuda/shared_memory.h"
#include "schema/measurement_result.h"

namespace kernelindex::runner {

// Of all tensors of a workload.
struct WorkloadBytes {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
};
WorkloadBytes bytes_of(const BoundWorkload& workload);

// This program's own file.
std::filesystem::path own_path();

class TrialChild {
 public:
  using Clock = ConfinedProcess::Clock;

  // Starts a child of this plan, which gets the memory of the workload's tensors as descriptors and
  // lives for `seconds`. Errors (system): NO_MEMORY, those of ConfinedProcess::start(). Requires:
  // the workload and the poller outlive it.
  static Result<std::unique_ptr<TrialChild>> start(const BoundWorkload& workload, Trial::Kind kind,
                                                   ConfinedPlan plan, std::int64_t seconds,
                                                   DevicePoller& poller);

  const BoundWorkload& workload() const { return workload_; }
  // What the trial comes to; the one that measures fills in its samples.
  TrialOutcome& outcome() { return outcome_; }
  bool done() const { return outcome_.facts.end == Trial::End::done; }

  // Whether the child took the artifact: opened without any code of others, looked at, loaded.
  bool load(const ChildLoad& load);
  // Asks for one thing. Nothing when there was no report; then the trial is over.
  std::optional<SampleReport> ask(const ChildSample& sample);
  // What CUPTI recorded in the last request.
  const CallActivities& activities() const { return activities_; }

  bool write_inputs(const Arguments& inputs) const;
  std::optional<std::vector<HostTensor>> read_outputs() const;
  // One call with these inputs, and what it wrote.
  struct Called {
    SampleReport report;
    std::vector<HostTensor> outputs;
  };
  std::optional<Called> call(const Arguments& inputs, const ChildSample& sample);

  void saw(Observation::What what, bool wrong);
  // Whether there are more threads than before the calls.
  void count_threads();
  // Ends it, and says how it ended and all that was seen.
  TrialOutcome end();

 private:
  TrialChild(const BoundWorkload& workload, Trial::Kind kind, DevicePoller& poller);

  std::optional<std::string> answered(ChildChannel::Judged judged);
  void look_at_code();
  void look_at_code_again();

  const BoundWorkload& workload_;
  DevicePoller& poller_;
  TrialOutcome outcome_;
  SharedMemory inputs_;
  SharedMemory outputs_;
  std::unique_ptr<ConfinedProcess> process_;
  Clock::time_point deadline_;
  CallActivities activities_;
  CodeImages code_;            // before any code of others; empty when it cannot be read
  std::uint32_t threads_ = 0;  // before the calls; 0 when there were none
  std::map<Observation::What, std::pair<std::int64_t, std::int64_t>> seen_;
};

}  // namespace kernelindex::runner
