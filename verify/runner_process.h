// SPDX-License-Identifier: Apache-2.0
// The runner as a child process: a document in, artifacts and a document out, over one socket
// (schema/runner_channel.h). PROTOCOL section 1.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kRunnerArtifacts = 2048;
inline constexpr std::uint64_t kRunnerOutputBytes = std::uint64_t{2}
                                                    << 30;  // all messages together

struct RunnerCommand {
  std::filesystem::path program;
  std::string mode;  // "measure" or "calibrate"
  bool simulate = false;
  std::int64_t seconds = 0;  // then it is ended with all that it started
};

struct RunnerListener {
  std::function<void(std::string_view line)> progress;     // for people; outside text
  std::function<Status(std::string_view bytes)> artifact;  // samples among them, in any order
};

// Runs it to its end and gives the document that it wrote. Errors:
//   NO_RUNNER (system: the program cannot be started)
//   RUNNER_TIMEOUT (system), RUNNER_ENDED (system: it ended without a result)
//   RUNNER_TOO_MUCH (invalid: above the bounds), BAD_RUNNER_MESSAGE (invalid)
//   what the runner itself reports, as a system error with its code
//   those of `artifact`
Result<std::string> run_runner(const RunnerCommand& command, std::string_view work,
                               const RunnerListener& listener);

}  // namespace kernelindex
