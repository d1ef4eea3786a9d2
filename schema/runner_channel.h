// SPDX-License-Identifier: Apache-2.0
// What is said between the runner and the controller that starts it: one stream
// socket, messages in a fixed order, each a header of 16 bytes and a body.
//
//   bytes 0..3    the kind, unsigned 32-bit little-endian
//   bytes 4..7    zero
//   bytes 8..15   the length of the body, unsigned 64-bit little-endian
//
//   kernelindex-runner measure   --channel FD [--simulate]
//   kernelindex-runner calibrate --channel FD [--simulate]
//
//   caller -> runner   job, input*, begin
//   runner -> caller   progress*, artifact*, samples?, result
//   runner -> caller   failed          at any time in place of what was due; then the end
//
// Every digest in the document that the job did not bring is that of an artifact or of the samples.
// A refusal, a timeout and a crash of what was measured are results, not failures.
//
// The runner gets no key. The process that started it holds the key, and signs what came back: so
// the one that reads what hostile code sends has nothing to lose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex {

enum class RunnerMessageKind : std::uint32_t {
  // From the caller.
  job = 1,    // a job document; for the mode calibrate a calibration request (sentinel_session.h)
  input = 2,  // a named body: the name of a file of input data, its bytes
  begin = 3,  // empty: all was said
  // From the runner.
  progress = 16,  // one line for people
  artifact = 17,  // a named body: a log, a cubin, the samples of diagnostics or sentinels
  samples = 18,   // the raw samples: little-endian 64-bit nanoseconds, trial after trial
  result = 19,    // the result document; for the mode calibrate a calibration document
  failed = 20,    // a named body: the code of an error, and its text
};

// Bodies above this many bytes are refused: an artifact is at most 256 MiB.
inline constexpr std::uint64_t kRunnerMessageBytes = std::uint64_t{257} << 20;
inline constexpr std::size_t kRunnerMessageHeaderBytes = 16;
inline constexpr std::size_t kRunnerNameBytes = 255;

struct RunnerMessage {
  RunnerMessageKind kind{};
  std::string body;
};

// A body with a name: the length of the name (unsigned 16-bit little-endian), the name, the rest.
struct NamedBody {
  std::string name;
  std::string bytes;
};
// Requires: 1..kRunnerNameBytes bytes of name.
std::string encode_named_body(std::string_view name, std::string_view bytes);
// Error BAD_RUNNER_MESSAGE.
Result<NamedBody> decode_named_body(std::string_view body);

// Writes one message. Error RUNNER_CHANNEL (kind system) when the other side is gone.
Status send_runner_message(int descriptor, RunnerMessageKind kind, std::string_view body);
// Reads one message, blocking. Errors: RUNNER_CHANNEL_CLOSED (kind system) at the end of the stream
// between two messages, RUNNER_CHANNEL inside of one, BAD_RUNNER_MESSAGE (kind invalid) for a kind
// that is none, header bytes that are not zero or a body above `limit`.
Result<RunnerMessage> receive_runner_message(int descriptor,
                                             std::uint64_t limit = kRunnerMessageBytes);

}  // namespace kernelindex
