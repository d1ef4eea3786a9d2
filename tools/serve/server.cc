// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <thread>
#include <vector>

#include "tools/serve/access_log.h"
#include "tools/serve/connection.h"
#include "tools/serve/service.h"

namespace kernelindex::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>,
                                         asio::io_context::executor_type>;

constexpr std::chrono::milliseconds kTick{250};
constexpr int kBacklog = 4096;
constexpr std::size_t kMadeRoomShare = 16;  // at the limit, of those that wait

// Several listeners on one port: the system spreads connections over them.
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// As many descriptors as the limits ask for, if the system gives them.
void allow_descriptors(std::size_t connections) {
  constexpr std::size_t kOthers = 1024;  // of the ledger, files and threads
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, connections + kOthers);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// One thread's listener and its connections.
class Listener {
 public:
  Listener(Service& service, AccessLog* log, const ServerLimits& limits, asio::thread_pool& workers,
           std::atomic<std::size_t>& answers_waiting, TlsIdentity* tls, std::size_t connections_max)
      : shard_(service, log, limits, workers, answers_waiting),
        tls_(tls),
        connections_max_(connections_max),
        acceptor_(shard_.context),
        tick_(shard_.context),
        pause_(shard_.context) {}

  Status listen(const tcp::endpoint& endpoint) {
    ErrorCode error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.set_option(ReusePort(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kBacklog, error);
    if (!error) return {};
    return fail(ErrorKind::system, "LISTEN",
                endpoint.address().to_string() + ":" + std::to_string(endpoint.port()),
                "cannot listen: " + error.message(), "Name another address or port");
  }

  std::uint16_t port() const {
    ErrorCode ignored;
    return acceptor_.local_endpoint(ignored).port();
  }

  asio::io_context& context() { return shard_.context; }

  // Serves until drain() and until no connection is left; calls `idle` at each tick, and `done` at
  // the end.
  void run(std::function<void()> idle, std::function<void()> done) {
    idle_ = std::move(idle);
    done_ = std::move(done);
    accept();
    tick();
    shard_.context.run();
  }

  // Requires: in this listener's thread.
  void drain() {
    if (shard_.draining) return;
    shard_.draining = true;
    drained_by_ = std::chrono::steady_clock::now() + shard_.limits.grace;
    ErrorCode ignored;
    acceptor_.close(ignored);
    // Those that linger have an answer on its way and end soon by themselves.
    close_if([](const Connection& connection) {
      return connection.waits_for_client() && connection.phase() != Connection::Phase::linger;
    });
  }

 private:
  void accept() {
    acceptor_.async_accept(shard_.context, [this](const ErrorCode& error, Socket socket) {
      if (shard_.draining) return;
      if (error) {
        // No descriptor is left, or the like: others go on meanwhile.
        pause_.expires_after(kTick);
        pause_.async_wait([this](const ErrorCode& stopped) {
          if (!stopped && !shard_.draining) accept();
        });
        return;
      }
      take(std::move(socket));
      accept();
    });
  }

  void take(Socket socket) {
    Metrics& metrics = shard_.service.metrics();
    if (shard_.connections.size() >= connections_max_) make_room();
    if (shard_.connections.size() >= connections_max_) {
      ++metrics.connections_refused;
      return;
    }
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::shared_ptr<Connection> connection = make_connection(std::move(socket), shard_, tls_);
    shard_.connections.emplace(connection.get(), connection);
    ++metrics.connections_accepted;
    ++metrics.connections_open;
    counted_ = shard_.connections.size();
    connection->start();
  }

  // Closes those that have kept us waiting longest.
  void make_room() {
    std::vector<std::shared_ptr<Connection>> waiting;
    for (const auto& [key, connection] : shard_.connections) {
      if (connection->waits_for_client()) waiting.push_back(connection);
    }
    const std::size_t room = std::min(waiting.size(), waiting.size() / kMadeRoomShare + 1);
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(room);
    std::ranges::nth_element(waiting, end == waiting.end() ? waiting.begin() : end, {},
                             [](const auto& connection) { return connection->since(); });
    for (auto it = waiting.begin(); it != end; ++it) (*it)->close();
    shard_.service.metrics().connections_expired += room;
    count();
  }

  template <typename Condition>
  std::size_t close_if(Condition condition) {
    std::vector<std::shared_ptr<Connection>> closing;
    for (const auto& [key, connection] : shard_.connections) {
      if (condition(*connection)) closing.push_back(connection);
    }
    for (const std::shared_ptr<Connection>& connection : closing) connection->close();
    count();
    return closing.size();
  }

  // Connections leave by themselves; the gauge follows.
  void count() {
    const std::size_t now = shard_.connections.size();
    shard_.service.metrics().connections_open +=
        static_cast<std::int64_t>(now) - static_cast<std::int64_t>(counted_);
    counted_ = now;
  }

  void tick() {
    tick_.expires_after(kTick);
    tick_.async_wait([this](const ErrorCode& error) {
      if (error) return;
      const SteadyTime now = std::chrono::steady_clock::now();
      const bool over = shard_.draining && now >= drained_by_;
      const std::size_t expired =
          close_if([&](const Connection& c) { return over || now >= c.deadline(); });
      shard_.service.metrics().connections_expired += expired;
      if (shard_.log != nullptr) shard_.log->flush();
      if (idle_) idle_();
      if (!shard_.draining || !shard_.connections.empty()) return tick();
      if (done_) done_();
    });
  }

  Shard shard_;
  TlsIdentity* tls_;
  std::size_t connections_max_;
  Acceptor acceptor_;
  Timer tick_;
  Timer pause_;
  std::size_t counted_ = 0;  // connections, as the gauge has them
  SteadyTime drained_by_;
  std::function<void()> idle_;
  std::function<void()> done_;
};

}  // namespace

