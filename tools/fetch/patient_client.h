// SPDX-License-Identifier: Apache-2.0
// Asking a server as a guest should: a pause between requests, and patience when it fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "schema/result.h"
#include "schema/utc_time.h"
#include "tools/http/http_client.h"

namespace kernelindex::tools {

struct Patience {
  std::chrono::milliseconds pause{500};          // between the end of a request and the next
  int tries = 6;                                 // of one request, the first included
  std::chrono::milliseconds first_delay{1'000};  // before the second try; doubles with each
  std::chrono::milliseconds longest_delay{60'000};
  std::chrono::milliseconds longest_asked{300'000};  // that a Retry-After may ask for
};

// What is taken from the world, so that tests need not wait and need no luck.
struct Surroundings {
  std::function<Result<HttpResponse>(const HttpRequest&)> send;
  std::function<void(std::chrono::milliseconds)> sleep;
  std::function<UtcMicros()> now;
  std::function<std::uint64_t()> random;  // any 64 bits
};

// The wait before another try after `failures` of them (1, 2, ...): half of the doubled delay is
// sure, half is chance, so that many clients do not come back in step.
std::chrono::milliseconds backoff(const Patience& patience, int failures, std::uint64_t random);

// What a Retry-After field asks for (RFC 9110 section 10.2.3): seconds, or an HTTP date. Nothing
// when it is neither; 0 for a date that is past.
std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text, UtcMicros now);

class PatientClient {
 public:
  PatientClient(Surroundings surroundings, Patience patience)
      : world_(std::move(surroundings)), patience_(patience) {}

  // Tries again after errors that is_temporary() and the statuses 408, 429, 500, 502, 503 and 504.
  // Any other answer is the answer. Errors: those of HttpClient::send, the last one met; system
  // SERVER_FAILS when the last try was answered with one of the statuses, or asked for a longer
  // wait than is given.
  Result<HttpResponse> send(const HttpRequest& request);

  // Requests that were sent, tries included.
  std::uint64_t requests() const { return requests_; }

 private:
  Surroundings world_;
  Patience patience_;
  std::uint64_t requests_ = 0;
};

}  // namespace kernelindex::tools
