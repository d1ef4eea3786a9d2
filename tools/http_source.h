// SPDX-License-Identifier: Apache-2.0
// The files of a log on a web server: ledger/resource_source.h over tools/http.
#pragma once

#include <string>
#include <vector>

#include "ledger/resource_source.h"
#include "tools/http/http_client.h"

namespace kernelindex::tools {

// One answer is held in memory; larger objects than this cannot be fetched.
inline constexpr std::uint64_t kHttpResourceBytes = 256ull << 20;

class HttpSource final : public ResourceSource {
 public:
  // `prefix`: the URL of the log, with or without a slash at its end. Only its host is asked.
  // `allow_hosts` as in HttpPolicy. Errors: URL_MALFORMED (invalid), those of HttpClient::create().
  static Result<HttpSource> open(std::string prefix, std::vector<std::string> allow_hosts);

  // 404 and 410 are absence; any other status but 200 is the error HTTP_STATUS (system). What fails
  // for a moment is tried three times. Other errors: those of HttpClient::send(),
  // RESOURCE_TOO_LARGE.
  Result<bool> stream(const std::string& path, std::uint64_t limit, const ByteSink& piece) override;

 private:
  HttpSource(std::string prefix, HttpClient client)
      : prefix_(std::move(prefix)), client_(std::move(client)) {}

  std::string prefix_;  // with its slash
  HttpClient client_;
};

}  // namespace kernelindex::tools
