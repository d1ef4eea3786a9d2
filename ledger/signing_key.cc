// SPDX-License-Identifier: Apache-2.0
#include "ledger/signing_key.h"

#include <sodium.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace kernelindex {
namespace {

static_assert(kPublicKeyBytes == crypto_sign_PUBLICKEYBYTES);
static_assert(kSeedBytes == crypto_sign_SEEDBYTES);
static_assert(kSignatureBytes == crypto_sign_BYTES);
static_assert(kSaltBytes == crypto_pwhash_argon2id_SALTBYTES);
static_assert(kNonceBytes == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
static_assert(kSealBytes == crypto_aead_xchacha20poly1305_ietf_ABYTES);

constexpr std::uint64_t kMostPasses = 16;
constexpr std::uint64_t kLeastMemoryBytes = crypto_pwhash_argon2id_MEMLIMIT_MIN;
constexpr std::uint64_t kMostMemoryBytes = 1024ull * 1024 * 1024;
constexpr char kKeyIdType[] = {0x01};  // Ed25519, as in signed notes

// libsodium fails to start, or to find memory for a key, only where nothing can go on.
void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "kernelindex: libsodium: %s\n", what);
  std::abort();
}

void start_sodium() {
  static const bool started = sodium_init() >= 0;
  require(started, "cannot start");
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(SecretBytes& secret) {
  return reinterpret_cast<unsigned char*>(secret.data());
}
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

// ---- PublicKey
// -------------------------------------------------------------------------------------

Result<PublicKey> PublicKey::from_raw(std::string_view raw) {
  start_sodium();
  // A key of small order would "verify" signatures that nobody made.
  if (raw.size() != kPublicKeyBytes || crypto_core_ed25519_is_valid_point(bytes_of(raw)) != 1) {
    return fail(ErrorKind::invalid, "BAD_PUBLIC_KEY", {},
                "this is not an Ed25519 public key (32 bytes, a canonical point of large order)");
  }
  PublicKey key;
  std::memcpy(key.bytes_.data(), raw.data(), raw.size());
  return key;
}

Result<PublicKey> PublicKey::parse(std::string_view base64) {
  // 44 characters hold 32 bytes: nothing longer is decoded.
  const std::optional<std::string> raw = base64.size() == 44 ? from_base64(base64) : std::nullopt;
  if (!raw) {
    return fail(ErrorKind::invalid, "BAD_PUBLIC_KEY", {},
                "a public key is written as the canonical base64 of 32 bytes");
  }
  return from_raw(*raw);
}

Digest PublicKey::id() const { return sha256({std::string_view(kKeyIdType, 1), raw()}); }

// ---- SecretBytes
// -----------------------------------------------------------------------------------

SecretBytes::SecretBytes(std::size_t size) : size_(size) {
  start_sodium();
  data_ = static_cast<char*>(sodium_malloc(size));
  require(data_ != nullptr, "no memory for a secret");
  std::memset(data_, 0, size);
}

SecretBytes::SecretBytes(std::string_view copied) : SecretBytes(copied.size()) {
  if (!copied.empty()) std::memcpy(data_, copied.data(), copied.size());
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SecretBytes::~SecretBytes() { sodium_free(data_); }  // wipes; null is fine

// ---- SigningKey
// ------------------------------------------------------------------------------------

SigningKey SigningKey::generate() {
  SecretBytes seed(kSeedBytes);
  randombytes_buf(seed.data(), seed.size());
  Result<SigningKey> key = from_seed(seed.view());
  assert(key.has_value());
  return std::move(*key);
}

Result<SigningKey> SigningKey::from_seed(std::string_view seed) {
  start_sodium();
  if (seed.size() != kSeedBytes) {
    return fail(ErrorKind::invalid, "BAD_SEED", {}, "the seed of a private key has 32 bytes");
  }
  SigningKey key;
  key.secret_ = SecretBytes(std::size_t{crypto_sign_SECRETKEYBYTES});
  std::string public_bytes(kPublicKeyBytes, '\0');
  const int made =
      crypto_sign_seed_keypair(bytes_of(public_bytes), bytes_of(key.secret_), bytes_of(seed));
  require(made == 0, "cannot derive a key");
  Result<PublicKey> public_key = PublicKey::from_raw(public_bytes);
  assert(public_key.has_value());
  key.public_key_ = *public_key;
  return key;
}

std::string SigningKey::sign(std::string_view message) const {
  std::string signature(kSignatureBytes, '\0');
  const int signed_ok = crypto_sign_detached(bytes_of(signature), nullptr, bytes_of(message),
                                             message.size(), bytes_of(secret_.view()));
  require(signed_ok == 0, "cannot sign");
  return signature;
}

SecretBytes SigningKey::seed() const { return SecretBytes(secret_.view().substr(0, kSeedBytes)); }

bool verify_signature(const PublicKey& key, std::string_view message, std::string_view signature) {
  start_sodium();
  return signature.size() == kSignatureBytes &&
         crypto_sign_verify_detached(bytes_of(signature), bytes_of(message), message.size(),
                                     bytes_of(key.raw())) == 0;
}

// ---- Random bytes, wiping, base64
// ------------------------------------------------------------------

std::string random_bytes(std::size_t count) {
  start_sodium();
  std::string out(count, '\0');
  randombytes_buf(out.data(), out.size());
  return out;
}

void wipe(char* data, std::size_t size) { sodium_memzero(data, size); }

SecretBytes secret_to_base64(std::string_view secret) {
  constexpr int kVariant = sodium_base64_VARIANT_ORIGINAL;
  SecretBytes with_nul(sodium_base64_encoded_len(secret.size(), kVariant));
  sodium_bin2base64(with_nul.data(), with_nul.size(), bytes_of(secret), secret.size(), kVariant);
  return SecretBytes(with_nul.view().substr(0, with_nul.size() - 1));
}

std::optional<SecretBytes> secret_from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  SecretBytes decoded(text.size() / 4 * 3);
  std::size_t size = 0;
  const char* end = nullptr;
  // With a null `ignore` every character must count; the end must be that of the text.
  if (sodium_base642bin(bytes_of(decoded), decoded.size(), text.data(), text.size(), nullptr, &size,
                        &end, sodium_base64_VARIANT_ORIGINAL) != 0 ||
      end != text.data() + text.size()) {
    return std::nullopt;
  }
  SecretBytes secret(decoded.view().substr(0, size));
  if (secret_to_base64(secret.view()).view() != text) return std::nullopt;  // one spelling
  return secret;
}

// ---- Secrets sealed by a passphrase
// ----------------------------------------------------------------

Result<SecretBytes> derive_key(std::string_view passphrase, std::string_view salt,
                               const PassphraseCost& cost) {
  if (cost.passes < 1 || cost.passes > kMostPasses || cost.memory_bytes < kLeastMemoryBytes ||
      cost.memory_bytes > kMostMemoryBytes) {
    return fail(ErrorKind::invalid, "BAD_COST", {},
                "Argon2id takes 1 to 16 passes and 8 KiB to 1 GiB of memory here");
  }
  if (salt.size() != kSaltBytes) {
    return fail(ErrorKind::invalid, "BAD_SALT", {}, "a salt has 16 bytes");
  }
  SecretBytes key(std::size_t{crypto_aead_xchacha20poly1305_ietf_KEYBYTES});
  if (crypto_pwhash_argon2id(bytes_of(key), key.size(), passphrase.data(), passphrase.size(),
                             bytes_of(salt), cost.passes, cost.memory_bytes,
                             crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0) {
    return fail(ErrorKind::system, "NO_MEMORY", {},
                "there is no memory to turn the passphrase into a key",
                "It needs " + std::to_string(cost.memory_bytes) + " bytes");
  }
  return key;
}

std::string seal(std::string_view secret, std::string_view context, std::string_view nonce,
                 const SecretBytes& key) {
  start_sodium();
  assert(nonce.size() == kNonceBytes);
  assert(key.size() == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
  std::string box(secret.size() + kSealBytes, '\0');
  const int sealed = crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytes_of(box), nullptr, bytes_of(secret), secret.size(), bytes_of(context), context.size(),
      nullptr, bytes_of(nonce), bytes_of(key.view()));
  require(sealed == 0, "cannot encrypt");
  return box;
}

std::optional<SecretBytes> unseal(std::string_view box, std::string_view context,
                                  std::string_view nonce, const SecretBytes& key) {
  start_sodium();
  assert(key.size() == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
  if (nonce.size() != kNonceBytes || box.size() < kSealBytes) return std::nullopt;
  SecretBytes secret(box.size() - kSealBytes);
  if (crypto_aead_xchacha20poly1305_ietf_decrypt(bytes_of(secret), nullptr, nullptr, bytes_of(box),
                                                 box.size(), bytes_of(context), context.size(),
                                                 bytes_of(nonce), bytes_of(key.view())) != 0) {
    return std::nullopt;
  }
  return secret;
}

}  // namespace kernelindex
