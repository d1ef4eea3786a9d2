// SPDX-License-Identifier: Apache-2.0
// The server on loopback, spoken to byte by byte. Nothing here waits for a clock but the deadline
// of the test that is about one.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>

#include "ledger/appender.h"
#include "ledger/static_log.h"
#include "tests/serve/server_fixture.h"
#include "tools/log_identity.h"

namespace kernelindex::serve {
namespace {

class EchoTest : public ServerTest {
 public:
  void add_routes(Router& router) override {
    router.post("/echo", 16, [](const Site&, const Request& request, const Captures&) {
      return Result<Response>(answer(request.body, kText, CachePolicy::no_store));
    });
  }
};

TEST_F(ServerTest, ACheckpointIsThatOfTheLedger) {
  start();
  const std::string answer = ask(get("/checkpoint"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  const Result<SignedCheckpoint> checkpoint = parse_checkpoint(body_of(answer));
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->checkpoint.head, follower_->state()->reader.head());
}

TEST_F(ServerTest, HeadHasTheHeaderOfGetAndNoBody) {
  start();
  const std::string head = ask("HEAD /api/v1/log HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(body_of(head), "");
  const std::string whole = ask(get("/api/v1/log"));
  EXPECT_NE(head.find("Content-Length: " + std::to_string(body_of(whole).size()) + "\r\n"),
            std::string::npos);
}

TEST_F(ServerTest, ATagThatTheClientHasGives304FromMemoryAndAnew) {
  start();
  const std::string first = ask(get("/api/v1/log"));
  const std::size_t at = first.find("ETag: ") + 6;
  const std::string tag = first.substr(at, first.find("\r\n", at) - at);
  for (const char* path : {"/api/v1/log", "/api/v1/log?x=new"}) {
    const std::string again = ask(get(path, "If-None-Match: " + tag + "\r\n"));
    EXPECT_TRUE(again.starts_with("HTTP/1.1 304 ")) << again;
    EXPECT_EQ(body_of(again), "");
  }
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrderUpToTheGarbage) {
  start();
  const std::string answer =
      ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
          "\x01\x02garbage\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::size_t first = answer.find("HTTP/1.1 200");
  const std::size_t second = answer.find("HTTP/1.1 404");
  const std::size_t third = answer.find("HTTP/1.1 400");
  EXPECT_EQ(first, 0u);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
  EXPECT_EQ(answer.find("HTTP/1.1 200", 1), std::string::npos) << "nothing follows garbage";
}

TEST_F(EchoTest, WhatCannotBeUnderstoodIsRefused) {
  start();
  const auto status = [&](const std::string& request) { return ask(request).substr(9, 3); };
  EXPECT_EQ(status("GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), "400") << "no host";
  EXPECT_EQ(status("PUT / HTTP/1.1\r\nHost: x\r\n\r\n"), "405");
  EXPECT_EQ(status("POST /api/v1/log HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
            "405");
  EXPECT_EQ(status("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 17\r\n\r\n"), "413");
  EXPECT_EQ(status("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            "411");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"),
            "431");
  for (const char* path : {"/../etc/passwd", "/%2e%2e/x", "/a%00", "/%c0%ae"}) {
    EXPECT_EQ(status(get(path)), "400") << path;
  }
}

TEST_F(EchoTest, ABodyWithinItsLimitArrives) {
  start();
  EXPECT_EQ(body_of(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n"
                        "Connection: close\r\n\r\n0123456789abcdef")),
            "0123456789abcdef");
}

TEST_F(ServerTest, ASlowClientIsClosedAtTheDeadlineWithoutAnAnswer) {
  ServerOptions options;
  options.limits.header_time = std::chrono::milliseconds(1);
  start(options);
  LoopbackClient slow(server_->port());
  slow.send("GET / HT");
  EXPECT_EQ(slow.all(), "") << "ends at the deadline, without an answer";
}

TEST_F(ServerTest, OthersAreServedWhileTenThousandConnectionsStandHalfOpen) {
  constexpr rlim_t kConnections = 10'000;
  // Both ends lie in this process.
  const rlimit files{2 * kConnections + 500, 2 * kConnections + 500};
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) {
    GTEST_SKIP() << "SKIPPED: this process may not open " << files.rlim_cur << " files";
  }
  start();
  std::vector<std::unique_ptr<LoopbackClient>> half_open;
  for (rlim_t i = 0; i < kConnections; ++i) {
    half_open.push_back(std::make_unique<LoopbackClient>(server_->port()));
    if (i % 2 == 0) half_open.back()->send("GET / HT");
  }
  EXPECT_TRUE(ask(get("/healthz")).starts_with("HTTP/1.1 200"));
  // They are still there: one of them goes on and is answered.
  half_open.front()->send("TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(half_open.front()->all().starts_with("HTTP/1.1 "));
}

TEST_F(ServerTest, AtTheLimitThoseWhoKeepItWaitingMakeRoom) {
  ServerOptions options;
  options.limits.connections = 8;
  start(options);
  std::vector<std::unique_ptr<LoopbackClient>> idle;
  for (int i = 0; i < 40; ++i) {
    idle.push_back(std::make_unique<LoopbackClient>(server_->port()));
    idle.back()->send("GET / HT");
  }
  EXPECT_TRUE(ask(get("/healthz")).starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, AWriterInAnotherHandIsFollowed) {
  start();
  const std::uint64_t before = follower_->state()->reader.head().size;
  const Result<bool> nothing = follower_->refresh();
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  {
    const Result<std::unique_ptr<Ledger>> writer = Ledger::open(ledger_);
    ASSERT_TRUE(writer) << writer.error().text();
    Result<std::unique_ptr<Appender>> appender = (*writer)->append_attestations();
    ASSERT_TRUE(appender) << appender.error().text();
    ASSERT_TRUE((*appender)->artifact("bytes of an artifact", "text/plain"));
    ASSERT_TRUE((*appender)->finish(std::nullopt));
  }
  const Result<bool> moved = follower_->refresh();
  ASSERT_TRUE(moved) << moved.error().text();
  EXPECT_TRUE(*moved);
  EXPECT_EQ(follower_->state()->reader.head().size, before + 1);
  EXPECT_EQ(body_of(ask(get("/healthz"))), "ok, serving size " + std::to_string(before + 1) + "\n");
}

// Every tile, entry and object, judged by the code for strangers, through the socket.
TEST_F(ServerTest, AStrangerFindsTheWholeLogAsItWasSigned) {
  start();
  class Remote final : public ResourceSource {
   public:
    explicit Remote(ServerTest& test) : test_(test) {}
    Result<bool> stream(const std::string& path, std::uint64_t, const ByteSink& piece) override {
      const std::string answer = test_.ask(serve::get("/" + path));
      if (answer.starts_with("HTTP/1.1 404")) return false;
      if (Status taken = piece(body_of(answer)); !taken) return fail(taken.error());
      return true;
    }

   private:
    ServerTest& test_;
  } remote(*this);
  StaticLogOptions options;
  options.objects = [](std::string_view leaf) -> Result<std::vector<Digest>> {
    const Result<Entry> entry = decode_entry(leaf);
    if (!entry) return fail(entry.error());
    return std::vector{entry->content.digest};
  };
  const Result<StaticLogReport> report =
      verify_static_log(remote, tools::log_keys(follower_->state()->reader), options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->leaves, follower_->state()->reader.head().size);
  EXPECT_EQ(report->objects_absent, 0u);
}

}  // namespace
}  // namespace kernelindex::serve
