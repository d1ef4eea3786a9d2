// SPDX-License-Identifier: Apache-2.0
#include "tools/fetch/patient_client.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kernelindex::tools {
namespace {

using std::chrono::milliseconds;

bool may_pass(int status) {
  static constexpr std::array kPassing = {408, 429, 500, 502, 503, 504};
  return std::ranges::find(kPassing, status) != kPassing.end();
}

std::optional<unsigned> number(std::string_view text) {
  unsigned out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that may still be sent (RFC 9110 section 5.6.7).
std::optional<UtcMicros> parse_http_date(std::string_view text) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || text.substr(3, 2) != ", " || !text.ends_with(" GMT")) {
    return std::nullopt;
  }
  const std::size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const std::string two = std::to_string(month / 3 + 1);
  const std::string instant = std::string(text.substr(12, 4)) + "-" + (two.size() == 1 ? "0" : "") +
                              two + "-" + std::string(text.substr(5, 2)) + "T" +
                              std::string(text.substr(17, 8)) + "Z";
  const Result<UtcMicros> time = parse_utc_instant(instant);
  return time ? std::optional(*time) : std::nullopt;
}

}  // namespace

milliseconds backoff(const Patience& patience, int failures, std::uint64_t random) {
  milliseconds delay = patience.first_delay;
  for (int i = 1; i < failures && delay < patience.longest_delay; ++i) delay *= 2;
  delay = std::min(delay, patience.longest_delay);
  const auto half = static_cast<std::uint64_t>(delay.count()) / 2;
  return delay - milliseconds(half) + milliseconds(random % (half + 1));
}

std::optional<milliseconds> parse_retry_after(std::string_view text, UtcMicros now) {
  if (const std::optional<unsigned> seconds = number(text)) {
    return milliseconds(std::int64_t{*seconds} * 1000);
  }
  const std::optional<UtcMicros> date = parse_http_date(text);
  if (!date) return std::nullopt;
  return milliseconds(std::max<std::int64_t>(0, (*date - now + 999) / 1000));
}

Result<HttpResponse> PatientClient::send(const HttpRequest& request) {
  for (int tries = 1;; ++tries) {
    if (requests_ > 0) world_.sleep(patience_.pause);
    ++requests_;
    Result<HttpResponse> answer = world_.send(request);
    const bool failed = answer ? may_pass(answer->status) : is_temporary(answer.error());
    if (!failed) return answer;
    milliseconds wait = backoff(patience_, tries, world_.random());
    if (answer) {
      const auto field = answer->field("retry-after");
      const auto asked = field ? parse_retry_after(*field, world_.now()) : std::nullopt;
      if (tries == patience_.tries || (asked && *asked > patience_.longest_asked)) {
        return fail(ErrorKind::system, "SERVER_FAILS", request.url,
                    "the server answers with status " + std::to_string(answer->status) +
                        (field ? ", and to come back after " + std::string(*field) : ""),
                    "Try again later; what was fetched is kept");
      }
      wait = std::max(wait, asked.value_or(milliseconds(0)));
    } else if (tries == patience_.tries) {
      return answer;
    }
    world_.sleep(wait);
  }
}

}  // namespace kernelindex::tools
