// SPDX-License-Identifier: Apache-2.0
// What is asked beyond the limits, and what is in work when the server stops. Handlers are held at
// a gate, so that the order of things is the test's and not the machine's.
#include "tests/serve/gate.h"
#include "tests/serve/server_fixture.h"

namespace kernelindex::serve {
namespace {

constexpr int kPieces = 8;
const std::string kPiece(std::size_t{64} << 10u, 'x');

class LimitsTest : public ServerTest {
 public:
  void add_routes(Router& router) override {
    router.get("/held/{name}", [this](const Site&, const Request&, const Captures& captures) {
      gate_.pass();
      return Result<Response>(
          answer("held " + std::string(captures.front()), kText, CachePolicy::no_store));
    });
    router.get("/pieces", [this](const Site&, const Request&, const Captures&) {
      Response response;
      response.content_type = kText;
      response.cache = CachePolicy::no_store;
      response.source = [this, left = kPieces]() mutable -> Result<std::string> {
        if (left == kPieces / 2) gate_.pass();
        return left-- > 0 ? kPiece : std::string();
      };
      return Result<Response>(std::move(response));
    });
  }
  void TearDown() override {
    gate_.open();
    ServerTest::TearDown();
  }
  // Stops the server; comes back when it has begun to: a client that waits is closed then.
  void begin_to_stop() {
    LoopbackClient idle(server_->port());
    idle.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    idle.some();
    server_->stop();
    idle.all();
  }

  Gate gate_;
};

TEST_F(LimitsTest, MoreThanCanWaitIs503WithATimeToComeAgain) {
  ServerOptions options;
  options.limits.answers_waiting = 2;
  start(options);
  LoopbackClient first(server_->port());
  LoopbackClient second(server_->port());
  first.send(get("/held/1"));
  second.send(get("/held/2"));
  gate_.wait_for(2);
  const std::string busy = ask(get("/held/3"));
  EXPECT_EQ(status_of(busy), "503");
  EXPECT_EQ(field_of(busy, "Retry-After"), "2");
  EXPECT_EQ(field_of(busy, "Content-Type"), "application/problem+json");
  EXPECT_EQ(field_of(busy, "Cache-Control"), "no-store");
  EXPECT_NE(body_of(busy).find(R"("code":"BUSY")"), std::string::npos) << busy;
  EXPECT_EQ(status_of(ask(get("/healthz"))), "200")
      << "what needs no work is answered all the same";
  gate_.open();
  EXPECT_EQ(body_of(first.all()), "held 1");
  EXPECT_EQ(body_of(second.all()), "held 2");
  EXPECT_EQ(body_of(ask(get("/held/4"))), "held 4");
}

TEST_F(LimitsTest, AnAnswerThatIsBeingMadeWhenTheServerStopsArrivesWhole) {
  start();
  LoopbackClient client(server_->port());
  client.send("GET /held/1 HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_.wait_for(1);
  begin_to_stop();
  gate_.open();
  const std::string answer = client.all();
  EXPECT_EQ(status_of(answer), "200");
  EXPECT_EQ(field_of(answer, "Connection"), "close");
  EXPECT_EQ(body_of(answer), "held 1");
}

TEST_F(LimitsTest, AnAnswerThatIsBeingSentWhenTheServerStopsArrivesWhole) {
  start();
  LoopbackClient client(server_->port());
  client.send("GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_.wait_for(1);
  begin_to_stop();
  gate_.open();
  std::string whole;
  for (int i = 0; i < kPieces; ++i) whole += "10000\r\n" + kPiece + "\r\n";
  EXPECT_EQ(body_of(client.all()), whole + "0\r\n\r\n");
}

// What was pipelined behind the last answer must not reset the connection under it.
TEST_F(LimitsTest, RequestsThatWaitBehindTheLastAnswerDoNotCostTheAnswer) {
  start();
  LoopbackClient client(server_->port());
  std::string asked = "GET /held/1 HTTP/1.1\r\nHost: x\r\n\r\n";
  for (int i = 0; i < 50; ++i) asked += "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  client.send(asked);
  gate_.wait_for(1);
  begin_to_stop();
  gate_.open();
  EXPECT_EQ(body_of(client.all()), "held 1");
}

}  // namespace
}  // namespace kernelindex::serve