struct Server::Impl {
  ServerOptions options;
  std::unique_ptr<TlsIdentity> tls;
  std::atomic<std::size_t> answers_waiting = 0;
  std::vector<std::unique_ptr<Listener>> listeners;  // outlive the workers, who post to them
  std::unique_ptr<asio::thread_pool> workers;
  Service& service;

  Impl(const ServerOptions& given, Service& lent) : options(given), service(lent) {}
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->workers->stop();
  impl_->workers->join();
}

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options, Service& service,
                                               AccessLog* log) {
  auto impl = std::make_unique<Impl>(options, service);
  ErrorCode error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) {
    return fail(ErrorKind::usage, "BAD_ADDRESS", options.address, "this is no numeric address",
                "Write it like 127.0.0.1, 0.0.0.0, or ::1");
  }
  if (!options.certificate_file.empty()) {
    Result<std::unique_ptr<TlsIdentity>> tls =
        TlsIdentity::read(options.certificate_file, options.key_file);
    if (!tls) return fail(tls.error());
    impl->tls = std::move(*tls);
  }
  allow_descriptors(options.limits.connections);
  const unsigned threads = std::max(1u, options.threads);
  impl->workers = std::make_unique<asio::thread_pool>(std::max(1u, options.workers));
  tcp::endpoint endpoint(address, options.port);
  for (unsigned i = 0; i < threads; ++i) {
    impl->listeners.push_back(std::make_unique<Listener>(
        service, log, impl->options.limits, *impl->workers, impl->answers_waiting, impl->tls.get(),
        std::max<std::size_t>(1, options.limits.connections / threads)));
    if (Status status = impl->listeners.back()->listen(endpoint); !status) {
      return fail(status.error());
    }
    endpoint.port(impl->listeners.back()->port());
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const { return impl_->listeners.front()->port(); }

void Server::run(const std::function<void()>& idle) {
  Listener& first = *impl_->listeners.front();
  asio::signal_set signals(first.context());
  if (impl_->options.stop_on_signals) {
    signals.add(SIGTERM);
    signals.add(SIGINT);
    signals.async_wait([this](const ErrorCode& error, int) {
      if (!error) stop();
    });
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < impl_->listeners.size(); ++i) {
    threads.emplace_back([listener = impl_->listeners[i].get()] { listener->run({}, {}); });
  }
  first.run(idle, [&signals] { signals.cancel(); });
  for (std::thread& thread : threads) thread.join();
}

void Server::stop() {
  impl_->service.stop();
  for (const std::unique_ptr<Listener>& listener : impl_->listeners) {
    asio::post(listener->context(), [listener = listener.get()] { listener->drain(); });
  }
}

}  // namespace kernelindex::serve
