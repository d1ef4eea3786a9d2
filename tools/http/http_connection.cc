// SPDX-License-Identifier: Apache-2.0
// The one door to Boost: Asio for sockets and TLS, Beast for HTTP/1.1.
//
// Each step is asynchronous, because only such steps can be timed out, and is run to its end before
// the next begins: to the caller all of it is one plain call.
#include "tools/http/http_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cassert>
#include <vector>

#include "tools/http/address_rules.h"

namespace kernelindex::tools {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Clock = HttpConnection::Clock;
using PlainStream = beast::tcp_stream;
using SecureStream = asio::ssl::stream<beast::tcp_stream>;
using Parser = http::response_parser<http::buffer_body>;

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr int kMaxInterimAnswers = 8;  // 1xx before the answer itself

bool is_public(const asio::ip::address& address) {
  return address.is_v4() ? is_public_address(address.to_v4().to_bytes())
                         : is_public_address(address.to_v6().to_bytes());
}

bool is_address_text(const std::string& host) {
  error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

std::unexpected<Error> fault(ErrorKind kind, std::string code, std::string message) {
  return fail(kind, std::move(code), "", std::move(message));
}

std::unexpected<Error> timed_out() {
  return fault(ErrorKind::system, "TIMED_OUT", "the server took too long");
}

// What went wrong while an answer was read; `began`: its head had come.
std::unexpected<Error> read_fault(const error_code& error, bool began, const HttpLimits& limits) {
  if (error == beast::error::timeout) return timed_out();
  if (error == http::error::body_limit) {
    return fault(ErrorKind::invalid, "BODY_TOO_LARGE",
                 "the body is larger than " + std::to_string(limits.body_bytes) + " bytes");
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return fault(ErrorKind::invalid, "HEADER_TOO_LARGE",
                 "the header is larger than " + std::to_string(limits.header_bytes) + " bytes");
  }
  const bool of_http =
      error.category() == http::make_error_code(http::error::bad_status).category();
  if (of_http && error != http::error::end_of_stream && error != http::error::partial_message) {
    return fault(ErrorKind::invalid, "HTTP_MALFORMED",
                 "the answer is not HTTP/1.1: " + error.message());
  }
  if (began) {
    return fault(ErrorKind::system, "BODY_TRUNCATED",
                 "the connection ended before the body: " + error.message());
  }
  return fault(ErrorKind::system, "CONNECTION_LOST",
               "the connection ended before the answer: " + error.message());
}

HttpResponse head_of(const Parser& parser) {
  HttpResponse head;
  head.status = static_cast<int>(parser.get().result_int());
  for (const auto& field : parser.get()) {
    std::string name(field.name_string().data(), field.name_string().size());
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    head.fields.emplace_back(std::move(name),
                             std::string(field.value().data(), field.value().size()));
  }
  return head;
}

}  // namespace

struct HttpConnection::State {
  asio::io_context context{1};
  asio::ssl::context tls{asio::ssl::context::tls_client};
  std::unique_ptr<SecureStream> secure;
  std::unique_ptr<PlainStream> plain;
  std::string open_to;  // what the open stream is good for; empty when none is open
  beast::flat_buffer buffer;

  Status open(const WireRequest& request, const HttpLimits& limits, Clock::time_point deadline);
  void close();
  Result<HttpResponse> ask(const WireRequest& request, const HttpLimits& limits,
                           Clock::time_point deadline, const HeadSink& head,
                           const HttpBodySink& body);

 private:
  // Starts a step with a handler and runs it to its end.
  template <typename Start>
  error_code run(Start&& start) {
    std::optional<error_code> ended;
    start([&ended](const error_code& error, auto&&...) { ended = error; });
    context.restart();
    while (!ended) {
      [[maybe_unused]] const std::size_t done = context.run_one();
      assert(done == 1);
    }
    return *ended;
  }

  // The socket below TLS, which keeps the time.
  PlainStream& lowest() { return secure ? secure->next_layer() : *plain; }
  void expire(Clock::time_point deadline, std::chrono::milliseconds within) {
    lowest().expires_at(std::min(deadline, Clock::now() + within));
  }

