// SPDX-License-Identifier: Apache-2.0
// What an operator keeps of requests: a line of each, nothing that bites, nothing that is secret.
#include <algorithm>

#include "schema/json_reader.h"
#include "tests/serve/server_fixture.h"
#include "tests/support/corpus.h"

namespace kernelindex::serve {
namespace {

const std::string kPiece(std::size_t{64} << 10u, 'x');

class AccessLogTest : public ServerTest {
 public:
  void SetUp() override {
    ServerTest::SetUp();
    Result<std::unique_ptr<AccessLog>> log = AccessLog::open((folder_ / "log").string());
    ASSERT_TRUE(log) << log.error().text();
    log_ = std::move(*log);
  }
  void add_routes(Router& router) override {
    router.get("/pieces/{count}", [](const Site&, const Request&, const Captures& captures) {
      Response response;
      response.source = [left = std::stoll(std::string(captures.front()))]() mutable {
        return Result<std::string>(left-- > 0 ? kPiece : std::string());
      };
      return Result<Response>(std::move(response));
    });
    router.get("/broken", [](const Site&, const Request&, const Captures&) -> Result<Response> {
      return fail(ErrorKind::corrupt, "DAMAGED_OBJECT", "x", "a piece is lost");
    });
  }
  // Of a server that has stopped.
  std::vector<std::string> lines() {
    stop();
    log_->flush();
    std::vector<std::string> lines;
    const std::string text = test::read_file(folder_ / "log");
    EXPECT_TRUE(text.empty() || text.ends_with('\n'));
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }
  // A member of a line as text.
  static std::string member(const std::string& line, std::string_view name) {
    json::Arena arena;
    const Result<json::Value> value = json::parse(line, arena, {.bytes = 1 << 16});
    EXPECT_TRUE(value) << line;
    const json::Value* found = value ? value->find(name) : nullptr;
    if (found == nullptr) return {};
    if (found->is_string()) return std::string(found->string());
    return std::to_string(static_cast<long long>(found->number()));
  }
};

TEST_F(AccessLogTest, EachRequestHasOneLine) {
  start();
  LoopbackClient client(server_->port());
  client.send(
      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nHEAD /api/v1/log HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nPUT / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.all();
  ask("\x01\r\n\r\n");
  ask(get("/broken"));
  const std::vector<std::string> all = lines();
  const std::array<std::array<const char*, 3>, 6> expected = {{{"GET", "/healthz", "200"},
                                                               {"HEAD", "/api/v1/log", "200"},
                                                               {"GET", "/nothing", "404"},
                                                               {"PUT", "/", "405"},
                                                               {"", "", "400"},
                                                               {"GET", "/broken", "500"}}};
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(member(all[i], "method"), expected[i][0]) << all[i];
    EXPECT_EQ(member(all[i], "target"), expected[i][1]) << all[i];
    EXPECT_EQ(member(all[i], "status"), expected[i][2]) << all[i];
    EXPECT_EQ(member(all[i], "client"), "127.0.0.1");
  }
  EXPECT_EQ(member(all[1], "bytes"), "0") << "HEAD has no body";
  EXPECT_NE(member(all[5], "fault").find("a piece is lost"), std::string::npos)
      << "the client is not told, so the log must be";
}

TEST_F(AccessLogTest, BytesAreThoseOfTheBodyHoweverItWasSent) {
  start();
  EXPECT_EQ(status_of(ask(get("/pieces/3"))), "200");
  const std::string log = ask(get("/api/v1/log"));
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(member(all[0], "bytes"), std::to_string(3 * kPiece.size()));
  EXPECT_EQ(member(all[1], "bytes"), std::to_string(body_of(log).size()));
}

TEST_F(AccessLogTest, AnAnswerThatNobodyWaitedForHasALineThatSaysSo) {
  start();
  {
    LoopbackClient client(server_->port());
    client.send(get("/pieces/1000000000"));
    EXPECT_NE(client.some(), "");
  }  // gone, with more than the system holds still to come
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(member(all[0], "status"), "200");
  EXPECT_EQ(member(all[0], "fault"), "the answer was not sent whole");
}

TEST_F(AccessLogTest, HostileBytesOfATargetAreEscaped) {
  start();
  // A control sequence in one byte and in UTF-8, a quote that would end the text, a bidi override.
  ask("GET /\x9b[2J\xc2\x9b\"},{\\\xe2\x80\xae HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(std::ranges::all_of(all[0], [](char c) { return c >= ' ' && c <= '~'; })) << all[0];
  EXPECT_EQ(member(all[0], "target"), "/%9B[2J%C2%9B\"},{\\%E2%80%AE");
}

TEST_F(AccessLogTest, NoByteOfALineIsAControlWhateverItIsMadeOf) {
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  AccessLine line;
  line.target = every;
  const std::string text = access_line(line);
  ASSERT_TRUE(text.ends_with('\n'));
  EXPECT_TRUE(std::all_of(text.begin(), text.end() - 1, [](char c) {
    return c >= ' ' && c <= '~';
  })) << text;
}

TEST_F(AccessLogTest, ValuesOfAQueryAndPasswordsAreNotKept) {
  start();
  ask(get("/search?q=hunter2&token=hunter2&hunter2&=hunter2&&kind=Run#hunter2"));
  ask(get("http://user:hunter2@x/healthz?key=hunter2"));
  const std::vector<std::string> all = lines();
  ASSERT_EQ(all.size(), 2u);
  for (const std::string& line : all) EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
  EXPECT_EQ(member(all[0], "target"), "/search?q&token&&kind");
  EXPECT_EQ(member(all[1], "target"), "/healthz?key");
}

}  // namespace
}  // namespace kernelindex::serve
