// SPDX-License-Identifier: Apache-2.0
#include "tools/http_source.h"

#include <chrono>
#include <thread>

#include "tools/http/http_url.h"

namespace kernelindex::tools {
namespace {

constexpr int kTries = 3;
constexpr std::chrono::milliseconds kPause{300};

}  // namespace

Result<HttpSource> HttpSource::open(std::string prefix, std::vector<std::string> allow_hosts) {
  while (prefix.ends_with('/')) prefix.pop_back();
  const Result<HttpUrl> url = parse_http_url(prefix);
  if (!url) return fail(url.error());
  HttpPolicy policy;
  policy.hosts = {url->authority()};
  policy.allow_hosts = std::move(allow_hosts);
  policy.limits.body_bytes = kHttpResourceBytes;
  Result<HttpClient> client = HttpClient::create(std::move(policy));
  if (!client) return fail(client.error());
  return HttpSource(prefix + "/", std::move(*client));
}

Result<bool> HttpSource::stream(const std::string& path, std::uint64_t limit,
                                const ByteSink& piece) {
  const HttpRequest request{.url = prefix_ + path};
  Result<HttpResponse> answer = client_.send(request);
  for (int tries = 1; !answer && is_temporary(answer.error()) && tries < kTries; ++tries) {
    std::this_thread::sleep_for(tries * kPause);
    answer = client_.send(request);
  }
  if (!answer) return fail(answer.error());
  if (answer->status == 404 || answer->status == 410) return false;
  if (answer->status != 200) {
    return fail(ErrorKind::system, "HTTP_STATUS", request.url,
                "the server answers " + std::to_string(answer->status), "Try again later");
  }
  if (answer->body.size() > limit) {
    return fail(ErrorKind::invalid, "RESOURCE_TOO_LARGE", request.url,
                "has more than " + std::to_string(limit) + " bytes");
  }
  if (Status taken = piece(answer->body); !taken) return fail(taken.error());
  return true;
}

}  // namespace kernelindex::tools
