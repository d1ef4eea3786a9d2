// SPDX-License-Identifier: Apache-2.0
// One client, from its first byte to its last. Private to connection.cc and server.cc, the door to
// Boost.Asio and Beast.
//
//   handshake -> idle -> header -> (body) -> answer -> write -> idle ...
//                                                      write -> linger -> closed
//
// Requests that were pipelined are answered one after the other, in order.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "tools/serve/server.h"

namespace kernelindex::serve {

using SteadyTime = std::chrono::steady_clock::time_point;
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class Connection;

// What connections of one thread share. Used by that thread alone but for the two that say so.
struct Shard {
  Shard(Service& service, AccessLog* log, const ServerLimits& limits,
        boost::asio::thread_pool& workers, std::atomic<std::size_t>& answers_waiting)
      : service(service),
        log(log),
        limits(limits),
        workers(workers),
        answers_waiting(answers_waiting) {}

  Service& service;
  AccessLog* log;
  const ServerLimits& limits;
  boost::asio::thread_pool& workers;          // from any thread
  std::atomic<std::size_t>& answers_waiting;  // from any thread
  boost::asio::io_context context{1};
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections;
  bool draining = false;

  // The Date line of this second, ready to be sent.
  const std::string& date_line();

 private:
  std::int64_t date_second_ = 0;
  std::string date_line_;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  enum class Phase : std::uint8_t { handshake, idle, header, body, answer, write, linger, closed };

  explicit Connection(Shard& shard) : shard_(shard), since_(std::chrono::steady_clock::now()) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void start() = 0;
  // At once, whatever is in work. The shard forgets it.
  virtual void close() = 0;

  Phase phase() const { return phase_; }
  // Whether it waits for the client to ask: such a one may be closed to make room.
  bool waits_for_client() const {
    return phase_ == Phase::handshake || phase_ == Phase::idle || phase_ == Phase::header ||
           phase_ == Phase::linger;
  }
  SteadyTime since() const { return since_; }
  SteadyTime deadline() const { return deadline_; }

 protected:
  void enter(Phase phase, std::chrono::milliseconds time) {
    phase_ = phase;
    since_ = std::chrono::steady_clock::now();
    deadline_ = since_ + time;
  }

  Shard& shard_;

 private:
  Phase phase_ = Phase::handshake;
  SteadyTime since_;     // of the phase
  SteadyTime deadline_;  // when the phase must be over
};

// A certificate with its key. Opaque here: OpenSSL's headers are long.
class TlsIdentity {
 public:
  // Errors TLS_CERTIFICATE, TLS_KEY (system).
  static Result<std::unique_ptr<TlsIdentity>> read(const std::string& certificate_file,
                                                   const std::string& key_file);
  ~TlsIdentity();

  struct Context;
  Context& context() { return *context_; }

 private:
  explicit TlsIdentity(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

// With TLS unless `tls` is null, which is lent.
std::shared_ptr<Connection> make_connection(Socket socket, Shard& shard, TlsIdentity* tls);

}  // namespace kernelindex::serve
