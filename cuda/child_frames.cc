// SPDX-License-Identifier: Apache-2.0
#include "cuda/child_frames.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace kernelindex::runner {
namespace {

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t get(std::string_view in, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(in[at + i]);
  return value;
}

bool is_kind(std::uint32_t kind) { return (kind >= 1 && kind <= 4) || kind == 16 || kind == 17; }

struct Packet {
  ssize_t size = 0;
  bool spoilt = false;  // longer than the room for it, or with descriptors
};

Packet receive_packet(int descriptor, std::string& room, int flags) {
  iovec part{room.data(), room.size()};
  alignas(cmsghdr) std::array<char, 256> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  Packet packet;
  do {
    packet.size = ::recvmsg(descriptor, &message, flags | MSG_CMSG_CLOEXEC);
  } while (packet.size < 0 && errno == EINTR);
  if (packet.size < 0) return packet;
  packet.spoilt = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr;
       part_of = CMSG_NXTHDR(&message, part_of)) {
    packet.spoilt = true;
    if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part_of->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int sent = -1;
      std::memcpy(&sent, CMSG_DATA(part_of) + i * sizeof(int), sizeof sent);
      ::close(sent);
    }
  }
  return packet;
}

}  // namespace

std::string encode_child_frame(const ChildFrame& frame) {
  assert(frame.payload.size() <= kFrameBytes - kFrameHeaderBytes);
  std::string out(frame.session.data(), frame.session.size());
  put(out, frame.request, 4);
  put(out, static_cast<std::uint16_t>(frame.kind), 2);
  put(out, 0, 2);
  return out + frame.payload;
}

std::optional<ChildFrame> decode_child_frame(std::string_view packet) {
  if (packet.size() < kFrameHeaderBytes || packet.size() > kFrameBytes) return std::nullopt;
  const std::uint32_t kind = get(packet, 20, 2);
  if (!is_kind(kind) || get(packet, 22, 2) != 0) return std::nullopt;
  ChildFrame frame;
  std::memcpy(frame.session.data(), packet.data(), frame.session.size());
  frame.request = get(packet, 16, 4);
  frame.kind = static_cast<FrameKind>(kind);
  frame.payload = packet.substr(kFrameHeaderBytes);
  return frame;
}

ChildChannel::ChildChannel(int descriptor, const SessionId& session)
    : descriptor_(descriptor), session_(session) {}
ChildChannel::ChildChannel(ChildChannel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      session_(other.session_),
      request_(other.request_),
      answered_(other.answered_),
      packets_(other.packets_),
      forgeries_(other.forgeries_) {}
ChildChannel::~ChildChannel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status ChildChannel::ask(FrameKind kind, std::string_view payload) {
  // Random, so that an answer cannot be sent before its question.
  const std::string bytes = random_text(sizeof request_);
  std::memcpy(&request_, bytes.data(), sizeof request_);
  answered_ = false;
  const std::string packet = encode_child_frame({session_, request_, kind, std::string(payload)});
  ssize_t sent = 0;
  do {
    sent = ::send(descriptor_, packet.data(), packet.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(packet.size())) return {};
  return fail(ErrorKind::system, "CHILD_GONE", {}, "a child process takes no more requests");
}

ChildChannel::Judged ChildChannel::take() {
  std::string room(kFrameBytes + 1, '\0');
  const Packet packet = receive_packet(descriptor_, room, MSG_DONTWAIT);
  if (packet.size < 0) {
    const bool waiting = errno == EAGAIN || errno == EWOULDBLOCK;
    return {waiting ? Judged::What::nothing_yet : Judged::What::gone, {}};
  }
  if (packet.size == 0 && !packet.spoilt) return {Judged::What::gone, {}};
  ++packets_;
  const auto forged = [this](std::string why) {
    ++forgeries_;
    return Judged{Judged::What::forgery, std::move(why)};
  };
  if (packet.spoilt) return forged("a packet that is too long or carries descriptors");
  std::optional<ChildFrame> frame =
      decode_child_frame(std::string_view(room).substr(0, static_cast<std::size_t>(packet.size)));
  if (!frame) return forged("a packet that is no frame");
  if (frame->session != session_) return forged("a frame of another session");
  if (frame->kind != FrameKind::answer && frame->kind != FrameKind::failure) {
    return forged("a frame that only a parent sends");
  }
  if (frame->request != request_) return forged("a frame that nobody asked for");
  if (answered_) return forged("a second answer");
  answered_ = true;
  const bool answer = frame->kind == FrameKind::answer;
  return {answer ? Judged::What::answer : Judged::What::failure, std::move(frame->payload)};
}

std::optional<ChildFrame> receive_request(int descriptor) {
  std::string room(kFrameBytes + 1, '\0');
  const Packet packet = receive_packet(descriptor, room, 0);
  if (packet.size <= 0 || packet.spoilt) return std::nullopt;
  return decode_child_frame(
      std::string_view(room).substr(0, static_cast<std::size_t>(packet.size)));
}

bool send_answer(int descriptor, const ChildFrame& request, FrameKind kind,
                 std::string_view payload) {
  const std::string packet =
      encode_child_frame({request.session, request.request, kind,
                          std::string(payload.substr(0, kFrameBytes - kFrameHeaderBytes))});
  ssize_t sent = 0;
  do {
    sent = ::send(descriptor, packet.data(), packet.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

std::string random_text(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t size = 0;
  while (size < count) {
    const ssize_t got = ::getrandom(bytes.data() + size, count - size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();  // nothing random is worse than nothing
    size += static_cast<std::size_t>(got);
  }
  return bytes;
}

SessionId new_session() {
  SessionId session;
  const std::string bytes = random_text(session.size());
  std::memcpy(session.data(), bytes.data(), session.size());
  return session;
}

}  // namespace kernelindex::runner
