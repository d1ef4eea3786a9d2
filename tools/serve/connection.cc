// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/connection.h"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>
#include <optional>

#include "ledger/ledger.h"
#include "tools/serve/access_log.h"
#include "tools/serve/service.h"

namespace kernelindex::serve {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

struct TlsIdentity::Context {
  asio::ssl::context ssl{asio::ssl::context::tls_server};
};

namespace {

constexpr std::size_t kReadBytes = 2048;  // most requests have fewer
constexpr std::size_t kLingerBytes = std::size_t{256} << 10u;
constexpr std::chrono::milliseconds kLingerTime{2'000};

using TlsStream = asio::ssl::stream<Socket>;

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

// "2a\r\n" before a chunk.
std::string chunk_size(std::size_t bytes) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), bytes, 16).ptr;
  return std::string(digits.data(), end) + "\r\n";
}

template <typename Stream>
class HttpConnection final : public Connection {
 public:
  template <typename... Tls>
  HttpConnection(Shard& shard, Socket socket, Tls&... tls)
      : Connection(shard),
        stream_(std::move(socket), tls...),
        buffer_(shard.limits.header_bytes + kReadBytes) {
    ErrorCode error;
    const auto remote = socket_of(stream_).remote_endpoint(error);
    if (!error) client_ = remote.address().to_string();
  }

