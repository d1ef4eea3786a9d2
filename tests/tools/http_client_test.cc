// SPDX-License-Identifier: Apache-2.0
// What the client accepts from a server, and what a false server gets out of it: nothing.
#include "tools/http/http_client.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/corpus.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_server.h"

namespace kernelindex::tools {
namespace {

using Peer = test::TestServer::Peer;

std::string answer(const std::string& head, const std::string& body) {
  return "HTTP/1.1 200 OK\r\n" + head + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string redirect(const std::string& place) {
  return "HTTP/1.1 302 Found\r\nLocation: " + place + "\r\nContent-Length: 0\r\n\r\n";
}

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// A server with TLS on 127.0.0.1, and a client that knows its root and may ask it.
class HttpClientTest : public testing::Test {
 protected:
  void SetUp() override {
    certificate_ = authority_.issue("DNS:localhost,IP:127.0.0.1,IP:::1");
    trust(authority_);
    policy_.hosts = {"127.0.0.1", "localhost", "[::1]"};
    policy_.allow_hosts = {"127.0.0.1", "localhost", "[::1]"};
  }

  void trust(const test::CertificateAuthority& authority) {
    test::write_file(folder_ / "root.pem", authority.root());
    policy_.trust_file = folder_ / "root.pem";
  }

  void serve(test::TestServer::Script script, bool tls = true) {
    server_.emplace(test::TestServer::Options{tls ? &certificate_ : nullptr}, std::move(script));
    name_ports(*server_);
  }
  // Answers each connection's one request with these bytes.
  void serve_bytes(const std::string& bytes) {
    serve([bytes](Peer& peer) {
      peer.read_request();
      peer.send(bytes);
    });
  }

  void name_ports(const test::TestServer& server) {
    const std::string port = ":" + std::to_string(server.port());
    policy_.hosts = {"127.0.0.1" + port, "localhost" + port, "[::1]" + port};
  }

  std::string url(const std::string& path, const std::string& host = "127.0.0.1",
                  const std::string& scheme = "https") const {
    return scheme + "://" + host + ":" + std::to_string(server_->port()) + path;
  }

  Result<HttpResponse> get(const std::string& url) {
    Result<HttpClient> client = HttpClient::create(policy_);
    if (!client) return fail(client.error());
    return client->send({.url = url});
  }
  // The code of the error; "" when there was none.
  std::string code_of(const Result<HttpResponse>& answer) {
    return answer ? "" : answer.error().code;
  }

  test::CertificateAuthority authority_;
  test::Certificate certificate_;
  test::TempDir folder_;
  HttpPolicy policy_;
  std::optional<test::TestServer> server_;
};

TEST_F(HttpClientTest, AnAnswerOverTlsIsRead) {
  std::string request;
  serve([&](Peer& peer) {
    request = peer.read_request();
    peer.send(answer("ETag: \"x\"\r\nX-Twice: 1\r\nX-Twice: 2\r\n", "hello"));
  });
  const Result<HttpResponse> got = get(url("/a?b=c#d"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "hello");
  EXPECT_EQ(got->field("etag"), "\"x\"");
  EXPECT_EQ(got->field("x-twice"), "1");
  EXPECT_EQ(got->field("x-none"), std::nullopt);
  EXPECT_EQ(got->url, url("/a?b=c"));
  server_.reset();
  EXPECT_TRUE(request.starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
  EXPECT_NE(request.find("Accept-Encoding: gzip\r\n"), std::string::npos) << request;
  EXPECT_NE(request.find("User-Agent: kernelindex/"), std::string::npos) << request;
}

TEST_F(HttpClientTest, AnAnswerThatIsNot200IsAnAnswer) {
  serve_bytes("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
  const Result<HttpResponse> got = get(url("/"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->status, 404);
  EXPECT_EQ(got->body, "no");
}

TEST_F(HttpClientTest, A304HasNoBodyWhateverItsLengthSays) {
  std::string request;
  serve([&](Peer& peer) {
    request = peer.read_request();
    peer.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nContent-Encoding: gzip\r\n\r\n");
  });
  HttpClient client = HttpClient::create(policy_).value();
  const Result<HttpResponse> got =
      client.send({.url = url("/"), .fields = {{"If-None-Match", "\"x\""}}});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->status, 304);
  EXPECT_EQ(got->body, "");
  server_.reset();
  EXPECT_NE(request.find("If-None-Match: \"x\"\r\n"), std::string::npos) << request;
}

TEST_F(HttpClientTest, AConnectionServesSeveralRequests) {
  serve([](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(answer("", "again"));
  });
  HttpClient client = HttpClient::create(policy_).value();
  for (int i = 0; i < 3; ++i) {
    const Result<HttpResponse> got = client.send({.url = url("/")});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(got->body, "again");
  }
  EXPECT_EQ(server_->connections(), 1);
}

TEST_F(HttpClientTest, AConnectionThatTheServerClosedBetweenRequestsIsOpenedAgain) {
  serve([](Peer& peer) {
    peer.read_request();
    peer.send(answer("", "once"));  // which promises to stay open
  });
  HttpClient client = HttpClient::create(policy_).value();
  for (int i = 0; i < 2; ++i) {
    const Result<HttpResponse> got = client.send({.url = url("/")});
    ASSERT_TRUE(got) << got.error().text();
  }
  EXPECT_EQ(server_->connections(), 2);
}

TEST_F(HttpClientTest, APostCarriesItsBody) {
  std::string request;
  serve([&](Peer& peer) {
    request = peer.read_request();
    peer.send("HTTP/1.1 303 See Other\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n");
  });
  HttpClient client = HttpClient::create(policy_).value();
  const Result<HttpResponse> got =
      client.send({.url = url("/"), .method = "POST", .fields = {}, .body = "what is sent"});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->status, 303) << "a post is not sent twice";
  server_.reset();
  EXPECT_TRUE(request.starts_with("POST / ")) << request;
  EXPECT_TRUE(request.ends_with("\r\n\r\nwhat is sent")) << request;
}

TEST_F(HttpClientTest, ChunksAreJoinedAndInterimAnswersPassedOver) {
  serve_bytes(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n");
  const Result<HttpResponse> got = get(url("/"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->body, "abcdefg");
}

TEST_F(HttpClientTest, GzipIsTakenOff) {
  const std::string text(300'000, 'k');
  serve_bytes(answer("Content-Encoding: gzip\r\n", gzip(text) + gzip("end")));
  const Result<HttpResponse> got = get(url("/"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_TRUE(got->body == text + "end");
}

TEST_F(HttpClientTest, ABombStopsAtTheLimit) {
  policy_.limits.body_bytes = 1'000'000;
  serve_bytes(answer("Content-Encoding: gzip\r\n", gzip(std::string(30'000'000, '\0'))));
  std::size_t taken = 0;
  HttpClient client = HttpClient::create(policy_).value();
  const Result<HttpResponse> got =
      client.send({.url = url("/")}, [&](std::string_view piece) -> Status {
        taken += piece.size();
        return {};
      });
  EXPECT_EQ(code_of(got), "BODY_TOO_LARGE");
  EXPECT_LE(taken, 1'000'000u);
}

TEST_F(HttpClientTest, BrokenAndUnaskedCodingsAreRefused) {
  std::string broken = gzip("some text that is long enough");
  broken[broken.size() - 8] = static_cast<char>(broken[broken.size() - 8] ^ 1);  // its CRC-32
  serve_bytes(answer("Content-Encoding: gzip\r\n", broken));
  EXPECT_EQ(code_of(get(url("/"))), "CODING_BROKEN");
  broken = gzip("some text that is long enough");
  serve_bytes(answer("Content-Encoding: gzip\r\n", broken.substr(0, broken.size() - 1)));
  EXPECT_EQ(code_of(get(url("/"))), "CODING_BROKEN");
  serve_bytes(answer("Content-Encoding: gzip\r\n", "no gzip at all"));
  EXPECT_EQ(code_of(get(url("/"))), "CODING_BROKEN");
  serve_bytes(answer("Content-Encoding: br\r\n", "?"));
  EXPECT_EQ(code_of(get(url("/"))), "CODING_UNKNOWN");
}

TEST_F(HttpClientTest, HugeAnswersStopAtTheLimit) {
  policy_.limits.body_bytes = 100'000;
  serve_bytes("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(code_of(get(url("/"))), "BODY_TOO_LARGE") << "by its word";
  serve([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
    while (peer.send(chunk)) {
    }
  });
  EXPECT_EQ(code_of(get(url("/"))), "BODY_TOO_LARGE") << "by its bytes";
  serve([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n");
    while (peer.send("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
  });
  EXPECT_EQ(code_of(get(url("/"))), "HEADER_TOO_LARGE");
}

TEST_F(HttpClientTest, ALimitIsTheLastSizeThatIsTaken) {
  policy_.limits.body_bytes = 5;
  serve_bytes(answer("", "12345"));
  EXPECT_EQ(code_of(get(url("/"))), "");
  serve_bytes(answer("", "123456"));
  EXPECT_EQ(code_of(get(url("/"))), "BODY_TOO_LARGE");
}

TEST_F(HttpClientTest, AServerThatLiesAboutItsLengthIsFound) {
  serve_bytes("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
  const Result<HttpResponse> got = get(url("/"));
  EXPECT_EQ(code_of(got), "BODY_TRUNCATED");
  EXPECT_TRUE(!got && is_temporary(got.error()));
  serve_bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nshort");
  EXPECT_EQ(code_of(get(url("/"))), "BODY_TRUNCATED");
  serve_bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nshorts");
  EXPECT_EQ(code_of(get(url("/"))), "HTTP_MALFORMED");
}

TEST_F(HttpClientTest, BytesBeyondAnAnswerNeverAnswerTheNextRequest) {
  int count = 0;
  serve([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      ++count;
      peer.send(answer("", "mine") + answer("", "smuggled"));
    }
  });
  HttpClient client = HttpClient::create(policy_).value();
  for (int i = 0; i < 2; ++i) {
    const Result<HttpResponse> got = client.send({.url = url("/")});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(got->body, "mine");
  }
  client = HttpClient::create(policy_).value();
  server_.reset();
  EXPECT_EQ(count, 2);
}

TEST_F(HttpClientTest, ABodyWithoutALengthEndsOnlyWithTheGoodbyeOfTls) {
  serve([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it");
  });
  const Result<HttpResponse> got = get(url("/"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->body, "all of it");
  serve([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na part of");
    peer.cut();
  });
  EXPECT_EQ(code_of(get(url("/"))), "BODY_TRUNCATED");
}

TEST_F(HttpClientTest, ABrokenServerGivesAnError) {
  serve_bytes("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  EXPECT_EQ(code_of(get(url("/"))), "HTTP_MALFORMED");
  serve_bytes("");
  EXPECT_EQ(code_of(get(url("/"))), "CONNECTION_LOST");
  serve_bytes("HTTP/1.1 200 O");
  EXPECT_EQ(code_of(get(url("/"))), "CONNECTION_LOST");
  std::string interim;
  for (int i = 0; i < 100; ++i) interim += "HTTP/1.1 103 Early Hints\r\n\r\n";
  serve_bytes(interim);
  EXPECT_EQ(code_of(get(url("/"))), "HTTP_MALFORMED");
}

TEST_F(HttpClientTest, AServerThatNeverAnswersIsLeft) {
  policy_.limits.idle = std::chrono::milliseconds(20);
  serve([](Peer& peer) {
    peer.read_request();
    peer.wait_until_gone();
  });
  EXPECT_EQ(code_of(get(url("/"))), "TIMED_OUT") << "before its head";
  serve([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
    peer.wait_until_gone();
  });
  EXPECT_EQ(code_of(get(url("/"))), "TIMED_OUT") << "in its body";
}

TEST_F(HttpClientTest, AServerThatDripsForEverIsLeftAtTheTotalTime) {
  policy_.limits.total = std::chrono::milliseconds(100);
  policy_.limits.body_bytes = ~0ull;
  serve([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while (peer.send("1\r\nx\r\n")) {
    }
  });
  HttpClient client = HttpClient::create(policy_).value();
  EXPECT_EQ(code_of(client.send({.url = url("/")}, [](std::string_view) { return Status(); })),
            "TIMED_OUT");
}

TEST_F(HttpClientTest, AHandshakeThatNeverEndsIsLeft) {
  policy_.limits.connect = std::chrono::milliseconds(20);
  serve([](Peer& peer) { peer.wait_until_gone(); }, false);
  EXPECT_EQ(code_of(get(url("/"))), "TIMED_OUT");
}

TEST_F(HttpClientTest, RedirectsAreFollowedToTheirLimit) {
  serve([](Peer& peer) {
    for (std::string request; !(request = peer.read_request()).empty();) {
      if (request.starts_with("GET /end ")) {
        peer.send(answer("", "arrived"));
      } else if (request.starts_with("GET /a/start ")) {
        peer.send(redirect("../end"));
      } else {
        peer.send(redirect("/loop"));
      }
    }
  });
  const Result<HttpResponse> got = get(url("/a/start"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->body, "arrived");
  EXPECT_EQ(got->url, url("/end"));
  EXPECT_EQ(got->redirects, 1);
  EXPECT_EQ(code_of(get(url("/loop"))), "REDIRECTS_TOO_MANY");
}

TEST_F(HttpClientTest, ARedirectToAnywhereElseIsRefused) {
  const struct {
    std::string place;
    std::string code;
  } cases[] = {{"https://other.example/", "HOST_NOT_CONFIGURED"},
               {"//other.example/", "HOST_NOT_CONFIGURED"},
               {"https://127.0.0.1/", "HOST_NOT_CONFIGURED"},  // another port
               {"https://169.254.169.254/latest/meta-data/", "HOST_NOT_CONFIGURED"},
               {"file:///etc/passwd", "REDIRECT_MALFORMED"},
               {"https://user@127.0.0.1/", "REDIRECT_MALFORMED"}};
  for (const auto& [place, code] : cases) {
    serve_bytes(redirect(place));
    EXPECT_EQ(code_of(get(url("/"))), code) << place;
  }
  serve_bytes("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(code_of(get(url("/"))), "REDIRECT_MALFORMED");
}

TEST_F(HttpClientTest, HttpWithoutTlsIsForAllowedHostsAlone) {
  serve(
      [](Peer& peer) {
        peer.read_request();
        peer.send(answer("", "in the clear"));
      },
      false);
  EXPECT_EQ(get(url("/", "127.0.0.1", "http")).value().body, "in the clear");
  policy_.allow_hosts.clear();
  EXPECT_EQ(code_of(get(url("/", "127.0.0.1", "http"))), "TLS_REQUIRED");
}

TEST_F(HttpClientTest, AHostThatIsNotConfiguredIsNotAsked) {
  serve_bytes(answer("", "secret"));
  policy_.hosts = {"example.org", "127.0.0.1"};  // on the usual port
  EXPECT_EQ(code_of(get(url("/"))), "HOST_NOT_CONFIGURED");
  EXPECT_EQ(server_->connections(), 0);
}

// The name is allowed; what it leads to is not. 2130706433 is 127.0.0.1 to many resolvers.
TEST_F(HttpClientTest, AnAddressOutsideThePublicInternetIsRefusedHoweverItIsSpelled) {
  serve_bytes(answer("", "secret"));
  policy_.allow_hosts.clear();
  for (const char* host : {"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433",
                           "0x7f000001", "127.1", "0"}) {
    policy_.hosts = {std::string(host) + ":" + std::to_string(server_->port())};
    const Result<HttpResponse> got = get(url("/", host));
    ASSERT_FALSE(got) << host;
    EXPECT_TRUE(got.error().code == "ADDRESS_REFUSED" || got.error().code == "NAME_NOT_RESOLVED")
        << host << ": " << got.error().text();
  }
  policy_.hosts = {"127.0.0.1:" + std::to_string(server_->port())};
  EXPECT_EQ(code_of(get(url("/"))), "ADDRESS_REFUSED");
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HttpClientTest, AllowingOneHostAllowsNoOther) {
  serve_bytes(answer("", "secret"));
  policy_.allow_hosts = {"localhost"};
  EXPECT_EQ(code_of(get(url("/", "localhost"))), "");
  EXPECT_EQ(code_of(get(url("/", "127.0.0.1"))), "ADDRESS_REFUSED");
  policy_.allow_hosts = {"127.0.0.1:1"};
  EXPECT_EQ(code_of(get(url("/", "127.0.0.1"))), "ADDRESS_REFUSED") << "another port was allowed";
}

TEST_F(HttpClientTest, ACertificateOfAnotherNameIsRefused) {
  certificate_ = authority_.issue("DNS:example.org,IP:127.0.0.2");
  serve_bytes(answer("", "secret"));
  const Result<HttpResponse> got = get(url("/"));
  EXPECT_EQ(code_of(got), "TLS_FAILED");
  EXPECT_FALSE(is_temporary(got.error()));
  EXPECT_EQ(code_of(get(url("/", "localhost"))), "TLS_FAILED");
}

TEST_F(HttpClientTest, AnExpiredCertificateIsRefused) {
  certificate_ = authority_.issue("IP:127.0.0.1", -1);
  serve_bytes(answer("", "secret"));
  const Result<HttpResponse> got = get(url("/"));
  ASSERT_EQ(code_of(got), "TLS_FAILED");
  EXPECT_NE(got.error().message.find("expired"), std::string::npos) << got.error().text();
}

TEST_F(HttpClientTest, ACertificateOfAnUnknownAuthorityIsRefused) {
  const test::CertificateAuthority other;
  trust(other);
  serve_bytes(answer("", "secret"));
  EXPECT_EQ(code_of(get(url("/"))), "TLS_FAILED");
  policy_.trust_file.reset();
  EXPECT_EQ(code_of(get(url("/"))), "TLS_FAILED");
}

TEST_F(HttpClientTest, AServerWithoutTlsIsNoTlsServer) {
  serve(
      [](Peer& peer) {
        peer.send(answer("", "in the clear"));
        peer.wait_until_gone();
      },
      false);
  EXPECT_EQ(code_of(get(url("/"))), "TLS_FAILED");
}

TEST_F(HttpClientTest, Ipv6IsSpokenToo) {
  try {
    server_.emplace(test::TestServer::Options{&certificate_, true}, [](Peer& peer) {
      peer.read_request();
      peer.send(answer("", "six"));
    });
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "NO IPV6: this machine has no ::1, so this test proves nothing";
  }
  name_ports(*server_);
  const Result<HttpResponse> got = get(url("/", "[::1]"));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(got->body, "six");
  policy_.allow_hosts.clear();
  EXPECT_EQ(code_of(get(url("/", "[::1]"))), "ADDRESS_REFUSED");
}

TEST_F(HttpClientTest, ANameThatNobodyHasIsTemporary) {
  policy_.hosts = {"no-such-host.invalid"};
  const Result<HttpResponse> got = get("https://no-such-host.invalid/");
  ASSERT_FALSE(got);
  EXPECT_TRUE(is_temporary(got.error())) << got.error().text();
}

TEST_F(HttpClientTest, AClosedPortIsTemporary) {
  serve_bytes("");
  const std::string gone = url("/");
  server_.reset();
  const Result<HttpResponse> got = get(gone);
  ASSERT_EQ(code_of(got), "CONNECT_FAILED");
  EXPECT_TRUE(is_temporary(got.error()));
}

TEST_F(HttpClientTest, AFieldThatWouldBecomeTwoIsRefused) {
  serve_bytes(answer("", ""));
  HttpClient client = HttpClient::create(policy_).value();
  for (const auto& field : HttpFields{{"If-None-Match", "a\r\nX: b"}, {"A b", "c"}, {"", "c"}}) {
    EXPECT_EQ(code_of(client.send({.url = url("/"), .fields = {field}})), "FIELD_MALFORMED");
  }
  EXPECT_EQ(server_->connections(), 0);
}

TEST_F(HttpClientTest, AnErrorOfTheSinkEndsTheRequest) {
  serve_bytes(answer("", "text"));
  HttpClient client = HttpClient::create(policy_).value();
  const Result<HttpResponse> got = client.send({.url = url("/")}, [](std::string_view) -> Status {
    return fail(ErrorKind::system, "DISK_FULL", "", "no room");
  });
  EXPECT_EQ(code_of(got), "DISK_FULL");
}

TEST_F(HttpClientTest, ATrustFileThatIsNoneIsAnError) {
  policy_.trust_file = folder_ / "missing.pem";
  const Result<HttpClient> client = HttpClient::create(policy_);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "TRUST_FILE_UNREADABLE");
}

}  // namespace
}  // namespace kernelindex::tools
