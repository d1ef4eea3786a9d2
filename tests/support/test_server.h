// SPDX-License-Identifier: Apache-2.0
// A server of the tests on loopback, with TLS or without, that says exactly what a test tells it
// to, however wrong that is; and the certificates that it shows.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kernelindex::test {

struct Certificate {
  std::string chain;  // PEM
  std::string key;    // PEM
};

// A certificate authority made for one test; only a client that is given `root()` trusts it.
class CertificateAuthority {
 public:
  CertificateAuthority();
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  std::string root() const;  // PEM
  // `names` in OpenSSL's spelling, "DNS:localhost,IP:127.0.0.1"; valid from an hour before
  // now to `days` after it (negative: expired).
  Certificate issue(const std::string& names, int days = 1) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class TestServer {
 public:
  // The other end of one connection, inside a script.
  class Peer {
   public:
    // The next request, head and body, as it came; empty when the client is gone.
    std::string read_request();
    // False when the client is gone.
    bool send(std::string_view bytes);
    // Returns when the client is gone: how a server stalls without a clock.
    void wait_until_gone();
    // Ends the connection without TLS's goodbye, as an attacker on the way would.
    void cut();

   private:
    friend class TestServer;
    Peer(int socket, void* tls) : socket_(socket), tls_(tls) {}
    long read(char* buffer, std::size_t size);
    int socket_;
    void* tls_;  // SSL*, or null
    std::string rest_;
    bool cut_ = false;
  };
  // Runs once for each connection, one after the other, in the server's thread. At its end the
  // connection is closed properly.
  using Script = std::function<void(Peer&)>;

  struct Options {
    const Certificate* certificate = nullptr;  // null: without TLS
    bool ipv6 = false;                         // ::1 in place of 127.0.0.1
  };
  // Throws std::runtime_error when the machine has no such address.
  TestServer(const Options& options, Script script);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  // Connections that were accepted, failed handshakes included.
  int connections() const { return connections_; }

 private:
  void serve();
  void talk(int socket);

  Options options_;
  Script script_;
  void* tls_ = nullptr;  // SSL_CTX*
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> current_ = -1;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace kernelindex::test
