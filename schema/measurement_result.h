// SPDX-License-Identifier: Apache-2.0
// The result document: what a runner measured for a job, and how. PROTOCOL sections 2 to 15.
//
// A result is evidence to be judged: each statistic, detector and verdict is derived again from
// the raw samples and the counts in it. Numbers are integers (ns, kHz, ppm, counts), but for two
// errors that a person may like to read. What is not known is absent. The document is an artifact;
// controlled-run/v1 names it by digest and is what is signed.
//
//   {"format":"kernelindex.result/1",
//    "ledger":D,"job":D,"nonce":B,"runner":"<64 hex>","protocol":D,"harness":D,
//    "clocks":"unlocked","trust":"native_host",
//    "startedAt":T,"finishedAt":T,"entropy":B,
//    "environment":{"device":{…},"host":{"id":D,"boot":D},"software":{…},"settings":{…}},
//    "sandbox":{"builder":{…},"child":{…}},
//    "polls":{…},
//    "build":{…},
//    "sentinels":{"sessions":[…],"samples":D},
//    "correctness":{"rounds":[…],"controls":[…]},
//    "trials":[…],"samples":D,
//    "diagnostics":[…],"diagnosticSamples":D,
//    "statistics":{…},
//    "checks":[…],"status":"passed","codes":[…],
//    "countability":{"countable":true,"reasons":[]},
//    "logs":[…]}
//
// D is "sha256:" and 64 hex digits, B base64 of 32 bytes, T a UTC instant with six digits after the
// second. Each struct below says its members; the name of a member in documents is that of the
// field in camelCase.
//
// Samples are artifacts: unsigned 64-bit little-endian nanoseconds without anything between them.
// `samples` are those of `trials` in their order, `diagnosticSamples` those of `diagnostics`. The
// samples of sentinels are those of a calibration (calibration_document.h). An artifact that would
// be empty is absent.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/measurement_terms.h"
#include "schema/result.h"
#include "schema/sentinel_session.h"
#include "schema/utc_time.h"

namespace kernelindex {

namespace schema {
struct Node;
}

inline constexpr std::string_view kResultFormat = "kernelindex.result/1";
inline constexpr std::size_t kResultDocumentBytes = 4 * limits::kMiB;
inline constexpr std::size_t kResultTrials = 1024;
inline constexpr std::size_t kResultRounds = 4096;
inline constexpr std::size_t kResultChecks = 1024;
inline constexpr std::size_t kResultLogs = 256;
inline constexpr std::size_t kResultCodes = 128;
inline constexpr std::int64_t kTrialSamples = 10'000;
// Of all timed trials of one workload: what statistics are made of.
inline constexpr std::size_t kPooledSamples = 65'536;
inline constexpr std::size_t kResultTextBytes = 2000;

using RunnerEntropy = std::array<std::uint8_t, 32>;

// The device as the driver and NVML name it. `environment.device`.
struct MeasuredDevice {
  enum class Kind : std::uint8_t { physical, simulated };
  Kind kind = Kind::simulated;
  std::string product;        // as importers spell it: "NVIDIA H200"
  std::string reported_name;  // what NVML said, when it is spelt otherwise
  std::string architecture;   // "sm_90"
  std::string form_factor;    // "sxm", "pcie"; empty: not known, never guessed
  std::optional<std::int64_t> memory_bytes;
  std::string mig_profile;  // empty: the whole device
  std::int64_t count = 1;   // devices used
  Digest id;                // SHA-256 of the 32 bytes of the ledger id and the UUID
  std::string board;        // part number or VBIOS; empty when not told

  bool operator==(const MeasuredDevice&) const = default;
};

// `environment.host`. Both are SHA-256 of the 32 bytes of the ledger id and the text of the id.
struct MeasuredHost {
  Digest id;    // of the machine: /etc/machine-id
  Digest boot;  // of this boot: /proc/sys/kernel/random/boot_id

  bool operator==(const MeasuredHost&) const = default;
};

// `environment.software`: texts of one line; empty when not known. PROTOCOL section 15.
struct MeasuredSoftware {
  std::string operating_system;
  std::string kernel;
  std::string driver;
  std::string cuda_toolkit;
  std::string compiler;
  std::map<std::string, std::string> libraries;  // token -> version, "cupti": "13.0.85"