  Result<std::vector<asio::ip::tcp::endpoint>> resolve(const WireRequest& request,
                                                       Clock::time_point deadline);
  Status start_tls(const std::string& host);
  template <typename Stream>
  Result<HttpResponse> ask_on(Stream& stream, const WireRequest& request, const HttpLimits& limits,
                              Clock::time_point deadline, const HeadSink& head,
                              const HttpBodySink& body);
  template <typename Stream>
  Status read_body(Stream& stream, Parser& parser, const HttpLimits& limits,
                   Clock::time_point deadline, const HttpBodySink& body);
};

void HttpConnection::State::close() {
  open_to.clear();
  buffer.clear();
  secure.reset();
  plain.reset();
}

Result<std::vector<asio::ip::tcp::endpoint>> HttpConnection::State::resolve(
    const WireRequest& request, Clock::time_point deadline) {
  // A resolver cannot be stopped while the system looks a name up, so what it writes into outlives
  // this call.
  struct Answer {
    bool ended = false;
    error_code error;
    asio::ip::tcp::resolver::results_type found;
  };
  const auto answer = std::make_shared<Answer>();
  asio::ip::tcp::resolver resolver(context);
  resolver.async_resolve(request.url.host, std::to_string(request.url.port),
                         asio::ip::tcp::resolver::numeric_service,
                         [answer](const error_code& error, const auto& found) {
                           *answer = {true, error, found};
                         });
  context.restart();
  while (!answer->ended && context.run_one_until(deadline) == 1) {
  }
  if (!answer->ended) return timed_out();
  if (answer->error) {
    return fault(ErrorKind::system, "NAME_NOT_RESOLVED",
                 "the name " + request.url.host + " was not resolved: " + answer->error.message());
  }
  std::vector<asio::ip::tcp::endpoint> allowed;
  std::string refused;
  for (const auto& entry : answer->found) {
    if (request.any_address || is_public(entry.endpoint().address())) {
      allowed.push_back(entry.endpoint());
    } else {
      refused = entry.endpoint().address().to_string();
    }
  }
  if (allowed.empty()) {
    return fail(ErrorKind::refused, "ADDRESS_REFUSED", "",
                request.url.host + " is at " + refused + ", which is no public address",
                "If that is meant, name it: --allow-host " + request.url.host + ".");
  }
  return allowed;
}

Status HttpConnection::State::start_tls(const std::string& host) {
  SSL* const session = secure->native_handle();
  X509_VERIFY_PARAM* const rules = SSL_get0_param(session);
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  const bool named = is_address_text(host)
                         ? X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1
                         : X509_VERIFY_PARAM_set1_host(rules, host.data(), host.size()) == 1 &&
                               SSL_set_tlsext_host_name(session, host.c_str()) == 1;
  if (!named) return fault(ErrorKind::system, "TLS_FAILED", "the host name cannot be verified");
  const error_code error = run([&](auto handler) {
    secure->async_handshake(asio::ssl::stream_base::client, std::move(handler));
  });
  if (!error) return {};
  if (error == beast::error::timeout) return timed_out();
  if (const long verdict = SSL_get_verify_result(session); verdict != X509_V_OK) {
    return fault(ErrorKind::system, "TLS_FAILED",
                 std::string("the certificate is not valid for this host: ") +
                     X509_verify_cert_error_string(verdict));
  }
  if (error.category() == asio::error::get_ssl_category()) {
    return fault(ErrorKind::system, "TLS_FAILED", "the TLS handshake failed: " + error.message());
  }
  return fault(ErrorKind::system, "CONNECTION_LOST",
               "the connection ended in the TLS handshake: " + error.message());
}

Status HttpConnection::State::open(const WireRequest& request, const HttpLimits& limits,
                                   Clock::time_point deadline) {
  close();
  const Clock::time_point until = std::min(deadline, Clock::now() + limits.connect);
  const Result<std::vector<asio::ip::tcp::endpoint>> places = resolve(request, until);
  if (!places) return fail(places.error());
  if (request.url.secure) {
    secure = std::make_unique<SecureStream>(context, tls);
  } else {
    plain = std::make_unique<PlainStream>(context);
  }
  lowest().expires_at(until);
  const error_code error =
      run([&](auto handler) { lowest().async_connect(*places, std::move(handler)); });
  if (error == beast::error::timeout) return timed_out();
  if (error) {
    return fault(ErrorKind::system, "CONNECT_FAILED",
                 "no connection to " + request.url.authority() + ": " + error.message());
  }
  return secure ? start_tls(request.url.host) : Status();
}

template <typename Stream>
Status HttpConnection::State::read_body(Stream& stream, Parser& parser, const HttpLimits& limits,
                                        Clock::time_point deadline, const HttpBodySink& body) {
  const auto piece = std::make_unique<std::array<char, kPieceBytes>>();
  while (!parser.is_done()) {
    parser.get().body().data = piece->data();
    parser.get().body().size = piece->size();
    expire(deadline, limits.idle);
    const error_code error = run(
        [&](auto handler) { http::async_read_some(stream, buffer, parser, std::move(handler)); });
    const std::size_t size = piece->size() - parser.get().body().size;
    if (size > 0) {
      const Status taken = body(std::string_view(piece->data(), size));
      if (!taken) return taken;
    }
    if (error && error != http::error::need_buffer) return read_fault(error, true, limits);
  }
  return {};
}

template <typename Stream>
Result<HttpResponse> HttpConnection::State::ask_on(Stream& stream, const WireRequest& request,
                                                   const HttpLimits& limits,
                                                   Clock::time_point deadline, const HeadSink& head,
                                                   const HttpBodySink& body) {
  http::request<http::string_body> message;
  message.version(11);
  message.method_string(request.method);
  message.target(request.url.target);
  for (const auto& [name, value] : *request.fields) message.insert(name, value);
  message.body() = request.body;
  if (request.method == "POST") message.content_length(request.body.size());
  expire(deadline, limits.idle);
  error_code error =
      run([&](auto handler) { http::async_write(stream, message, std::move(handler)); });
  if (error) return read_fault(error, false, limits);

  buffer.max_size(limits.header_bytes + kPieceBytes);
  for (int interim = 0; interim <= kMaxInterimAnswers; ++interim) {
    Parser parser;
    parser.header_limit(limits.header_bytes);
    parser.body_limit(limits.body_bytes);
    parser.skip(request.method == "HEAD");
    expire(deadline, limits.idle);
    error = run(
        [&](auto handler) { http::async_read_header(stream, buffer, parser, std::move(handler)); });
    if (error) return read_fault(error, false, limits);
    if (parser.get().result_int() / 100 == 1 && parser.get().result_int() != 101) continue;
    HttpResponse answer = head_of(parser);
    const Status wanted = head(answer);
    if (!wanted) return fail(wanted.error());
    const Status whole = read_body(stream, parser, limits, deadline, body);
    if (!whole) return fail(whole.error());
    // Bytes beyond the answer are the server's mistake, or an attempt to answer the next request.
    if (!parser.keep_alive() || buffer.size() > 0) close();
    return answer;
  }
  return fault(ErrorKind::invalid, "HTTP_MALFORMED", "the server sends interim answers only");
}

Result<HttpResponse> HttpConnection::State::ask(const WireRequest& request,
                                                const HttpLimits& limits,
                                                Clock::time_point deadline, const HeadSink& head,
                                                const HttpBodySink& body) {
  Result<HttpResponse> answer = secure ? ask_on(*secure, request, limits, deadline, head, body)
                                       : ask_on(*plain, request, limits, deadline, head, body);
  if (!answer) close();
  return answer;
}

HttpConnection::HttpConnection(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpConnection::~HttpConnection() = default;

Result<std::unique_ptr<HttpConnection>> HttpConnection::create(
    const std::optional<std::filesystem::path>& trust_file) {
  auto state = std::make_unique<State>();
  asio::ssl::context& tls = state->tls;
  error_code error;
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1,
                  error);
  assert(!error);
  tls.set_verify_mode(asio::ssl::verify_peer, error);
  assert(!error);
  // A system without a folder of roots trusts nobody, and each handshake says so.
  tls.set_default_verify_paths(error);
  if (trust_file) {
    tls.load_verify_file(trust_file->string(), error);
    if (error) {
      return fail(ErrorKind::system, "TRUST_FILE_UNREADABLE", trust_file->string(),
                  "no certificates were read: " + error.message());
    }
  }
  return std::unique_ptr<HttpConnection>(new HttpConnection(std::move(state)));
}

Result<HttpResponse> HttpConnection::exchange(const WireRequest& request, const HttpLimits& limits,
                                              Clock::time_point deadline, const HeadSink& head,
                                              const HttpBodySink& body) {
  const std::string place = (request.url.secure ? "https:" : "http:") + request.url.host + ":" +
                            std::to_string(request.url.port) + (request.any_address ? "!" : "");
  const bool reused = state_->open_to == place;
  if (reused) {
    Result<HttpResponse> answer = state_->ask(request, limits, deadline, head, body);
    // A server may close a connection at any time between two requests (RFC 9112 section 9.3.1);
    // what changes nothing there is asked again.
    if (answer || answer.error().code != "CONNECTION_LOST" || request.method == "POST") {
      return answer;
    }
  }
  const Status opened = state_->open(request, limits, deadline);
  if (!opened) {
    state_->close();
    return fail(opened.error());
  }
  state_->open_to = place;
  return state_->ask(request, limits, deadline, head, body);
}

}  // namespace kernelindex::tools
