// SPDX-License-Identifier: Apache-2.0
// Listens, and answers each connection from a Service: HTTP/1.1, with TLS when it has a
// certificate. Every wait has an end, and everything that a client can make grow has a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "schema/result.h"

namespace kernelindex::serve {

class AccessLog;
class Service;

struct ServerLimits {
  std::size_t header_bytes = std::size_t{16} << 10u;
  // Open at a time. At the limit those that have waited longest for a client's bytes make room;
  // when all are in work the new one is closed, without TLS after a 503.
  std::size_t connections = 16'384;
  std::size_t answers_waiting = 512;              // to be made; above it: 503
  std::chrono::milliseconds header_time{10'000};  // from the first byte (at first: from the
                                                  // connection) to the whole header
  std::chrono::milliseconds body_time{20'000};
  std::chrono::milliseconds answer_time{30'000};  // to make an answer, or the next piece of one
  std::chrono::milliseconds write_time{30'000};   // for a client to take an answer or a piece
  std::chrono::milliseconds idle_time{60'000};    // between requests
  std::chrono::milliseconds grace{10'000};        // for what is in work when the server stops
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // numeric
  std::uint16_t port = 0;             // 0: the system chooses; see port()
  std::string certificate_file;       // PEM, the whole chain; with `key_file`: TLS 1.2 and 1.3
  std::string key_file;               // PEM
  unsigned threads = 1;               // that move bytes
  unsigned workers = 2;               // that make answers
  bool stop_on_signals = false;       // SIGTERM and SIGINT
  ServerLimits limits;
};

class Server {
 public:
  // Listens from now on. Lends both; the log may be null. Errors (system): LISTEN, TLS_CERTIFICATE,
  // TLS_KEY; (usage) BAD_ADDRESS.
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options, Service& service,
                                                AccessLog* log);
  ~Server();

  std::uint16_t port() const;
  // Serves until stop(): then takes no new connection, ends those that wait, and returns when what
  // is in work was sent or the grace is over. `idle` is called about four times a second by one of
  // the threads. Requires: called once.
  void run(const std::function<void()>& idle = {});
  // From any thread, any number of times.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelindex::serve