  bool operator==(const MeasuredSoftware&) const = default;
};

// `environment.settings`, read while measuring.
struct MeasuredSettings {
  std::optional<bool> clocks_locked;
  std::optional<std::int64_t> power_limit_milliwatts;
  std::optional<bool> persistence_mode;
  std::optional<bool> ecc_enabled;
  std::map<std::string, std::string> environment_variables;  // those handed to the child

  bool operator==(const MeasuredSettings&) const = default;
};

// What holds a process in. What the kernel of the machine cannot give is false or 0.
struct SandboxFacts {
  bool user_namespace = false;
  bool mount_namespace = false;
  bool pid_namespace = false;
  bool network_namespace = false;
  bool ipc_namespace = false;
  bool no_new_privileges = false;
  bool seccomp = false;
  bool private_directory = false;  // its own temporary directory
  std::int64_t landlock_abi = 0;   // 0: the kernel has none
  enum class Cap : std::uint8_t { none, rlimit, cgroup };
  Cap memory_cap = Cap::none;
  Cap process_cap = Cap::none;

  bool operator==(const SandboxFacts&) const = default;
};

// What NVML said in polls from before the first to after the last trial. PROTOCOL section 5.
struct DevicePolls {
  std::int64_t polls = 0;  // how many there were
  // SM clock in the timed windows.
  std::int64_t sm_khz_lowest = 0;
  std::int64_t sm_khz_median = 0;
  std::int64_t sm_khz_highest = 0;
  std::optional<std::int64_t> sm_khz_target;  // of the locked variant
  // In how many polls each reason was set.
  std::int64_t hw_slowdown = 0;
  std::int64_t sw_thermal = 0;
  std::int64_t hw_thermal = 0;
  std::int64_t power_brake = 0;
  std::int64_t sw_power_cap = 0;
  // Degrees Celsius: first and last trial, the highest, and where the device slows down.
  std::int64_t temperature_first = 0;
  std::int64_t temperature_last = 0;
  std::int64_t temperature_highest = 0;
  std::optional<std::int64_t> temperature_slowdown;
  // Uncorrected errors before and after; absent when the device does not count them.
  std::optional<std::int64_t> ecc_before;
  std::optional<std::int64_t> ecc_after;
  std::int64_t xids = 0;               // critical errors in the session
  std::int64_t foreign_processes = 0;  // most processes of others seen in one poll

  bool operator==(const DevicePolls&) const = default;
};

// One kernel of the built artifact, as ptxas tells.
struct BuiltKernel {
  std::string name;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t spill_bytes = 0;

  bool operator==(const BuiltKernel&) const = default;
};

struct BuildFacts {
  bool built = false;
  // SHA-256 of the canonical JSON of sources, toolchain, flags in order, architecture and shim.
  // PROTOCOL section 4. Absent when no compiler was started.
  std::optional<Digest> compile_digest;
  std::optional<Digest> artifact_digest;  // of the cubin or .so
  std::string architecture;               // "sm_90a": what was compiled for
  std::string adapter;                    // "torch-shim/1"; empty: none was needed
  bool adapter_gap = false;               // the adapter lacks something: no fault of the sources
  std::vector<Digest> sources;            // what was compiled, sorted
  std::vector<std::string> flags;         // in their order
  std::map<std::string, std::string> toolchain;  // token -> version and digest, "nvcc": "13.0.88 …"
  std::vector<BuiltKernel> kernels;
  std::optional<bool> reproducible;  // two builds gave the same cubin

  bool operator==(const BuildFacts&) const = default;
};

// A round of correctness. PROTOCOL section 12.
struct CorrectnessRound {
  enum class Family : std::uint8_t { T0, C1, C2, C3, C4, C5, C6 };
  enum class Outcome : std::uint8_t {
    passed,
    incorrect_shape,
    incorrect_dtype,
    incorrect_numerical,
    invalid_reference
  };
  Digest workload;
  Family family{};
  Outcome outcome{};
  std::int64_t elements = 0;  // compared
  std::int64_t matched = 0;   // within the source's own tolerance
  std::int64_t nans = 0;      // of the output; and infinities that the reference has not
  std::int64_t infinities = 0;
  std::optional<std::int64_t> rms_ppb;  // relative RMS error, parts per billion, rounded up
  std::optional<double> max_absolute_error;
  std::optional<double> max_relative_error;

