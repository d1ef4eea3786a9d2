// SPDX-License-Identifier: Apache-2.0
// Frames between the parent and one of its confined children: one SOCK_SEQPACKET socket, made
// before the child is started. PROTOCOL section 1.
//
//   bytes 0..15   session id: random, another for each child
//   bytes 16..19  number of the request, random, little-endian; an answer bears that of its request
//   bytes 20..21  kind
//   bytes 22..23  zero
//   bytes 24..    payload
//
// A child answers each request with exactly one frame. Anything else is CHANNEL_FORGERY: another
// session, a number that was not asked for, a second answer, a kind that is none, a packet cut
// short, descriptors sent along. What a frame says is input to be judged, never a verdict.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::runner {

using SessionId = std::array<char, 16>;
inline constexpr std::size_t kFrameHeaderBytes = 24;
inline constexpr std::size_t kFrameBytes = 64 * 1024;

enum class FrameKind : std::uint16_t {
  load = 1,      // parent: load what is to be called
  sample = 2,    // parent: do one call
  finish = 3,    // parent: end
  open = 4,      // parent: get ready; no code of others runs before the answer
  answer = 16,   // child: what came of it
  failure = 17,  // child: "CODE text"
};

struct ChildFrame {
  SessionId session{};
  std::uint32_t request = 0;
  FrameKind kind{};
  std::string payload;
};

// Requires: payload.size() <= kFrameBytes - kFrameHeaderBytes.
std::string encode_child_frame(const ChildFrame& frame);
// Nothing for what is no frame.
std::optional<ChildFrame> decode_child_frame(std::string_view packet);

// The parent's view of a channel: asks, and judges what answers.
class ChildChannel {
 public:
  // Takes over the descriptor.
  ChildChannel(int descriptor, const SessionId& session);
  ChildChannel(ChildChannel&&) noexcept;
  ChildChannel(const ChildChannel&) = delete;
  ChildChannel& operator=(ChildChannel&&) = delete;
  ~ChildChannel();

  int descriptor() const { return descriptor_; }
  const SessionId& session() const { return session_; }

  // Sends the next request. Error CHILD_GONE (kind system).
  Status ask(FrameKind kind, std::string_view payload);

  struct Judged {
    enum class What : std::uint8_t { nothing_yet, answer, failure, forgery, gone };
    What what = What::nothing_yet;
    std::string payload;  // of an answer or a failure; of a forgery what is wrong
  };
  // Takes one packet without waiting and judges it.
  Judged take();
  // How many packets were taken and how many of them were none of ours.
  std::int64_t packets() const { return packets_; }
  std::int64_t forgeries() const { return forgeries_; }

 private:
  int descriptor_ = -1;
  SessionId session_{};
  std::uint32_t request_ = 0;
  bool answered_ = true;
  std::int64_t packets_ = 0;
  std::int64_t forgeries_ = 0;
};

// The child's side: waits for the next frame. Nothing at the end.
std::optional<ChildFrame> receive_request(int descriptor);
// Answers a request. False when the parent is gone.
bool send_answer(int descriptor, const ChildFrame& request, FrameKind kind,
                 std::string_view payload);

// Bytes from the kernel's generator; stops the program when it has none.
std::string random_text(std::size_t count);
SessionId new_session();

}  // namespace kernelindex::runner
