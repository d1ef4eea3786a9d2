// SPDX-License-Identifier: Apache-2.0
// Sessions of the sentinel kernels: before and after every job, and for calibration. PROTOCOL
// section 6.
//
// Raw samples of sessions are an artifact of unsigned 64-bit little-endian integers, session after
// session; in each the `repetitions` values of launch, bandwidth, compute, tensor (ns, event
// windows) and of the SM clock (kHz).
//
// A calibration request, which a runner is handed:
//
//   {"format":"kernelindex.calibration-request/1","ledger":D,"clocks":"unlocked",
//    "sessions":3,"repetitions":20}
//
// and what it gives back:
//
//   {"format":"kernelindex.calibration/1","ledger":D,"harness":D,
//    "deviceKind":"physical","product":"NVIDIA H200","device":D,"host":D,
//    "sessions":[{"boot":D,"clocks":"unlocked","repetitions":20,"launchNs":N,"bandwidthNs":N,
//                 "computeNs":N,"tensorNs":N,"smKhz":N},…],
//    "samples":D}
//
// `device` and `host` are those of measurement_result.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/measurement_terms.h"
#include "schema/result.h"

namespace kernelindex {

namespace schema {
struct Node;
}

inline constexpr std::string_view kCalibrationRequestFormat = "kernelindex.calibration-request/1";
inline constexpr std::string_view kCalibrationFormat = "kernelindex.calibration/1";
inline constexpr std::size_t kCalibrationSessions = 256;
inline constexpr std::int64_t kCalibrationSamples = 100'000;
inline constexpr std::size_t kSentinelSeries = 5;  // launch, bandwidth, compute, tensor, SM clock

// Medians are those of statistics.h.
struct SentinelSession {
  Digest boot;  // SHA-256 of the ledger id and the boot id: how many boots the sessions span
  ClockVariant clocks{};
  std::int64_t repetitions = 0;   // of each sentinel, 1..kCalibrationSamples
  std::int64_t launch_ns = 0;     // S0, an empty kernel
  std::int64_t bandwidth_ns = 0;  // S1, a triad over 1 GiB
  std::int64_t compute_ns = 0;    // S2, a chain of fp32 FMA
  std::int64_t tensor_ns = 0;     // S2, mma.sync of bf16
  std::int64_t sm_khz = 0;        // what S2 shows

  bool operator==(const SentinelSession&) const = default;
};

struct CalibrationRequest {
  Digest ledger;
  ClockVariant clocks{};
  std::int64_t sessions = 1;       // 1..kCalibrationSessions
  std::int64_t repetitions = 200;  // 1..kCalibrationSamples

  bool operator==(const CalibrationRequest&) const = default;
};

struct CalibrationDocument {
  Digest ledger;
  Digest harness;
  bool simulated = true;  // `deviceKind`
  std::string product;
  Digest device;
  Digest host;
  std::vector<SentinelSession> sessions;  // 1..kCalibrationSessions
  Digest samples;

  bool operator==(const CalibrationDocument&) const = default;
};

// Errors (invalid): those of json::parse and of the schema; WRONG_FORMAT.
Result<CalibrationRequest> read_calibration_request(std::string_view text);
Result<CalibrationDocument> read_calibration_document(std::string_view text);
// Canonical JSON. Errors: what the readers say about it.
Result<std::string> write_calibration_request(const CalibrationRequest& request);
Result<std::string> write_calibration_document(const CalibrationDocument& document);

schema::Node calibration_request_shape();
schema::Node calibration_document_shape();

}  // namespace kernelindex