  bool operator==(const CorrectnessRound&) const = default;
};

// A wrong solution that the comparator must refuse, or the workload is vacuous. PROTOCOL 12.6.
struct VacuityControl {
  Digest workload;
  std::string control;  // a token: "zeros", "nan_poison", "constant_mean"
  bool rejected = false;

  bool operator==(const VacuityControl&) const = default;
};

// Something that was looked at `checked` times and found wrong `failed` times.
struct Observation {
  enum class What : std::uint8_t {
    outputs,      // outputs of timed calls, verified at sampled positions
    unwithheld,   // of those that failed: right when the withheld lines are taken as they were
    replayed,     // of those that failed: the output of an earlier sample
    guards,       // patterns around the windows: a write outside
    inputs,       // inputs after the call: changed
    aliases,      // outputs that lie in inputs, guards or the runner's memory
    retained,     // bytes that the sources kept across calls, per call
    late_work,    // work that was not done when the window closed
    l2_limit,     // persisting L2: set or raised
    code_pages,   // code of driver, runtime and runner in the child: differs from the file
    threads,      // threads of the child that were not there before the calls
    frames,       // frames of the child: unexpected, twice, malformed or of another session
    cuda_errors,  // errors after a call
    vendor_calls  // kernels of libraries that the contract forbids
  };
  What what{};
  std::int64_t checked = 0;
  std::int64_t failed = 0;

  bool operator==(const Observation&) const = default;
};

// Samples left out, for a named reason that does not look at their time.
struct Discards {
  enum class Reason : std::uint8_t { blocking_timeout, cupti_record, clock_poll };
  Reason reason{};
  std::int64_t count = 0;

  bool operator==(const Discards&) const = default;
};

// One trial: a child process and its timed samples. PROTOCOL sections 7 to 10.
struct Trial {
  enum class Kind : std::uint8_t {
    timed,             // event windows: the three trials that statistics are made of
    cupti_envelope,    // the same in another process, CUPTI's envelopes
    clean_flush,       // event windows after a flush that reads
    constant_address,  // buffers that do not move
    same_input,        // one input again and again
    empty_window,      // two events and nothing between them
    wall_clock         // the parent's clock around `calls` calls: one sample, all of them together
  };
  enum class End : std::uint8_t { done, timeout, signal, error, resource, forbidden };
  Digest workload;
  Kind kind{};
  End end{};
  std::int64_t samples = 0;  // how many of the artifact are its own
  // SHA-256 of the bytes of its samples; that of the empty text when there are none.
  Digest digest;
  std::vector<Discards> discards;
  bool blocking = false;          // a blocking kernel kept the queue fed
  bool host_sync_inside = false;  // the call synchronises
  bool warmup_steady = false;
  std::int64_t warmup_calls = 0;
  std::int64_t kernels_per_call = 0;  // CUPTI; 0 when not known
  bool kernel_set_varies = false;
  std::int64_t activity_records = 0;        // CUPTI: kernels, copies and fills seen
  std::int64_t dropped_records = 0;         // CUPTI
  std::optional<std::int64_t> late_ns;      // median of e2 - e1
  std::optional<std::int64_t> compare_ns;   // what the compare kernel costs alone
  std::optional<std::int64_t> calls;        // wall_clock: calls in its sample
  std::optional<std::int64_t> overhead_ns;  // wall_clock: of generating and launching, each call
  std::vector<Observation> observations;    // each `what` at most once

