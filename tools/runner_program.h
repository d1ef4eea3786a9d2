// SPDX-License-Identifier: Apache-2.0
// The runner that the command line starts: which program, and how its work becomes a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "schema/digest.h"
#include "schema/result.h"
#include "tools/session.h"
#include "verify/result_folder.h"
#include "verify/runner_process.h"

namespace kernelindex::tools {

inline constexpr OptionSpec kRunnerProgramOption = {
    .name = "--runner-program",
    .value = "PROGRAM",
    .help = "the runner; by default kernelindex-runner beside this program, or on the PATH",
    .kind = ValueKind::file};
inline constexpr OptionSpec kSimulateOption = {
    .name = "--simulate",
    .help = "measure nothing: times are made up, the result says so, and no ledger counts it"};

// Error NO_RUNNER (not_found).
Result<std::filesystem::path> runner_program(const Arguments& arguments);
// The SHA-256 of the executable: what the root approves as a harness. Errors: NO_RUNNER,
// CANNOT_READ.
Result<Digest> runner_digest(const std::filesystem::path& program);

// What a runner did, in a folder that lacks its statement yet.
struct RunnerRun {
  std::string path;
  std::string document;
  ResultWriter folder;
};
// Starts the runner of the arguments, writes what it sends into the folder of -o, else of
// `otherwise`, and its document too. Progress goes to standard error. Requires: the verb has -o,
// --simulate and --runner-program. Errors: those of runner_program(), ResultWriter and
// run_runner().
Result<RunnerRun> start_runner(const Session& session, const Arguments& arguments,
                               const std::string& mode, std::int64_t seconds, std::string_view work,
                               const std::string& otherwise);

}  // namespace kernelindex::tools
