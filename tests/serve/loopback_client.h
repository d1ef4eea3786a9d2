// SPDX-License-Identifier: Apache-2.0
// A client that says exactly what it is told, byte by byte.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelindex::serve {

class LoopbackClient {
 public:
  explicit LoopbackClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~LoopbackClient() { ::close(socket_); }
  LoopbackClient(const LoopbackClient&) = delete;
  LoopbackClient& operator=(const LoopbackClient&) = delete;

  void send(std::string_view bytes) { ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  // At least one byte more, or nothing when the server has closed.
  std::string some() {
    char buffer[4096];
    const ssize_t n = ::recv(socket_, buffer, sizeof buffer, 0);
    return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
  }
  // All bytes until the server closes.
  std::string all() {
    std::string out;
    for (std::string piece = some(); !piece.empty(); piece = some()) out += piece;
    return out;
  }

  int descriptor() const { return socket_; }

 private:
  int socket_;
};

// ---- requests, each the last of its connection, and what is in their answers ----

inline std::string get(const std::string& path, const std::string& more = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + more + "\r\n";
}
inline std::string post(const std::string& path, std::string_view body) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
inline std::string status_of(const std::string& answer) {
  constexpr std::size_t kBefore = std::string_view("HTTP/1.1 ").size();
  return answer.size() > kBefore ? answer.substr(kBefore, 3) : "";
}
// Of a field; empty when it is not there.
inline std::string field_of(const std::string& answer, const std::string& name) {
  const std::string head = answer.substr(0, answer.find("\r\n\r\n") + 2);
  const std::size_t at = head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 4;
  return head.substr(begin, head.find("\r\n", begin) - begin);
}
inline std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

}  // namespace kernelindex::serve