  bool operator==(const Trial&) const = default;
};

// What the runner says the samples of its timed trials give; recomputed by everybody who reads it.
// In nanoseconds; statistics.h has the definitions.
struct ResultStatistics {
  std::int64_t samples = 0;
  std::int64_t median_ns = 0;
  std::int64_t mean_ns = 0;
  std::int64_t p05_ns = 0;
  std::int64_t p95_ns = 0;
  std::int64_t minimum_ns = 0;
  std::int64_t maximum_ns = 0;
  std::int64_t mad_ns = 0;
  // The interval of 95 %; absent below six samples.
  std::optional<std::int64_t> low_ns;
  std::optional<std::int64_t> high_ns;

  bool operator==(const ResultStatistics&) const = default;
};

// One check of the runner, with its outcome; for people, and for what the numbers above do not say.
struct RunnerCheck {
  enum class Outcome : std::uint8_t { passed, failed, note, not_run };
  std::string code;  // is_reason_code()
  Outcome outcome{};
  std::string detail;              // one line; empty: none
  std::optional<Digest> evidence;  // an artifact

  bool operator==(const RunnerCheck&) const = default;
};

// An output of a process, cut at its limit. An artifact.
struct RunnerLog {
  std::string name;              // a token: "build", "child_3"
  std::optional<Digest> digest;  // of what was kept; absent when that is nothing
  std::int64_t kept_bytes = 0;
  std::int64_t original_bytes = 0;  // more than was kept when it was cut

  bool operator==(const RunnerLog&) const = default;
};

// What happened, PROTOCOL section 14, most severe first. `revoked` is the ledger's word and never a
// runner's.
enum class RunStatus : std::uint8_t {
  invalid_reference,
  compile_error,
  policy_violation,
  suspected_reward_hack,
  resource_exceeded,
  timeout,
  runtime_error,
  incorrect_shape,
  incorrect_dtype,
  incorrect_numerical,
  incomplete_evidence,
  passed
};
std::string_view run_status_name(RunStatus status);  // "passed"
std::optional<RunStatus> run_status_from_name(std::string_view name);

struct MeasurementResult {
  Digest ledger;
  Digest job;
  JobNonce nonce{};  // of the job
  Digest runner;
  Digest protocol;
  Digest harness;  // SHA-256 of the executable that ran, computed by itself
  ClockVariant clocks{};
  TrustMode trust{};
  UtcMicros started_at = 0;
  UtcMicros finished_at = 0;
  RunnerEntropy entropy{};  // the runner's own part of the seeds, revealed

  MeasuredDevice device;
  MeasuredHost host;
  MeasuredSoftware software;
  MeasuredSettings settings;
  SandboxFacts builder_sandbox;  // `sandbox.builder`
  SandboxFacts child_sandbox;    // `sandbox.child`
  std::optional<DevicePolls> polls;
  BuildFacts build;

  // Before all trials, after them, and between them when there are many: in the order of measuring.
  std::vector<SentinelSession> sentinels;
  std::optional<Digest> sentinel_samples;

  std::vector<CorrectnessRound> rounds;
  std::vector<VacuityControl> controls;

  std::vector<Trial> trials;  // of kind timed, in the order of measuring
  std::optional<Digest> samples;
  std::vector<Trial> diagnostics;  // of the other kinds
  std::optional<Digest> diagnostic_samples;

  std::map<Digest, ResultStatistics> statistics;  // by workload; none without samples

  std::vector<RunnerCheck> checks;
  RunStatus status = RunStatus::incomplete_evidence;
  std::vector<std::string> codes;                // every code that was found, sorted
  bool countable = false;                        // `countability`: what the runner itself thinks
  std::vector<std::string> uncountable_reasons;  // sorted

  std::vector<RunnerLog> logs;

  bool operator==(const MeasurementResult&) const = default;
};

// Errors (invalid), with the path of the field: those of json::parse and of the schema;
// WRONG_FORMAT; BAD_MEMBER (order, counts that contradict each other, samples without trials).
Result<MeasurementResult> read_measurement_result(std::string_view text);
// Canonical JSON. Error: what read_measurement_result() says about it.
Result<std::string> write_measurement_result(const MeasurementResult& result);

// Every artifact that the document names: samples, logs, what was built, evidence of checks.
// Sorted, nothing twice.
std::vector<Digest> artifacts_of(const MeasurementResult& result);

schema::Node measurement_result_shape();

}  // namespace kernelindex
