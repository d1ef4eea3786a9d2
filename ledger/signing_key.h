// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys and signatures, secret memory, random bytes and sealed secrets: the only door to
// libsodium.
//
// libsodium's verifier is this ledger's definition of a valid signature. It refuses small-order and
// non-canonical points and S >= L, where OpenSSL accepts some of them; so nothing else may verify
// (FORMATS section 8). There is no batch verification: many single ones give the same verdicts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kPublicKeyBytes = 32;
inline constexpr std::size_t kSeedBytes = 32;
inline constexpr std::size_t kSignatureBytes = 64;

// A point that can be a public key. Default: all zero, which verifies nothing.
class PublicKey {
 public:
  PublicKey() = default;
  // 32 bytes, canonical, not of small order, in the main subgroup. Error BAD_PUBLIC_KEY.
  static Result<PublicKey> from_raw(std::string_view raw);
  // The canonical base64 of them.
  static Result<PublicKey> parse(std::string_view base64);

  std::string_view raw() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  std::string base64() const { return to_base64(raw()); }
  // The key id: SHA-256(0x01 || key). Its text in documents is `id().hex()`, 64 hex digits.
  Digest id() const;

  auto operator<=>(const PublicKey&) const = default;

 private:
  std::array<std::uint8_t, kPublicKeyBytes> bytes_{};
};

// Bytes that are locked in memory where the system allows it and wiped when they go. Move-only.
class SecretBytes {
 public:
  SecretBytes() = default;
  explicit SecretBytes(std::size_t size);         // zeros
  explicit SecretBytes(std::string_view copied);  // the caller wipes its own copy
  SecretBytes(SecretBytes&& other) noexcept;
  SecretBytes& operator=(SecretBytes&& other) noexcept;
  ~SecretBytes();

  char* data() { return data_; }
  std::size_t size() const { return size_; }
  // Lives as long as this object.
  std::string_view view() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

// A private key. Move-only; never printed, logged or recorded.
class SigningKey {
 public:
  static SigningKey generate();
  // Error BAD_SEED unless 32 bytes.
  static Result<SigningKey> from_seed(std::string_view seed);

  const PublicKey& public_key() const { return public_key_; }
  // The 64 signature bytes; deterministic (RFC 8032).
  std::string sign(std::string_view message) const;
  // For writing key files.
  SecretBytes seed() const;

 private:
  SigningKey() = default;

  SecretBytes secret_;  // libsodium's form: seed || public key
  PublicKey public_key_;
};

// Whether `signature` is a valid signature of `message`. False for any length but 64.
[[nodiscard]] bool verify_signature(const PublicKey& key, std::string_view message,
                                    std::string_view signature);

std::string random_bytes(std::size_t count);
// Overwrites memory in a way that the compiler may not remove.
void wipe(char* data, std::size_t size);
inline void wipe(std::string& text) { wipe(text.data(), text.size()); }

// Base64 of secrets, in constant time and without copies left behind. Decoding is canonical.
SecretBytes secret_to_base64(std::string_view secret);
std::optional<SecretBytes> secret_from_base64(std::string_view text);

// ---- Secrets sealed by a passphrase
// ----------------------------------------------------------------

inline constexpr std::size_t kSaltBytes = 16;
inline constexpr std::size_t kNonceBytes = 24;
inline constexpr std::size_t kSealBytes = 16;  // added to the plain text

// The cost of turning a passphrase into a key: Argon2id, version 1.3.
struct PassphraseCost {
  std::uint64_t passes = 3;  // libsodium's "moderate"
  std::uint64_t memory_bytes = 256ull * 1024 * 1024;
};

// Errors: BAD_COST beyond 1..16 passes and 8 KiB..1 GiB (before any work), BAD_SALT unless 16
// bytes, NO_MEMORY (kind system).
Result<SecretBytes> derive_key(std::string_view passphrase, std::string_view salt,
                               const PassphraseCost& cost);
// XChaCha20-Poly1305 (IETF) of `secret`; `context` is authenticated too. Requires: a key from
// derive_key() and a nonce of 24 bytes that was never used with it.
std::string seal(std::string_view secret, std::string_view context, std::string_view nonce,
                 const SecretBytes& key);
// The secret, or nothing: wrong key, or a changed box or context.
std::optional<SecretBytes> unseal(std::string_view box, std::string_view context,
                                  std::string_view nonce, const SecretBytes& key);

}  // namespace kernelindex
