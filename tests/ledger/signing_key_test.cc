// SPDX-License-Identifier: Apache-2.0
#include "ledger/signing_key.h"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

static_assert(!std::is_copy_constructible_v<SigningKey>);
static_assert(!std::is_copy_assignable_v<SigningKey>);
static_assert(!std::is_copy_constructible_v<SecretBytes>);

std::string bytes(std::string_view hex) { return from_hex(hex).value(); }

// RFC 8032 section 7.1, tests 1 to 3.
TEST(SigningKey, KnownAnswers) {
  const struct {
    const char* seed;
    const char* public_key;
    const char* message;
    const char* signature;
  } rows[] = {
      {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
       "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
       "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf"
       "9b4"
       "6bd25bf5f0595bbe24655141438e7a100b"},
      {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
       "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
       "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f"
       "11d"
       "8c387b2eaeb4302aeeb00d291612bb0c00"},
      {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
       "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
       "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984"
       "dc6"
       "594a7c15e9716ed28dc027beceea1ec40a"},
  };
  for (const auto& row : rows) {
    const SigningKey key = SigningKey::from_seed(bytes(row.seed)).value();
    EXPECT_EQ(to_hex(key.public_key().raw()), row.public_key);
    EXPECT_EQ(to_hex(key.sign(bytes(row.message))), row.signature);
    EXPECT_EQ(to_hex(key.seed().view()), row.seed);
    EXPECT_TRUE(verify_signature(key.public_key(), bytes(row.message), bytes(row.signature)));
    EXPECT_EQ(key.public_key().id(), sha256(std::string(1, '\1') + bytes(row.public_key)));
    EXPECT_EQ(PublicKey::parse(key.public_key().base64()).value(), key.public_key());
  }
}

TEST(SigningKey, EveryFlippedBitIsRefused) {
  const SigningKey key = SigningKey::generate();
  const std::string message = "the number is 24.2 microseconds";
  const std::string signature = key.sign(message);
  ASSERT_TRUE(verify_signature(key.public_key(), message, signature));
  for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
    std::string changed = signature;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verify_signature(key.public_key(), message, changed)) << bit;
  }
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    std::string changed = message;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(verify_signature(key.public_key(), changed, signature)) << bit;
  }
  for (const std::size_t size : {0u, 63u, 65u, 128u}) {
    std::string resized = signature;
    resized.resize(size);
    EXPECT_FALSE(verify_signature(key.public_key(), message, resized));
  }
  EXPECT_FALSE(verify_signature(PublicKey(), message, signature));
  EXPECT_FALSE(verify_signature(SigningKey::generate().public_key(), message, signature));
}

// The verdict of libsodium is the ledger's; keys that it would verify under but that nobody can own
// are refused before.
TEST(SigningKey, EdgeCasesHaveTheVerdictOfLibsodium) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("ed25519/cctv_edge_cases.json");
  std::size_t accepted = 0, refused_keys = 0;
  for (const json::Value& item : vectors.cases("cases")) {
    const Result<PublicKey> key = PublicKey::from_raw(bytes(item.text("key")));
    const bool verdict = key && verify_signature(*key, item.text("msg"), bytes(item.text("sig")));
    accepted += verdict;
    refused_keys += !key;
    // A key that is no valid point is never more lenient than libsodium's verifier.
    if (key) {
      EXPECT_EQ(verdict, item.find("libsodium")->boolean()) << item.find("n")->number();
    }
  }
  EXPECT_EQ(vectors.cases("cases").size(), 914u);
  EXPECT_GT(accepted, 0u);
  EXPECT_LE(accepted, 43u);
  EXPECT_GT(refused_keys, 0u);
}

