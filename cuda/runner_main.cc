// SPDX-License-Identifier: Apache-2.0
// kernelindex-runner: its modes. See README.md.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cuda/device_bench.h"
#include "cuda/doctor.h"
#include "cuda/kernel_builder.h"
#include "cuda/measurement.h"
#include "cuda/measuring_child.h"
#include "cuda/sentinel_kernels.h"
#include "schema/runner_channel.h"

namespace kernelindex::runner {
namespace {

constexpr const char* kUsage =
    "kernelindex-runner: builds, checks and times kernels behind process boundaries\n"
    "\n"
    "  kernelindex-runner measure   --channel FD [--simulate]   one job, from document to result\n"
    "  kernelindex-runner calibrate --channel FD [--simulate]   sentinel sessions\n"
    "  kernelindex-runner doctor [--json]                       what this machine has and lacks\n"
    "\n"
    "With --simulate nothing is measured: times are made up, the result says so, and no ledger\n"
    "accepts it. See cuda/README.md.\n";

struct Options {
  int channel = -1;
  bool simulate = false;
};

std::optional<Options> read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--simulate") {
      options.simulate = true;
    } else if (words[i] == "--channel" && i + 1 < words.size()) {
      const std::string& text = words[++i];
      const auto read = std::from_chars(text.data(), text.data() + text.size(), options.channel);
      if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (options.channel < 0) return std::nullopt;
  return options;
}

// Everything that the caller says before the work begins.
Result<std::string> receive_work(int channel) {
  std::string work;
  for (;;) {
    Result<RunnerMessage> message = receive_runner_message(channel);
    if (!message) return fail(message.error());
    if (message->kind == RunnerMessageKind::begin) break;
    if (message->kind == RunnerMessageKind::job && work.empty()) {
      work = std::move(message->body);
    } else if (message->kind != RunnerMessageKind::input) {
      return fail(ErrorKind::invalid, "BAD_RUNNER_MESSAGE", {}, "a message out of order");
    }
  }
  if (work.empty()) return fail(ErrorKind::invalid, "BAD_RUNNER_MESSAGE", {}, "there was no job");
  return work;
}

Status send_output(int channel, const std::vector<std::pair<std::string, std::string>>& artifacts,
                   const std::string& samples, const std::string& document) {
  for (const auto& [name, bytes] : artifacts) {
    const Status sent =
        send_runner_message(channel, RunnerMessageKind::artifact, encode_named_body(name, bytes));
    if (!sent) return sent;
  }
  if (!samples.empty()) {
    const Status sent = send_runner_message(channel, RunnerMessageKind::samples, samples);
    if (!sent) return sent;
  }
  return send_runner_message(channel, RunnerMessageKind::result, document);
}

Status measure(const Options& options) {
  const Result<std::string> work = receive_work(options.channel);
  if (!work) return fail(work.error());
  const Result<JobDocument> job = read_job_document(*work);
  if (!job) return fail(job.error());
  Result<std::unique_ptr<Bench>> made =
      options.simulate ? make_simulated_bench(job->device, job->ledger, job->limits)
                       : make_device_bench(*job);
  if (!made) return fail(made.error());
  const std::unique_ptr<Bench> bench = std::move(*made);
  const Progress progress = [&options](std::string_view line) {
    const Status ignored = send_runner_message(options.channel, RunnerMessageKind::progress, line);
    (void)ignored;  // a caller that is gone shows at the next message that matters
  };
  const Result<MeasurementOutput> output = measure_job(*job, *bench, find_toolchain(), progress);
  if (!output) return fail(output.error());
  return send_output(options.channel, output->artifacts, output->samples, output->document);
}

Status run_calibration(const Options& options) {
  const Result<std::string> work = receive_work(options.channel);
  if (!work) return fail(work.error());
  const Result<CalibrationRequest> request = read_calibration_request(*work);
  if (!request) return fail(request.error());
  JobDocument nothing_built;  // sentinels are the runner's own
  nothing_built.ledger = request->ledger;
  Result<std::unique_ptr<Bench>> made = options.simulate
                                            ? make_simulated_bench({}, request->ledger, {})
                                            : make_device_bench(nothing_built);
  if (!made) return fail(made.error());
  const Result<CalibrationOutput> output = calibrate(*request, **made);
  if (!output) return fail(output.error());
  return send_output(options.channel, {}, output->samples, output->document);
}

int report(const Options& options, const Status& done) {
  if (done) return 0;
  std::fprintf(stderr, "kernelindex-runner: %s\n", done.error().text().c_str());
  const Status ignored =
      send_runner_message(options.channel, RunnerMessageKind::failed,
                          encode_named_body(done.error().code, done.error().text()));
  (void)ignored;
  return 1;
}

int run(const std::vector<std::string>& words) {
  const std::string mode = words.empty() ? "" : words[0];
  if (mode == "role-nvrtc") return nvrtc_main({words.begin() + 1, words.end()});
  if (mode == "role-child") return measuring_child_main();
  if (mode == "role-sentinels") return sentinel_child_main();
  if (mode == "role-simulated-child") return simulated_child_main();
  if (mode == "doctor") return doctor_main({words.begin() + 1, words.end()});
  if (mode == "--help" || mode == "help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (mode == "measure" || mode == "calibrate") {
    if (const std::optional<Options> options = read_options(words)) {
      return report(*options, mode == "measure" ? measure(*options) : run_calibration(*options));
    }
  }
  std::fputs(kUsage, stderr);
  return 2;
}

}  // namespace
}  // namespace kernelindex::runner

int main(int argc, char** argv) {
  return kernelindex::runner::run(std::vector<std::string>(argv + 1, argv + argc));
}
