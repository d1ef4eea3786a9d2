// SPDX-License-Identifier: Apache-2.0
// One request over one connection, with TLS or without. Its source is the one door to Boost.
//
// What a host may be asked and how many redirects are followed is decided by http_client.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schema/result.h"
#include "tools/http/http_client.h"
#include "tools/http/http_url.h"

namespace kernelindex::tools {

struct WireRequest {
  HttpUrl url;
  std::string_view method;
  const HttpFields* fields = nullptr;  // all of them, Host included
  std::string_view body;
  bool any_address = false;  // connect to addresses outside the public internet too
};

class HttpConnection {
 public:
  using Clock = std::chrono::steady_clock;
  // Told the status line and the fields before the first piece of the body.
  using HeadSink = std::function<Status(const HttpResponse&)>;

  // Error: system TRUST_FILE_UNREADABLE.
  static Result<std::unique_ptr<HttpConnection>> create(
      const std::optional<std::filesystem::path>& trust_file);
  ~HttpConnection();

  // Sends the request, over the open connection when it goes to the same place, and reads the
  // answer. The pieces of the body are as they were sent, chunks joined, codings kept; at most
  // `limits.body_bytes` in all. The answer has neither url nor body. Errors as HttpClient::send.
  Result<HttpResponse> exchange(const WireRequest& request, const HttpLimits& limits,
                                Clock::time_point deadline, const HeadSink& head,
                                const HttpBodySink& body);

 private:
  struct State;
  explicit HttpConnection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelindex::tools
