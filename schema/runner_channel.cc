// SPDX-License-Identifier: Apache-2.0
#include "schema/runner_channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>

namespace kernelindex {
namespace {

constexpr std::size_t kReadStep = std::size_t{1} << 20;

std::unexpected<Error> channel_error(std::string what) {
  return fail(ErrorKind::system, "RUNNER_CHANNEL", {},
              std::move(what) + ": " + std::strerror(errno),
              "See what the other side wrote to its standard error");
}

std::unexpected<Error> bad_message(std::string message) {
  return fail(ErrorKind::invalid, "BAD_RUNNER_MESSAGE", {}, std::move(message),
              "Use a kernelindex and a runner of the same version");
}

void put(char* out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t get(const char* in, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(in[i]);
  return value;
}

bool is_kind(std::uint64_t kind) { return (kind >= 1 && kind <= 3) || (kind >= 16 && kind <= 20); }

// MSG_NOSIGNAL: a runner that died is an error of this call, not the end of this process.
bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno == ENOTSOCK) wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

// The count of bytes that came before the end, or -1.
ssize_t read_up_to(int descriptor, char* out, std::size_t count) {
  std::size_t size = 0;
  while (size < count) {
    const ssize_t got = ::read(descriptor, out + size, count - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

std::string encode_named_body(std::string_view name, std::string_view bytes) {
  assert(!name.empty() && name.size() <= kRunnerNameBytes);
  std::string body(2, '\0');
  put(body.data(), name.size(), 2);
  body.reserve(2 + name.size() + bytes.size());
  return body.append(name).append(bytes);
}

Result<NamedBody> decode_named_body(std::string_view body) {
  if (body.size() < 2) return bad_message("a named body has less than two bytes");
  const std::size_t size = static_cast<std::size_t>(get(body.data(), 2));
  if (size == 0 || size > kRunnerNameBytes || body.size() - 2 < size) {
    return bad_message("the name of a body has a wrong length");
  }
  return NamedBody{std::string(body.substr(2, size)), std::string(body.substr(2 + size))};
}

Status send_runner_message(int descriptor, RunnerMessageKind kind, std::string_view body) {
  assert(body.size() <= kRunnerMessageBytes);
  std::array<char, kRunnerMessageHeaderBytes> header{};
  put(header.data(), static_cast<std::uint32_t>(kind), 4);
  put(header.data() + 8, body.size(), 8);
  if (!write_all(descriptor, {header.data(), header.size()}) || !write_all(descriptor, body)) {
    return channel_error("a message could not be written");
  }
  return {};
}

Result<RunnerMessage> receive_runner_message(int descriptor, std::uint64_t limit) {
  std::array<char, kRunnerMessageHeaderBytes> header{};
  const ssize_t got = read_up_to(descriptor, header.data(), header.size());
  if (got < 0) return channel_error("a message could not be read");
  if (got == 0) {
    return fail(ErrorKind::system, "RUNNER_CHANNEL_CLOSED", {}, "the other side has ended",
                "See what the other side wrote to its standard error");
  }
  if (got != static_cast<ssize_t>(header.size())) return bad_message("a header is cut short");
  const std::uint64_t kind = get(header.data(), 4);
  const std::uint64_t size = get(header.data() + 8, 8);
  if (!is_kind(kind)) return bad_message("there is no message of kind " + std::to_string(kind));
  if (get(header.data() + 4, 4) != 0) return bad_message("bytes 4 to 7 of a header are not zero");
  if (size > limit) {
    return bad_message("a body of " + std::to_string(size) + " bytes is above the limit of " +
                       std::to_string(limit));
  }
  RunnerMessage message{static_cast<RunnerMessageKind>(kind), {}};
  // Grown step by step: a header alone must not make us allocate what never comes.
  while (message.body.size() < size) {
    const std::size_t done = message.body.size();
    const std::size_t step = std::min<std::size_t>(kReadStep, size - done);
    message.body.resize(done + step);
    const ssize_t more = read_up_to(descriptor, message.body.data() + done, step);
    if (more < 0) return channel_error("a message could not be read");
    if (more != static_cast<ssize_t>(step)) return bad_message("a body is cut short");
  }
  return message;
}

}  // namespace kernelindex