  void start() override {
    enter(Phase::handshake, shard_.limits.header_time);
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = self()](const ErrorCode& error) {
                                if (self->gone()) return;
                                if (error) return self->close();
                                self->first_request();
                              });
    } else {
      first_request();
    }
  }

  void close() override {
    if (gone()) return;
    if (in_work_) log(sent_status_ == 0 ? "no answer was sent" : "the answer was not sent whole");
    enter(Phase::closed, {});
    ErrorCode ignored;
    socket_of(stream_).close(ignored);
    shard_.connections.erase(this);
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  static Socket& socket_of(Socket& socket) { return socket; }
  static Socket& socket_of(TlsStream& stream) { return stream.next_layer(); }

  std::shared_ptr<HttpConnection> self() {
    return std::static_pointer_cast<HttpConnection>(shared_from_this());
  }
  bool gone() const { return phase() == Phase::closed; }

  // ---- reading ----

  void first_request() {
    new_parser();
    enter(Phase::header, shard_.limits.header_time);
    parse();
  }

  void next_request() {
    if (close_after_ || shard_.draining) return linger();
    new_parser();
    if (buffer_.size() > 0) {
      enter(Phase::header, shard_.limits.header_time);
      return parse();
    }
    enter(Phase::idle, shard_.limits.idle_time);
    read_more();
  }

  void new_parser() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shard_.limits.header_bytes));
    parser_->eager(false);
    target_.clear();
    method_ = {};
  }

  void read_more() {
    const std::size_t room = buffer_.max_size() - buffer_.size();
    if (room == 0) return refuse(431, "HEADER_TOO_LARGE", "the header has too many bytes");
    stream_.async_read_some(buffer_.prepare(std::min(room, kReadBytes)),
                            [self = self()](const ErrorCode& error, std::size_t bytes) {
                              if (self->gone()) return;
                              if (error) return self->close();
                              self->buffer_.commit(bytes);
                              if (self->phase() == Phase::idle) {
                                self->enter(Phase::header, self->shard_.limits.header_time);
                              }
                              self->parse();
                            });
  }

  void parse() {
    const bool header_was_done = parser_->is_header_done();
    while (buffer_.size() > 0) {
      ErrorCode error;
      const std::size_t used = parser_->put(buffer_.data(), error);
      buffer_.consume(used);
      if (error == http::error::need_more) return read_more();
      if (error == http::error::header_limit) {
        return refuse(431, "HEADER_TOO_LARGE", "the header has too many bytes");
      }
      if (error) return refuse(400, "BAD_REQUEST", "this is no request of HTTP/1.1");
      if (!header_was_done && parser_->is_header_done()) return on_header();
      if (parser_->is_done()) return on_body();
      if (used == 0) break;
    }
    read_more();
  }

  void on_header() {
    const auto& message = parser_->get();
    begin_work();
    target_ = view_of(message.target());
    method_ = view_of(message.method_string());
    http_1_0_ = message.version() == 10;
    head_only_ = message.method() == http::verb::head;
    close_after_ = !message.keep_alive();
    if (message.version() != 11 && !http_1_0_) {
      return refuse(505, "HTTP_VERSION", "this is no HTTP/1.1 and no HTTP/1.0");
    }
    if (message.count(http::field::host) > 1 ||
        (!http_1_0_ && message.count(http::field::host) == 0)) {
      return refuse(400, "BAD_HOST", "a request names one host");
    }
    const bool posts = message.method() == http::verb::post;
    if (!posts && message.method() != http::verb::get && !head_only_) {
      return refuse(message.method() == http::verb::unknown ? 501 : 405, "METHOD_NOT_ALLOWED",
                    "GET and HEAD, and POST where it is named");
    }
    if (parser_->chunked() || message.count(http::field::transfer_encoding) > 0) {
      return refuse(posts ? 411 : 400, "LENGTH_NEEDED", "bodies come with their length");
    }
    const std::uint64_t body_bytes = parser_->content_length().value_or(0);
    if (!posts && body_bytes > 0) {
      return refuse(400, "BODY_NOT_ALLOWED", "GET and HEAD have no body");
    }
    RawRequest raw = raw_request(posts);
    Plan plan = shard_.service.plan(raw);
    if (plan.ready) {
      if (posts && body_bytes > 0) close_after_ = true;
      const bool unchanged = not_modified(*plan.ready, raw);
      return send(std::move(plan.ready), unchanged);
    }
    work_ = std::move(plan.work);
    work_->client = client_;
    if (!posts) return make_answer();
    if (body_bytes > plan.body_max) {
      // No such place is a better answer than too large.
      close_after_ = true;
      if (plan.body_max == 0) return make_answer();
      return refuse(413, "BODY_TOO_LARGE",
                    "the body may have " + std::to_string(plan.body_max) + " bytes");
    }
    read_body();
  }

  RawRequest raw_request(bool posts) const {
    const auto& message = parser_->get();
    return {posts        ? Method::post
            : head_only_ ? Method::head
                         : Method::get,
            target_, view_of(message[http::field::accept]),
            view_of(message[http::field::if_none_match]),
            view_of(message[http::field::content_type])};
  }

  void read_body() {
    enter(Phase::body, shard_.limits.body_time);
    parser_->eager(true);
    const auto& message = parser_->get();
    if (parser_->is_done()) return on_body();
    if (view_of(message[http::field::expect]) != "100-continue") return parse();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      [self = self()](const ErrorCode& error, std::size_t) {
                        if (self->gone()) return;
                        if (error) return self->close();
                        self->parse();
                      });
  }

  void on_body() {
    work_->body = std::move(parser_->get().body());
    make_answer();
  }

  // ---- answering ----

  void make_answer() {
    if (shard_.answers_waiting >= shard_.limits.answers_waiting) {
      return send(shard_.service.problem(503, "BUSY", "too much is asked at the moment"), false);
    }
    enter(Phase::answer, shard_.limits.answer_time);
    ++shard_.answers_waiting;
    asio::post(shard_.workers, [self = self(), request = std::move(*work_)] {
      PreparedPointer answer;
      try {
        answer = self->shard_.service.answer(request);
      } catch (const std::exception& error) {
        answer = self->shard_.service.problem(500, "INTERNAL", "this answer could not be made");
      }
      --self->shard_.answers_waiting;
      asio::post(self->shard_.context, [self, answer = std::move(answer)]() mutable {
        if (self->gone()) return;
        const RawRequest raw = self->raw_request(self->method_ == "POST");
        const bool unchanged = not_modified(*answer, raw);
        self->send(std::move(answer), unchanged);
      });
    });
    work_.reset();
  }

  // From here on this request has a line in the log, whatever becomes of it.
  void begin_work() {
    received_ = std::chrono::steady_clock::now();
    in_work_ = true;
    sent_status_ = 0;
    sent_bytes_ = 0;
  }

  // A problem with the request itself: what follows it cannot be understood.
  void refuse(unsigned status, std::string code, std::string detail) {
    if (!in_work_) begin_work();
    close_after_ = true;
    send(shard_.service.problem(status, std::move(code), std::move(detail)), false);
  }

  void send(PreparedPointer answer, bool unchanged) {
    enter(Phase::write, shard_.limits.write_time);
    answer_ = std::move(answer);
    sent_status_ = unchanged ? 304 : answer_->status;
    const bool bodiless = unchanged || head_only_ || answer_->status == 304;
    const bool streams = !bodiless && answer_->source != nullptr;
    if (shard_.draining || (streams && http_1_0_)) close_after_ = true;
    moment_ = shard_.date_line();
    if (streams && !http_1_0_) moment_ += "Transfer-Encoding: chunked\r\n";
    moment_ += close_after_ ? "Connection: close\r\n\r\n"
               : http_1_0_  ? "Connection: keep-alive\r\n\r\n"
                            : "\r\n";
    const std::string& head = unchanged ? answer_->unchanged : answer_->head;
    const std::array<asio::const_buffer, 3> pieces = {
        asio::buffer(head), asio::buffer(moment_),
        bodiless || streams ? asio::const_buffer() : asio::buffer(*answer_->body)};
    asio::async_write(stream_, pieces,
                      [self = self(), streams, bodiless](const ErrorCode& error, std::size_t) {
                        if (self->gone()) return;
                        if (error) return self->close();
                        if (streams) return self->next_piece();
                        if (!bodiless) self->sent_bytes_ = self->answer_->body->size();
                        self->sent();
                      });
  }

  void next_piece() {
    enter(Phase::answer, shard_.limits.answer_time);
    asio::post(shard_.workers, [self = self(), answer = answer_] {
      Result<std::string> piece = fail(ErrorKind::system, "INTERNAL", "", "no piece was made");
      try {
        piece = answer->source();
      } catch (const std::exception& error) {
        piece = fail(ErrorKind::system, "INTERNAL", "", error.what());
      }
      asio::post(self->shard_.context, [self, piece = std::move(piece)]() mutable {
        if (!self->gone()) self->send_piece(std::move(piece));
      });
    });
  }

  void send_piece(Result<std::string> piece) {
    if (!piece) {
      // A cut body must not look whole: the last chunk is never sent.
      log(piece.error().text());
      return close();
    }
    enter(Phase::write, shard_.limits.write_time);
    const std::size_t bytes = piece->size();
    piece_.clear();
    if (!http_1_0_) {
      if (bytes == 0) {
        piece_ = "0\r\n\r\n";
      } else {
        piece_ = chunk_size(bytes) + *piece + "\r\n";
      }
    } else {
      piece_ = std::move(*piece);
    }
    asio::async_write(stream_, asio::buffer(piece_),
                      [self = self(), bytes](const ErrorCode& error, std::size_t) {
                        if (self->gone()) return;
                        if (error) return self->close();
                        self->sent_bytes_ += bytes;
                        bytes == 0 ? self->sent() : self->next_piece();
                      });
  }

  void sent() {
    log(answer_->fault);
    answer_.reset();
    next_request();
  }

  void log(std::string_view fault) {
    in_work_ = false;
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    const auto micros = static_cast<std::uint64_t>(
        duration_cast<microseconds>(std::chrono::steady_clock::now() - received_).count());
    if (sent_status_ != 0) shard_.service.metrics().answered(sent_status_, sent_bytes_, micros);
    if (shard_.log == nullptr) return;
    static const Clock clock = system_clock();
    shard_.log->add({clock(), client_, method_, target_, sent_status_, sent_bytes_, micros, fault});
  }

  // ---- the end ----

  // Says that nothing follows and waits for the client to close: closing with bytes unread would
  // reset the connection, and the client might lose the answer. With TLS the goodbye comes first:
  // without it a client cannot tell the end from a cut (RFC 8446 section 6.1).
  void linger() {
    enter(Phase::linger, kLingerTime);
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_shutdown([self = self()](const ErrorCode&) {
        if (!self->gone()) self->end_sending();
      });
    } else {
      end_sending();
    }
  }

  void end_sending() {
    ErrorCode ignored;
    socket_of(stream_).shutdown(Socket::shutdown_send, ignored);
    buffer_.clear();
    discard(0);
  }

  void discard(std::size_t so_far) {
    if (so_far > kLingerBytes) return close();
    socket_of(stream_).async_read_some(
        buffer_.prepare(kReadBytes),
        [self = self(), so_far](const ErrorCode& error, std::size_t bytes) {
          if (self->gone()) return;
          if (error) return self->close();
          self->discard(so_far + bytes);
        });
  }

  Stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string client_;
  // Of the request in work.
  std::string target_;
  std::string method_;
  std::optional<Request> work_;
  bool http_1_0_ = false;
  bool head_only_ = false;
  bool close_after_ = false;
  bool in_work_ = false;  // its line is not yet in the log
  SteadyTime received_;
  // Of the answer.
  PreparedPointer answer_;
  std::string moment_;  // the lines of the moment
  std::string piece_;
  unsigned sent_status_ = 0;      // 0: none yet
  std::uint64_t sent_bytes_ = 0;  // of the body, in writes that ended well
};

