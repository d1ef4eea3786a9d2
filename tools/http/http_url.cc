// SPDX-License-Identifier: Apache-2.0
#include "tools/http/http_url.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace kernelindex::tools {
namespace {

constexpr std::size_t kMaxUrlBytes = 8192;
constexpr std::size_t kMaxHostBytes = 253;  // RFC 1035 section 2.3.4, without the final dot

std::unexpected<Error> malformed(std::string_view url, std::string message) {
  return fail(ErrorKind::invalid, "URL_MALFORMED", std::string(url.substr(0, 200)),
              std::move(message));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_name(std::string_view host) {
  if (host.empty() || host.size() > kMaxHostBytes || host.front() == '.') return false;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const char c = host[i];
    if (c == '.' && i > 0 && host[i - 1] == '.') return false;
    if (!is_letter_or_digit(c) && c != '-' && c != '.' && c != '_') return false;
  }
  return true;
}

// The characters alone; whether they are an address is for the resolver to say.
bool is_ipv6_text(std::string_view host) {
  return host.size() >= 2 && host.size() <= 45 && host.find(':') != std::string_view::npos &&
         host.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
}

// "host", "host:port", "[address]:port" into `url`.
Status parse_authority(std::string_view whole, std::string_view authority, HttpUrl& url) {
  if (authority.find('@') != std::string_view::npos) {
    return malformed(authority.substr(authority.rfind('@')), "a URL with a user name is not sent");
  }
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos)
      return malformed(whole, "the address has no closing bracket");
    url.host = lower(authority.substr(1, end - 1));
    const std::string_view rest = authority.substr(end + 1);
    has_port = !rest.empty();
    if (has_port && rest.front() != ':') return malformed(whole, "text stands after the address");
    port = rest.substr(std::min<std::size_t>(1, rest.size()));
    if (!is_ipv6_text(url.host)) return malformed(whole, "the host is not an IPv6 address");
  } else {
    const std::size_t colon = authority.find(':');
    url.host = lower(authority.substr(0, colon));
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
    if (url.host.ends_with('.')) url.host.pop_back();  // "example.org." is the same name
    if (!is_name(url.host)) return malformed(whole, "the host is not a name in ASCII");
  }
  url.port = url.secure ? 443 : 80;
  if (!has_port || port.empty()) return {};
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535) {
    return malformed(whole, "the port is not a number from 1 to 65535");
  }
  url.port = static_cast<std::uint16_t>(number);
  return {};
}

// RFC 3986 section 5.2.4, on a path that begins with "/".
std::string without_dot_segments(std::string_view path) {
  std::vector<std::string_view> kept;
  bool folder = false;  // whether the path ends in "/"
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t to = std::min(path.find('/', from), path.size());
    const std::string_view segment = path.substr(from, to - from);
    const bool last = to == path.size();
    folder = last && (segment.empty() || segment == "." || segment == "..");
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (segment != "." && !(last && segment.empty())) {
      kept.push_back(segment);
    }
    from = to + 1;
  }
  std::string out;
  for (const std::string_view segment : kept) out.append("/").append(segment);
  if (folder || out.empty()) out += "/";
  return out;
}

// "scheme:" at the front, as RFC 3986 section 3.1 writes it; empty when there is none.
std::string_view scheme_of(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && (is_letter_or_digit(lower(text[i])) || text[i] == '+' ||
                             text[i] == '-' || text[i] == '.')) {
    ++i;
  }
  return i > 0 && i < text.size() && text[i] == ':' ? text.substr(0, i) : std::string_view();
}

Status check_bytes(std::string_view text) {
  if (text.size() > kMaxUrlBytes) return malformed(text, "the URL is longer than 8,192 bytes");
  for (const char c : text) {
    if (c <= ' ' || c > '~') return malformed("", "the URL has a byte outside printable ASCII");
    if (c == '\\') return malformed(text, "the URL has a backslash");
  }
  return {};
}

std::string_view without_fragment(std::string_view text) { return text.substr(0, text.find('#')); }

}  // namespace

std::string HttpUrl::authority() const {
  std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != (secure ? 443 : 80)) out += ":" + std::to_string(port);
  return out;
}

std::string HttpUrl::text() const {
  return (secure ? "https://" : "http://") + authority() + target;
}

Result<HttpUrl> parse_http_url(std::string_view text) {
  const Status bytes = check_bytes(text);
  if (!bytes) return fail(bytes.error());
  text = without_fragment(text);
  const std::string scheme = lower(scheme_of(text));
  if (scheme != "https" && scheme != "http") {
    return malformed(text, "the URL begins neither with https:// nor with http://");
  }
  HttpUrl url;
  url.secure = scheme == "https";
  std::string_view rest = text.substr(scheme.size() + 1);
  if (!rest.starts_with("//")) return malformed(text, "the URL has no // before its host");
  rest.remove_prefix(2);
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const Status authority = parse_authority(text, rest.substr(0, end), url);
  if (!authority) return fail(authority.error());
  url.target = std::string(rest.substr(end));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

Result<HttpUrl> resolve_http_url(const HttpUrl& base, std::string_view reference) {
  const Status bytes = check_bytes(reference);
  if (!bytes) return fail(bytes.error());
  reference = without_fragment(reference);
  if (!scheme_of(reference).empty()) return parse_http_url(reference);
  if (reference.starts_with("//")) {
    return parse_http_url((base.secure ? "https:" : "http:") + std::string(reference));
  }
  HttpUrl url = base;
  if (reference.empty()) return url;
  const std::string_view base_path = std::string_view(base.target).substr(0, base.target.find('?'));
  const std::size_t query = std::min(reference.find('?'), reference.size());
  std::string path(reference.substr(0, query));
  if (path.empty()) {
    url.target = std::string(base_path);
  } else {
    if (!path.starts_with('/')) {
      path.insert(0, base_path.substr(0, base_path.rfind('/') + 1));
    }
    url.target = without_dot_segments(path);
  }
  url.target += reference.substr(query);
  return url;
}

}  // namespace kernelindex::tools
