// SPDX-License-Identifier: Apache-2.0
#include "schema/digest.h"

#include <openssl/evp.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kernelindex {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr char kHexDigits[] = "0123456789abcdef";
constexpr char kBase64Digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoBase64Digit = 0x80;
// The value of each character; no digit has the bit of kNoBase64Digit.
constexpr std::array<std::uint8_t, 256> kBase64Values = [] {
  std::array<std::uint8_t, 256> values;
  values.fill(kNoBase64Digit);
  for (std::uint8_t value = 0; value < 64; ++value) {
    values[static_cast<std::uint8_t>(kBase64Digits[value])] = value;
  }
  return values;
}();

// OpenSSL only fails here when memory is gone or its providers are broken; neither can be answered.
void require(int ok) {
  if (ok != 1) {
    std::fputs("kernelindex: OpenSSL SHA-256 is not usable\n", stderr);
    std::abort();
  }
}

// Fetched once: an implicit fetch in every EVP_DigestInit costs more than hashing a small document.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  require(algorithm != nullptr ? 1 : 0);
  return algorithm;
}

void encode_hex(std::string_view bytes, char* out) {
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    *out++ = kHexDigits[byte >> 4];
    *out++ = kHexDigits[byte & 15];
  }
}

// The value of each byte as a lower-case hex digit, 0x80 for all that are none.
constexpr std::array<std::uint8_t, 256> kHexValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(0x80);
  for (std::uint8_t i = 0; i < 16; ++i) values[static_cast<std::uint8_t>(kHexDigits[i])] = i;
  return values;
}();

// Decodes twice `count` digits. False when one of them is none.
bool decode_hex(const char* digits, std::size_t count, std::uint8_t* out) {
  std::uint8_t faults = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t high = kHexValues[static_cast<std::uint8_t>(digits[2 * i])];
    const std::uint8_t low = kHexValues[static_cast<std::uint8_t>(digits[2 * i + 1])];
    faults = static_cast<std::uint8_t>(faults | high | low);
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return (faults & 0x80) == 0;
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* handle = EVP_MD_CTX_new();
  Context() { start(); }
  ~Context() { EVP_MD_CTX_free(handle); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  void start() { require(EVP_DigestInit_ex2(handle, sha256_algorithm(), nullptr)); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view data) {
  require(EVP_DigestUpdate(context_->handle, data.data(), data.size()));
  return *this;
}

Digest Sha256::finish() {
  Digest digest;
  unsigned length = 0;
  require(EVP_DigestFinal_ex(context_->handle, digest.bytes.data(), &length));
  assert(length == digest.bytes.size());
  context_->start();
  return digest;
}

Digest sha256(std::string_view data) { return sha256({data}); }

Digest sha256(std::initializer_list<std::string_view> pieces) {
  thread_local Sha256 hasher;
  for (const std::string_view piece : pieces) hasher.update(piece);
  return hasher.finish();
}

std::string to_hex(std::string_view bytes) {
  std::string out(bytes.size() * 2, '\0');
  encode_hex(bytes, out.data());
  return out;
}

std::optional<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string out(hex.size() / 2, '\0');
  if (!decode_hex(hex.data(), out.size(), reinterpret_cast<std::uint8_t*>(out.data()))) {
    return std::nullopt;
  }
  return out;
}

std::string to_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* to = out.data();
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const std::uint32_t group = std::uint32_t{byte(i)} << 16 | byte(i + 1) << 8 | byte(i + 2);
    *to++ = kBase64Digits[group >> 18];
    *to++ = kBase64Digits[group >> 12 & 63];
    *to++ = kBase64Digits[group >> 6 & 63];
    *to++ = kBase64Digits[group & 63];
  }
  if (i == bytes.size()) return out;
  const bool two = i + 2 == bytes.size();
  const std::uint32_t group = std::uint32_t{byte(i)} << 16 | (two ? byte(i + 1) << 8 : 0);
  *to++ = kBase64Digits[group >> 18];
  *to++ = kBase64Digits[group >> 12 & 63];
  if (two) *to++ = kBase64Digits[group >> 6 & 63];
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.empty()) return std::string();
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const auto digit = [&](std::size_t i) -> std::uint32_t {
    return kBase64Values[static_cast<std::uint8_t>(text[i])];
  };
  std::string out(text.size() / 4 * 3 - padding, '\0');
  char* to = out.data();
  std::uint32_t all = 0;  // one bit above the six when a character is no digit
  std::size_t i = 0;
  for (const std::size_t whole = text.size() - (padding != 0 ? 4 : 0); i < whole; i += 4) {
    const std::uint32_t a = digit(i), b = digit(i + 1), c = digit(i + 2), d = digit(i + 3);
    all |= a | b | c | d;
    const std::uint32_t group = a << 18 | b << 12 | c << 6 | d;
    *to++ = static_cast<char>(group >> 16 & 255);
    *to++ = static_cast<char>(group >> 8 & 255);
    *to++ = static_cast<char>(group & 255);
  }
  if (padding != 0) {
    const std::uint32_t a = digit(i), b = digit(i + 1), c = padding == 1 ? digit(i + 2) : 0;
    all |= a | b | c;
    const std::uint32_t group = a << 18 | b << 12 | c << 6;
    // Bits after the last byte must be zero (RFC 4648 section 3.5): one spelling for each value.
    if ((group & (padding == 2 ? 0xffffu : 0xffu)) != 0) return std::nullopt;
    *to++ = static_cast<char>(group >> 16 & 255);
    if (padding == 1) *to++ = static_cast<char>(group >> 8 & 255);
  }
  if ((all & kNoBase64Digit) != 0) return std::nullopt;
  return out;
}

std::string Digest::hex() const { return to_hex(raw()); }

std::string Digest::text() const {
  std::string out;
  append_text(out);
  return out;
}

void Digest::append_text(std::string& out) const {
  std::array<char, kPrefix.size() + 2 * std::tuple_size_v<decltype(bytes)>> text;
  kPrefix.copy(text.data(), kPrefix.size());
  encode_hex(raw(), text.data() + kPrefix.size());
  out.append(text.data(), text.size());
}

Digest Digest::from_raw(std::string_view raw) {
  Digest digest;
  assert(raw.size() == digest.bytes.size());
  std::memcpy(digest.bytes.data(), raw.data(), digest.bytes.size());
  return digest;
}

Result<Digest> Digest::parse_hex(std::string_view hex) {
  Digest digest;
  if (hex.size() == 2 * digest.bytes.size() &&
      decode_hex(hex.data(), digest.bytes.size(), digest.bytes.data())) {
    return digest;
  }
  return fail(ErrorKind::invalid, "BAD_DIGEST", {}, "a SHA-256 digest is 64 lower-case hex digits");
}

Result<Digest> Digest::parse(std::string_view text) {
  if (!text.starts_with(kPrefix)) {
    return fail(ErrorKind::invalid, "BAD_DIGEST", {},
                "a digest is written sha256: and 64 lower-case hex digits");
  }
  return parse_hex(text.substr(kPrefix.size()));
}

}  // namespace kernelindex
