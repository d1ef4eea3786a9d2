// SPDX-License-Identifier: Apache-2.0
#include "tools/http/http_client.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "tools/http/gzip_decoder.h"
#include "tools/http/http_connection.h"
#include "tools/http/http_url.h"

namespace kernelindex::tools {
namespace {

using Clock = HttpConnection::Clock;

constexpr std::size_t kMaxFieldBytes = 8192;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool names_host(const std::vector<std::string>& list, const HttpUrl& url, bool any_port) {
  const std::string bare =
      url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  const std::string with_port = bare + ":" + std::to_string(url.port);
  return std::ranges::any_of(list, [&](const std::string& entry) {
    const std::string wanted = lower(entry);
    return wanted == with_port || wanted == url.authority() || (any_port && wanted == bare);
  });
}

Status check_host(const HttpPolicy& policy, const HttpUrl& url) {
  if (!names_host(policy.hosts, url, false)) {
    return fail(ErrorKind::refused, "HOST_NOT_CONFIGURED", url.text(),
                "the host " + url.authority() + " is not one that this request may ask");
  }
  if (!url.secure && !names_host(policy.allow_hosts, url, true)) {
    return fail(ErrorKind::refused, "TLS_REQUIRED", url.text(), "http without TLS is not used",
                "Use https, or name the host with --allow-host.");
  }
  return {};
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

// What is sent must stay one field: no line breaks, nothing that only an attacker would put there.
Status check_fields(const HttpRequest& request) {
  for (const auto& [name, value] : request.fields) {
    const bool printable = std::ranges::all_of(
        value, [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
    if (!is_token(name) || !printable || name.size() + value.size() > kMaxFieldBytes) {
      return fail(ErrorKind::invalid, "FIELD_MALFORMED", request.url,
                  "a header field of the request is not one line of text");
    }
  }
  return {};
}

HttpFields wire_fields(const HttpRequest& request, const HttpUrl& url) {
  HttpFields fields = {{"Host", url.authority()},
                       {"User-Agent", "kernelindex/" KERNELINDEX_VERSION},
                       {"Accept-Encoding", "gzip"}};
  fields.insert(fields.end(), request.fields.begin(), request.fields.end());
  return fields;
}

bool is_redirect(int status) {
  static constexpr std::array kRedirects = {301, 302, 303, 307, 308};  // RFC 9110 section 15.4
  return std::ranges::find(kRedirects, status) != kRedirects.end();
}

// Takes the pieces of one answer as they came, and hands them on decoded and counted.
class BodyReader {
 public:
  BodyReader(std::uint64_t limit, const HttpBodySink& sink) : limit_(limit), sink_(sink) {}

  // By the head of the answer: what its body is coded in, and whether anybody wants it.
  Status begin(const HttpResponse& head, bool wanted) {
    wanted_ = wanted;
    if (!wanted) return {};
    const std::string coding = lower(head.field("content-encoding").value_or("identity"));
    if (coding == "gzip" || coding == "x-gzip") {
      decoder_.emplace();
    } else if (coding != "identity") {
      return fail(ErrorKind::invalid, "CODING_UNKNOWN", "",
                  "the body is coded in " + coding + ", which was not asked for");
    }
    return {};
  }

  Status take(std::string_view piece) {
    if (!wanted_) return {};
    if (!decoder_) return pass(piece);
    return decoder_->write(piece, [this](std::string_view decoded) { return pass(decoded); });
  }

  Status finish() const { return decoder_ ? decoder_->finish() : Status(); }

 private:
  Status pass(std::string_view decoded) {
    if (decoded.size() > limit_ - count_) {
      return fail(ErrorKind::invalid, "BODY_TOO_LARGE", "",
                  "the body is larger than " + std::to_string(limit_) + " bytes");
    }
    count_ += decoded.size();
    return sink_(decoded);
  }

  const std::uint64_t limit_;
  const HttpBodySink& sink_;
  std::optional<GzipDecoder> decoder_;
  std::uint64_t count_ = 0;
  bool wanted_ = false;
};

// Where an answer sends us, if it does.
Result<std::optional<HttpUrl>> next_place(const HttpUrl& url, const HttpResponse& answer) {
  if (!is_redirect(answer.status)) return std::optional<HttpUrl>();
  const std::optional<std::string_view> location = answer.field("location");
  if (!location) {
    return fail(ErrorKind::invalid, "REDIRECT_MALFORMED", url.text(),
                "the answer redirects but does not say where to");
  }
  Result<HttpUrl> next = resolve_http_url(url, *location);
  if (!next) {
    return fail(ErrorKind::invalid, "REDIRECT_MALFORMED", url.text(),
                "the answer redirects to what is no URL: " + next.error().message);
  }
  return std::optional<HttpUrl>(std::move(*next));
}

}  // namespace

std::optional<std::string_view> HttpResponse::field(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &HttpFields::value_type::first);
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

HttpClient::HttpClient(HttpPolicy policy, std::unique_ptr<HttpConnection> connection)
    : policy_(std::move(policy)), connection_(std::move(connection)) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<HttpClient> HttpClient::create(HttpPolicy policy) {
  Result<std::unique_ptr<HttpConnection>> connection = HttpConnection::create(policy.trust_file);
  if (!connection) return fail(connection.error());
  return HttpClient(std::move(policy), std::move(*connection));
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request) {
  std::string body;
  Result<HttpResponse> answer = send(request, [&](std::string_view piece) -> Status {
    body.append(piece);
    return {};
  });
  if (answer) answer->body = std::move(body);
  return answer;
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request, const HttpBodySink& sink) {
  assert(request.method == "GET" || request.method == "HEAD" || request.method == "POST");
  const Clock::time_point deadline = Clock::now() + policy_.limits.total;
  const Status fields = check_fields(request);
  if (!fields) return fail(fields.error());
  Result<HttpUrl> url = parse_http_url(request.url);
  if (!url) return fail(url.error());
  const bool follows = request.method != "POST";
  for (int redirects = 0;; ++redirects) {
    const Status host = check_host(policy_, *url);
    if (!host) return fail(host.error());
    const HttpFields sent = wire_fields(request, *url);
    const WireRequest wire = {*url, request.method, &sent, request.body,
                              names_host(policy_.allow_hosts, *url, true)};
    BodyReader reader(policy_.limits.body_bytes, sink);
    Result<HttpResponse> answer = connection_->exchange(
        wire, policy_.limits, deadline,
        [&](const HttpResponse& head) {
          return reader.begin(head, !(follows && is_redirect(head.status)));
        },
        [&](std::string_view piece) { return reader.take(piece); });
    if (!answer) return fail_in(url->text(), answer.error());
    if (const Status whole = reader.finish(); !whole) return fail_in(url->text(), whole.error());
    answer->url = url->text();
    answer->redirects = redirects;
    if (!follows) return answer;
    Result<std::optional<HttpUrl>> next = next_place(*url, *answer);
    if (!next) return fail(next.error());
    if (!*next) return answer;
    if (redirects == policy_.limits.redirects) {
      return fail(
          ErrorKind::invalid, "REDIRECTS_TOO_MANY", request.url,
          "the answers redirect more than " + std::to_string(policy_.limits.redirects) + " times");
    }
    *url = std::move(**next);
  }
}

bool is_temporary(const Error& error) {
  static constexpr std::array<std::string_view, 5> kTemporary = {
      "NAME_NOT_RESOLVED", "CONNECT_FAILED", "CONNECTION_LOST", "TIMED_OUT", "BODY_TRUNCATED"};
  return std::ranges::find(kTemporary, error.code) != kTemporary.end();
}

}  // namespace kernelindex::tools