std::unexpected<Error> tls_error(std::string code, const std::string& file,
                                 const ErrorCode& error) {
  return fail(ErrorKind::system, std::move(code), file, "cannot be used: " + error.message(),
              "Give PEM files: the chain of certificates, and the private key of the first");
}

}  // namespace

const std::string& Shard::date_line() {
  static const Clock clock = system_clock();
  constexpr std::int64_t kMicros = 1'000'000;
  const std::int64_t second = clock() / kMicros;
  if (second != date_second_) {
    date_second_ = second;
    date_line_ = "Date: " + http_date(second) + "\r\n";
  }
  return date_line_;
}

TlsIdentity::TlsIdentity(std::unique_ptr<Context> context) : context_(std::move(context)) {}
TlsIdentity::~TlsIdentity() = default;

Result<std::unique_ptr<TlsIdentity>> TlsIdentity::read(const std::string& certificate_file,
                                                       const std::string& key_file) {
  auto context = std::make_unique<Context>();
  ErrorCode error;
  using asio::ssl::context_base;
  context->ssl.set_options(context_base::no_tlsv1 | context_base::no_tlsv1_1 |
                           context_base::no_compression);
  SSL_CTX_set_mode(context->ssl.native_handle(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context->ssl.native_handle(), SSL_OP_NO_RENEGOTIATION);
  context->ssl.use_certificate_chain_file(certificate_file, error);
  if (error) return tls_error("TLS_CERTIFICATE", certificate_file, error);
  context->ssl.use_private_key_file(key_file, asio::ssl::context::pem, error);
  // A key of the certificate's own kind is compared at once, one of another kind only when asked.
  const bool another =
      error && ERR_GET_LIB(static_cast<unsigned long>(error.value())) == ERR_LIB_X509;
  if (error && !another) return tls_error("TLS_KEY", key_file, error);
  if (another || SSL_CTX_check_private_key(context->ssl.native_handle()) != 1) {
    return fail(ErrorKind::system, "TLS_KEY", key_file,
                "is not the key of the certificate in " + certificate_file,
                "Give the private key of the first certificate of the chain");
  }
  return std::unique_ptr<TlsIdentity>(new TlsIdentity(std::move(context)));
}

std::shared_ptr<Connection> make_connection(Socket socket, Shard& shard, TlsIdentity* tls) {
  if (tls != nullptr) {
    return std::make_shared<HttpConnection<TlsStream>>(shard, std::move(socket),
                                                       tls->context().ssl);
  }
  return std::make_shared<HttpConnection<Socket>>(shard, std::move(socket));
}

}  // namespace kernelindex::serve
