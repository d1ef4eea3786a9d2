// SPDX-License-Identifier: Apache-2.0
// A small ledger, and the server over it on loopback, in this process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "ledger/ledger.h"
#include "tests/serve/loopback_client.h"
#include "tests/support/temp_dir.h"
#include "tools/serve/access_log.h"
#include "tools/serve/api.h"
#include "tools/serve/log_routes.h"
#include "tools/serve/server.h"
#include "tools/serve/service.h"

namespace kernelindex::serve {

class ServerTest : public ::testing::Test {
 public:
  void SetUp() override {
    ledger_.directory = folder_ / "ledger";
    ledger_.state = folder_ / "state";
    FoundingOptions founding;
    founding.origin = "example.org/log";
    founding.owner = "tests";
    Result<std::unique_ptr<Ledger>> made = Ledger::create(ledger_, founding);
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_TRUE(fill(**made));
    ASSERT_TRUE((*made)->checkpoint());
    made->reset();
    Result<std::unique_ptr<LedgerFollower>> follower = LedgerFollower::open({ledger_, {}, 1 << 20});
    ASSERT_TRUE(follower) << follower.error().text();
    follower_ = std::move(*follower);
    Router router;
    register_log(router);
    register_api(router);
    add_routes(router);
    service_ = std::make_unique<Service>(*follower_, metrics_, std::move(router), head_options());
  }
  // What the ledger holds when it is served.
  virtual Status fill(Ledger&) { return {}; }
  // Beside those of the log and the API.
  virtual void add_routes(Router&) {}
  virtual HeadOptions head_options() const { return {}; }

  void start(ServerOptions options = {}) {
    Result<std::unique_ptr<Server>> server = Server::listen(options, *service_, log_.get());
    ASSERT_TRUE(server) << server.error().text();
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->run(); });
  }
  // What is in work is answered first.
  void stop() {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
  }
  void TearDown() override { stop(); }
  std::string ask(std::string_view bytes) {
    LoopbackClient client(server_->port());
    client.send(bytes);
    return client.all();
  }

  test::TempDir folder_;
  LedgerOptions ledger_;
  std::unique_ptr<LedgerFollower> follower_;
  Metrics metrics_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<AccessLog> log_;  // null: none
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace kernelindex::serve
