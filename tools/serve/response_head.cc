// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/response_head.h"

#include <array>
#include <ctime>

namespace kernelindex::serve {
namespace {

// No script, style or image but our own, from nowhere else, in no frame.
constexpr std::string_view kSecurity =
    "Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n";
constexpr std::string_view kTransportSecurity = "Strict-Transport-Security: max-age=31536000\r\n";

std::string_view cache_control(CachePolicy policy) {
  switch (policy) {
    case CachePolicy::immutable:
      return "public, max-age=31536000, immutable";
    case CachePolicy::revalidate:
      return "public, no-cache";
    case CachePolicy::brief:
      return "public, max-age=2";
    case CachePolicy::no_store:
      break;
  }
  return "no-store";
}

void add_line(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

// What stands in the 200 and in the 304 alike.
std::string shared_lines(const Response& response, const HeadOptions& options) {
  std::string lines;
  add_line(lines, "Cache-Control", cache_control(response.cache));
  if (!response.etag.empty()) add_line(lines, "ETag", response.etag);
  add_line(lines, "Vary", "Accept");
  for (const Header& header : response.headers) add_line(lines, header.name, header.value);
  lines += kSecurity;
  if (options.tls) lines += kTransportSecurity;
  return lines;
}

std::string status_line(unsigned status) {
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(status_text(status)) + "\r\n";
}

}  // namespace

PreparedPointer prepare(Response response, const HeadOptions& options) {
  auto prepared = std::make_shared<Prepared>();
  prepared->status = response.status;
  const std::string shared = shared_lines(response, options);
  prepared->head = status_line(response.status);
  const bool bodiless = response.status == 304;
  if (!bodiless) {
    if (!response.content_type.empty()) {
      add_line(prepared->head, "Content-Type", response.content_type);
    }
    if (!response.source) {
      add_line(prepared->head, "Content-Length", std::to_string(response.body->size()));
    }
  }
  prepared->head += shared;
  if (response.status == 200 && !response.etag.empty()) {
    prepared->unchanged = status_line(304) + shared;
  }
  prepared->body = std::move(response.body);
  prepared->source = std::move(response.source);
  prepared->cacheable =
      response.status == 200 && !prepared->source && response.cache != CachePolicy::no_store;
  prepared->etag = std::move(response.etag);
  prepared->fault = std::move(response.fault);
  return prepared;
}

std::string http_date(std::int64_t seconds) {
  constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return std::string(kDays[static_cast<std::size_t>(parts.tm_wday)]) + ", " + two(parts.tm_mday) +
         " " + kMonths[static_cast<std::size_t>(parts.tm_mon)] + " " +
         std::to_string(1900 + parts.tm_year) + " " + two(parts.tm_hour) + ":" + two(parts.tm_min) +
         ":" + two(parts.tm_sec) + " GMT";
}

}  // namespace kernelindex::serve
