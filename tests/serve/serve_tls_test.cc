// SPDX-License-Identifier: Apache-2.0
// The server with a certificate: what it speaks, how it says goodbye, and the pairs of files that
// it refuses to start with.
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <memory>

#include "tests/serve/server_fixture.h"
#include "tests/support/corpus.h"
#include "tests/support/test_server.h"
#include "tools/http/http_client.h"

namespace kernelindex::serve {
namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};

class TlsTest : public ServerTest {
 public:
  TlsTest() : pair_(authority_.issue("IP:127.0.0.1")) {}

  ServerOptions options_of(const test::Certificate& certificate) {
    ServerOptions options;
    options.certificate_file = folder_ / "chain.pem";
    options.key_file = folder_ / "key.pem";
    test::write_file(options.certificate_file, certificate.chain);
    test::write_file(options.key_file, certificate.key);
    return options;
  }
  HeadOptions head_options() const override { return {.tls = true}; }
  void start_with_tls() { start(options_of(pair_)); }
  std::string refusal(const ServerOptions& options) {
    const Result<std::unique_ptr<Server>> server = Server::listen(options, *service_, nullptr);
    return server ? "" : server.error().code + " " + server.error().text();
  }

  test::CertificateAuthority authority_;
  test::Certificate pair_;
};

// One connection of a client that speaks the versions from `least` to `most`; checks no chain.
class TlsSession {
 public:
  TlsSession(std::uint16_t port, int least, int most) : client_(port) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    // Else OpenSSL itself would not offer the old versions, and nothing would be proved.
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), least);
    SSL_CTX_set_max_proto_version(context_.get(), most);
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), client_.descriptor());
    connected_ = SSL_connect(session_.get()) == 1;
    ERR_clear_error();
  }
  bool connected() const { return connected_; }
  void send(std::string_view bytes) {
    EXPECT_GT(SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())), 0);
  }
  std::string all() {
    std::string out;
    char buffer[4096];
    int n = 0;
    while ((n = SSL_read(session_.get(), buffer, sizeof buffer)) > 0) {
      out.append(buffer, static_cast<std::size_t>(n));
    }
    end_ = SSL_get_error(session_.get(), n);
    return out;
  }
  // The peer said that nothing follows: the answer was not cut on its way.
  bool said_goodbye() const { return end_ == SSL_ERROR_ZERO_RETURN; }

 private:
  LoopbackClient client_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> session_;
  bool connected_ = false;
  int end_ = SSL_ERROR_NONE;
};

TEST_F(TlsTest, AnHttpsClientThatTrustsTheRootGetsTheAnswer) {
  start_with_tls();
  const std::string host = "127.0.0.1:" + std::to_string(server_->port());
  tools::HttpPolicy policy;
  policy.hosts = policy.allow_hosts = {host};
  test::write_file(folder_ / "root.pem", authority_.root());
  policy.trust_file = folder_ / "root.pem";
  Result<tools::HttpClient> client = tools::HttpClient::create(policy);
  ASSERT_TRUE(client) << client.error().text();
  const Result<tools::HttpResponse> answer =
      client->send({.url = "https://" + host + "/checkpoint"});
  ASSERT_TRUE(answer) << answer.error().text();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, follower_->state()->checkpoint->format());
  EXPECT_TRUE(answer->field("strict-transport-security"));
}

TEST_F(TlsTest, Versions12And13AreSpokenAndNoneBefore) {
  start_with_tls();
  EXPECT_FALSE(TlsSession(server_->port(), TLS1_VERSION, TLS1_VERSION).connected());
  EXPECT_FALSE(TlsSession(server_->port(), TLS1_1_VERSION, TLS1_1_VERSION).connected());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsSession session(server_->port(), version, version);
    ASSERT_TRUE(session.connected()) << version;
    session.send(get("/healthz"));
    EXPECT_EQ(status_of(session.all()), "200") << version;
  }
}

// Without it a client cannot tell an end from a cut (RFC 8446 section 6.1).
TEST_F(TlsTest, TheGoodbyeFollowsTheLastAnswer) {
  start_with_tls();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsSession session(server_->port(), version, version);
    ASSERT_TRUE(session.connected());
    session.send(get("/checkpoint"));
    EXPECT_EQ(body_of(session.all()), follower_->state()->checkpoint->format());
    EXPECT_TRUE(session.said_goodbye()) << version;
  }
}

TEST_F(TlsTest, AClientWithoutTlsIsSentNothingReadableAndOthersAreServed) {
  start_with_tls();
  const std::string said = ask(get("/checkpoint"));
  EXPECT_EQ(said.find("HTTP/1.1"), std::string::npos) << "an answer that was not asked for in TLS";
  TlsSession session(server_->port(), TLS1_2_VERSION, TLS1_3_VERSION);
  ASSERT_TRUE(session.connected());
  session.send(get("/healthz"));
  EXPECT_EQ(status_of(session.all()), "200");
}

TEST_F(TlsTest, AKeyOfAnotherCertificateIsRefusedByName) {
  const test::Certificate other = authority_.issue("IP:127.0.0.1");
  const ServerOptions options = options_of({pair_.chain, other.key});
  const std::string said = refusal(options);
  EXPECT_TRUE(said.starts_with("TLS_KEY ")) << said;
  EXPECT_NE(said.find(options.key_file), std::string::npos) << said;
  EXPECT_NE(said.find("is not the key of the certificate"), std::string::npos) << said;
}

TEST_F(TlsTest, AKeyOfAnotherKindIsRefusedByName) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  ASSERT_EQ(PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
  char* text = nullptr;
  const auto size = static_cast<std::size_t>(BIO_get_mem_data(bio.get(), &text));
  const std::string said = refusal(options_of({pair_.chain, std::string(text, size)}));
  EXPECT_TRUE(said.starts_with("TLS_KEY ")) << said;
  EXPECT_NE(said.find("is not the key of the certificate"), std::string::npos) << said;
}

TEST_F(TlsTest, FilesThatAreNoPemAreRefusedByName) {
  EXPECT_TRUE(refusal(options_of({"no certificate", pair_.key})).starts_with("TLS_CERTIFICATE "));
  EXPECT_TRUE(refusal(options_of({pair_.chain, "no key"})).starts_with("TLS_KEY "));
  ServerOptions absent = options_of(pair_);
  absent.certificate_file = folder_ / "absent.pem";
  const std::string said = refusal(absent);
  EXPECT_TRUE(said.starts_with("TLS_CERTIFICATE ")) << said;
  EXPECT_NE(said.find("absent.pem"), std::string::npos) << said;
}

}  // namespace
}  // namespace kernelindex::serve
