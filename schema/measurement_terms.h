// SPDX-License-Identifier: Apache-2.0
// The words that jobs, results and what the log says of them have in common. PROTOCOL sections 2
// and 5; DESIGN section 8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kernelindex {

inline constexpr std::size_t kJobWorkloads = 256;
inline constexpr std::size_t kJobSources = 1024;
inline constexpr std::size_t kSourcePathBytes = 255;
inline constexpr std::size_t kProductBytes = 200;
inline constexpr std::size_t kArchitectureBytes = 100;
inline constexpr std::size_t kMigProfileBytes = 100;
inline constexpr std::int64_t kDevices = 64;
inline constexpr std::int64_t kDeviceBytes = std::int64_t{1} << 46;  // 64 TiB
inline constexpr std::int64_t kJobSeconds = 86'400;
inline constexpr std::int64_t kJobProcesses = 65'536;
inline constexpr std::int64_t kJobLogBytes = std::int64_t{1} << 30;
inline constexpr std::size_t kJobNonceBytes = 32;

using JobNonce = std::array<std::uint8_t, kJobNonceBytes>;

// Which of the two variants of ki-controlled-v1 is followed. Their protocol digests differ, and so
// do their comparison groups. PROTOCOL decision (b) and section 5.1.
enum class ClockVariant : std::uint8_t { unlocked, locked };

// Who launches the kernels: trusted code alone, or host code that came with the sources. PROTOCOL
// section 0.
enum class TrustMode : std::uint8_t { device_only, native_host };

// What the device must be; it is the hardware that the run claims.
struct JobDevice {
  std::string product;                       // as importers spell it: "NVIDIA H200"
  std::string architecture;                  // a token, "sm_90"; empty: that of the product
  std::optional<std::int64_t> memory_bytes;  // at least so many
  std::string mig_profile;                   // "1g.18gb"; empty: the whole device
  std::int64_t count = 1;                    // 1..kDevices

  bool operator==(const JobDevice&) const = default;
};

// What the processes of the runner may use. All at least 1. PROTOCOL section 2.
struct JobLimits {
  std::int64_t build_seconds = 600;                 // all compilers together
  std::int64_t wall_seconds = 900;                  // the whole job
  std::int64_t child_seconds = 120;                 // one trial
  std::int64_t output_bytes = 0;                    // of one call
  std::int64_t vram_bytes = 0;                      // device memory of one child
  std::int64_t pids = 64;                           // processes and threads of one child
  std::int64_t log_bytes = std::int64_t{16} << 20;  // of one child, what is kept

  bool operator==(const JobLimits&) const = default;
};

std::string_view clock_variant_name(ClockVariant variant);  // "unlocked", "locked"
std::string_view trust_mode_name(TrustMode mode);           // "device_only", "native_host"

// Whether a text may stand as the path of a source: at most kSourcePathBytes, segments between
// single slashes, none of them empty, "." or "..", none that begins with "-" (a compiler would take
// it for an option), no backslash, no control character.
bool is_source_path(std::string_view text);

// Whether a text is a code: [A-Z][A-Z0-9]* in words joined by single "_", at most kCodeBytes.
inline constexpr std::size_t kCodeBytes = 64;
bool is_reason_code(std::string_view text);

}  // namespace kernelindex
