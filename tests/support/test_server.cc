// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace kernelindex::test {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(SSL* session) const { SSL_free(session); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("test server: ") + what);
}

template <typename Write>
std::string pem(Write&& write) {
  const Owned<BIO> bio(BIO_new(BIO_s_mem()));
  require(write(bio.get()) == 1, "PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

std::string pem(X509* certificate) {
  return pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Owned<X509_EXTENSION> extension(
      X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  require(extension != nullptr, "extension");
  require(X509_add_ext(certificate, extension.get(), -1) == 1, "extension");
}

// Without an issuer it is a root, to be signed by its own key.
Owned<X509> certify(EVP_PKEY* key, const std::string& name, int days, X509* issuer) {
  Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  static std::atomic<long> serial = 1;
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), days < 0 ? days * 172800L : -3600L);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), days * 86400L);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate.get(),
                       issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  if (issuer == nullptr) {
    extend(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    extend(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign");
  }
  return certificate;
}

}  // namespace

struct CertificateAuthority::State {
  Owned<EVP_PKEY> key;
  Owned<X509> root;
};

CertificateAuthority::CertificateAuthority() : state_(std::make_unique<State>()) {
  state_->key.reset(EVP_EC_gen("P-256"));
  require(state_->key != nullptr, "key");
  state_->root = certify(state_->key.get(), "the root of a test", 2, nullptr);
  require(X509_sign(state_->root.get(), state_->key.get(), EVP_sha256()) > 0, "root");
}
CertificateAuthority::~CertificateAuthority() = default;

std::string CertificateAuthority::root() const { return pem(state_->root.get()); }

Certificate CertificateAuthority::issue(const std::string& names, int days) const {
  const Owned<EVP_PKEY> key(EVP_EC_gen("P-256"));
  require(key != nullptr, "key");
  const Owned<X509> certificate =
      certify(key.get(), "a server of a test", days, state_->root.get());
  extend(certificate.get(), state_->root.get(), NID_subject_alt_name, names);
  require(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) > 0, "certificate");
  return {pem(certificate.get()), pem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

long TestServer::Peer::read(char* buffer, std::size_t size) {
  if (tls_ != nullptr) return SSL_read(static_cast<SSL*>(tls_), buffer, static_cast<int>(size));
  return ::recv(socket_, buffer, size, 0);
}

std::string TestServer::Peer::read_request() {
  std::array<char, 4096> buffer;
  std::size_t wanted = std::string::npos;
  while (rest_.size() < wanted) {
    if (const std::size_t end = rest_.find("\r\n\r\n"); end != std::string::npos) {
      wanted = end + 4;
      constexpr std::string_view kLength = "Content-Length: ";
      if (const std::size_t at = rest_.find(kLength); at < end) {
        std::size_t length = 0;
        std::from_chars(rest_.data() + at + kLength.size(), rest_.data() + end, length);
        wanted += length;
      }
      if (rest_.size() >= wanted) break;
    }
    const long size = read(buffer.data(), buffer.size());
    if (size <= 0) return {};
    rest_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  std::string request = rest_.substr(0, wanted);
  rest_.erase(0, wanted);
  return request;
}

bool TestServer::Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes.size(), 1u << 20);
    const long sent = tls_ != nullptr
                          ? SSL_write(static_cast<SSL*>(tls_), bytes.data(), static_cast<int>(size))
                          : ::send(socket_, bytes.data(), size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void TestServer::Peer::wait_until_gone() {
  std::array<char, 4096> buffer;
  while (read(buffer.data(), buffer.size()) > 0) {
  }
}

void TestServer::Peer::cut() {
  cut_ = true;
  ::shutdown(socket_, SHUT_RDWR);
}

TestServer::TestServer(const Options& options, Script script)
    : options_(options), script_(std::move(script)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  if (options.certificate != nullptr) {
    SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
    tls_ = context;
    const auto memory = [](const std::string& text) {
      return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    };
    const Owned<X509> chain(
        PEM_read_bio_X509(memory(options.certificate->chain).get(), nullptr, nullptr, nullptr));
    const Owned<EVP_PKEY> key(
        PEM_read_bio_PrivateKey(memory(options.certificate->key).get(), nullptr, nullptr, nullptr));
    require(SSL_CTX_use_certificate(context, chain.get()) == 1, "certificate");
    require(SSL_CTX_use_PrivateKey(context, key.get()) == 1, "key");
  }
  sockaddr_in6 v6 = {};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address =
      options.ipv6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
  socklen_t size = options.ipv6 ? sizeof v6 : sizeof v4;
  listener_ = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(listener_ >= 0, "no socket");
  require(::bind(listener_, address, size) == 0, "no loopback address");
  require(::listen(listener_, 16) == 0, "listen");
  require(::getsockname(listener_, address, &size) == 0, "getsockname");
  port_ = ntohs(options.ipv6 ? v6.sin6_port : v4.sin_port);
  thread_ = std::thread([this] { serve(); });
}

TestServer::~TestServer() {
  stopping_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  if (const int socket = current_; socket >= 0) ::shutdown(socket, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  SSL_CTX_free(static_cast<SSL_CTX*>(tls_));
}

void TestServer::serve() {
  while (!stopping_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    ++connections_;
    current_ = socket;
    if (!stopping_) talk(socket);
    current_ = -1;
    ::close(socket);
  }
}

void TestServer::talk(int socket) {
  Owned<SSL> session;
  if (tls_ != nullptr) {
    session.reset(SSL_new(static_cast<SSL_CTX*>(tls_)));
    SSL_set_fd(session.get(), socket);
    if (SSL_accept(session.get()) != 1) return;
  }
  Peer peer(socket, session.get());
  script_(peer);
  if (session != nullptr && !peer.cut_) SSL_shutdown(session.get());
}

}  // namespace kernelindex::test