TEST(PublicKey, PointsThatNobodyOwnsAreRefused) {
  const char* small_order[] = {"0000000000000000000000000000000000000000000000000000000000000000",
                               "0100000000000000000000000000000000000000000000000000000000000000",
                               "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                               "0000000000000000000000000000000000000000000000000000000000000080",
                               "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
                               "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
                               "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
                               "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
                               // Not canonical: p, p + 1.
                               "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                               "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                               // Not on the curve.
                               "0200000000000000000000000000000000000000000000000000000000000000"};
  for (const char* hex : small_order) {
    EXPECT_EQ(PublicKey::from_raw(bytes(hex)).error().code, "BAD_PUBLIC_KEY") << hex;
  }
  EXPECT_FALSE(PublicKey::from_raw("short").has_value());
  const std::string base64 = SigningKey::generate().public_key().base64();
  EXPECT_FALSE(PublicKey::parse(base64 + "=").has_value());
  EXPECT_FALSE(PublicKey::parse(base64.substr(0, 43)).has_value());
  EXPECT_FALSE(PublicKey::parse("").has_value());
}

TEST(SigningKey, KeysAndRandomBytesDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 50; ++i) {
    seen.insert(std::string(SigningKey::generate().public_key().raw()));
    seen.insert(random_bytes(16));
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(random_bytes(0), "");
  EXPECT_EQ(SigningKey::from_seed("short").error().code, "BAD_SEED");
}

TEST(SecretBytes, MoveAndWipe) {
  SecretBytes secret{std::string_view("secret")};
  SecretBytes moved = std::move(secret);
  EXPECT_EQ(moved.view(), "secret");
  EXPECT_EQ(secret.size(), 0u);  // NOLINT: a moved-from secret is empty
  secret = std::move(moved);
  EXPECT_EQ(secret.view(), "secret");
  EXPECT_EQ(SecretBytes(std::size_t{3}).view(), std::string(3, '\0'));
  EXPECT_EQ(SecretBytes(std::string_view()).size(), 0u);
  std::string text = "secret";
  wipe(text);
  EXPECT_EQ(text, std::string(6, '\0'));
}

TEST(SecretBytes, Base64IsCanonical) {
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string plain = random_bytes(size);
    EXPECT_EQ(secret_to_base64(plain).view(), to_base64(plain));
    EXPECT_EQ(secret_from_base64(to_base64(plain)).value().view(), plain);
  }
  for (const char* text : {"A", "AA", "AAA", "AA=A", "AB==", "AAB=", "AA==\n",
                           " AA==", "AA=", "A===", "AA--", "AAAAA"}) {
    EXPECT_FALSE(secret_from_base64(text).has_value()) << text;
  }
}

TEST(Seal, OpensOnlyWithEverythingUnchanged) {
  const PassphraseCost cheap{1, 8192};
  const std::string salt = random_bytes(kSaltBytes), nonce = random_bytes(kNonceBytes);
  const SecretBytes key = derive_key("correct horse", salt, cheap).value();
  const std::string box = seal("secret", "context", nonce, key);
  EXPECT_EQ(box.size(), 6 + kSealBytes);
  EXPECT_EQ(unseal(box, "context", nonce, key).value().view(), "secret");
  for (std::size_t i = 0; i < box.size(); ++i) {
    std::string changed = box;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(unseal(changed, "context", nonce, key).has_value());
  }
  EXPECT_FALSE(unseal(box, "contexT", nonce, key).has_value());
  EXPECT_FALSE(unseal(box, "context", random_bytes(kNonceBytes), key).has_value());
  EXPECT_FALSE(unseal(box, "context", "short", key).has_value());
  EXPECT_FALSE(unseal("short", "context", nonce, key).has_value());
  EXPECT_FALSE(unseal(box, "context", nonce, derive_key("horse", salt, cheap).value()).has_value());
  EXPECT_EQ(derive_key("correct horse", salt, cheap).value().view(), key.view());
}

TEST(Seal, CostIsBoundedBeforeAnyWork) {
  const std::string salt = random_bytes(kSaltBytes);
  const PassphraseCost bad[] = {{0, 8192},
                                {17, 8192},
                                {1, 8191},
                                {1, 0},
                                {1, 1ull << 31},
                                {1, ~std::uint64_t{0}},
                                {~std::uint64_t{0}, 8192}};
  for (const PassphraseCost& cost : bad) {
    EXPECT_EQ(derive_key("p", salt, cost).error().code, "BAD_COST");
  }
  EXPECT_EQ(derive_key("p", "short", {1, 8192}).error().code, "BAD_SALT");
}

}  // namespace
}  // namespace kernelindex
