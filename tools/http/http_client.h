// SPDX-License-Identifier: Apache-2.0
// Fetching over HTTPS from hosts that were named before, within limits.
//
// HTTP/1.1 over TLS 1.2 or later; the chain is verified against the system's roots (and
// $SSL_CERT_FILE, as OpenSSL reads it), and the host name against the certificate. No request goes
// to a host that is not configured, redirects included, and none to an address outside the public
// internet (address_rules.h) unless its host is allowed by name. Proxies in the environment are not
// used.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/result.h"

namespace kernelindex::tools {

using HttpFields = std::vector<std::pair<std::string, std::string>>;  // name, value

struct HttpLimits {
  std::uint64_t body_bytes = 64ull << 20;  // of one answer, coded and decoded
  std::uint32_t header_bytes = 64u << 10;
  int redirects = 5;
  std::chrono::milliseconds connect{15'000};  // resolving, connecting and the TLS handshake
  std::chrono::milliseconds idle{30'000};     // between two pieces of an answer
  std::chrono::milliseconds total{300'000};   // one request with all its redirects
};

struct HttpPolicy {
  // The only hosts that are asked: "host" on the scheme's own port, or "host:port"; IPv6 addresses
  // in brackets. Redirects to others are refused.
  std::vector<std::string> hosts;
  // --allow-host: "host" on any port, or "host:port". These may lie at loopback, private,
  // link-local and reserved addresses, and may be asked without TLS. A host must stand in `hosts`
  // all the same.
  std::vector<std::string> allow_hosts;
  // Roots in PEM that are trusted beside the system's.
  std::optional<std::filesystem::path> trust_file;
  HttpLimits limits;
};

struct HttpRequest {
  std::string url;
  std::string method = "GET";  // GET, HEAD or POST; a POST follows no redirects
  HttpFields fields = {};      // beside Host, User-Agent, Accept-Encoding and Content-Length
  std::string body = {};       // of a POST
};

struct HttpResponse {
  int status = 0;     // as the server said it: 404 is an answer, not an Error
  HttpFields fields;  // names in lower case, in the order of the answer
  std::string body;   // decoded; empty when a sink took it
  std::string url;    // that gave the answer, after redirects
  int redirects = 0;  // how many were followed

  // The first value of a field, by its name in lower case; nullopt when there is none.
  std::optional<std::string_view> field(std::string_view name) const;
};

// Takes a decoded body piece by piece. The pieces live only during the call; an Error ends the
// request with it.
using HttpBodySink = std::function<Status(std::string_view)>;

class HttpConnection;

// Keeps one connection open between requests to the same host. Not for sharing between threads.
class HttpClient {
 public:
  // Error: system TRUST_FILE_UNREADABLE.
  static Result<HttpClient> create(HttpPolicy policy);
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // One request and its answer, the body in memory.
  //
  // Errors, the place being the URL. That nothing was sent: invalid URL_MALFORMED; refused
  // HOST_NOT_CONFIGURED, ADDRESS_REFUSED, TLS_REQUIRED. Temporary, worth another try (see
  // is_temporary): system NAME_NOT_RESOLVED, CONNECT_FAILED, CONNECTION_LOST, TIMED_OUT,
  // BODY_TRUNCATED. Final: system TLS_FAILED (the chain or the name is wrong); invalid
  // HTTP_MALFORMED, HEADER_TOO_LARGE, BODY_TOO_LARGE, CODING_UNKNOWN, CODING_BROKEN,
  // REDIRECT_MALFORMED, REDIRECTS_TOO_MANY.
  Result<HttpResponse> send(const HttpRequest& request);
  // The same, with the body of the final answer handed to `sink` and not kept. On an Error the sink
  // may have taken a part.
  Result<HttpResponse> send(const HttpRequest& request, const HttpBodySink& sink);

 private:
  explicit HttpClient(HttpPolicy policy, std::unique_ptr<HttpConnection> connection);

  HttpPolicy policy_;
  std::unique_ptr<HttpConnection> connection_;
};

// Whether another try may end better, by the error's code.
bool is_temporary(const Error& error);

}  // namespace kernelindex::tools
