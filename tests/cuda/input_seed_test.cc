// SPDX-License-Identifier: Apache-2.0
#include "cuda/input_seed.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kernelindex::runner {
namespace {

std::string bytes(std::string_view hex) { return from_hex(hex).value(); }

// RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
TEST(Hmac, GivesTheKnownAnswersOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// RFC 5869, appendix A.1: extraction is HMAC of the salt, expansion to 42 bytes.
TEST(Hkdf, GivesTheKnownAnswersOfRfc5869) {
  const std::string prk = hmac_sha256(bytes("000102030405060708090a0b0c"), std::string(22, '\x0b'));
  EXPECT_EQ(to_hex(prk), "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
  EXPECT_EQ(to_hex(hkdf_expand(prk, bytes("f0f1f2f3f4f5f6f7f8f9"), 42)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
}

TEST(SeedSource, EveryPartOfTheNameChangesTheSeed) {
  const SeedSource source(std::string(32, 'n'), std::string(32, 'e'));
  const SampleName base{sha256("w"), 1, 2, 3, "x"};
  std::set<std::string> seeds{source.seed(base)};
  SampleName other = base;
  other.workload = sha256("v");
  seeds.insert(source.seed(other));
  for (std::uint32_t SampleName::*part :
       {&SampleName::trial, &SampleName::round, &SampleName::sample}) {
    other = base;
    other.*part = 77;
    seeds.insert(source.seed(other));
  }
  other = base;
  other.tensor = "y";
  seeds.insert(source.seed(other));
  EXPECT_EQ(seeds.size(), 6u);
}

TEST(SeedSource, BothSidesChangeTheSeed) {
  const SampleName name{sha256("w"), 0, 0, 0, "x"};
  const std::string a(32, 'a');
  const std::string b(32, 'b');
  EXPECT_NE(SeedSource(a, a).seed(name), SeedSource(b, a).seed(name));
  EXPECT_NE(SeedSource(a, a).seed(name), SeedSource(a, b).seed(name));
}

// Written out by hand from the formula, with the pieces above.
TEST(SeedSource, FollowsTheFormula) {
  const std::string nonce(32, '\1');
  const std::string entropy(32, '\2');
  const Digest workload = sha256("w");
  const std::string info =
      "in" + std::string(workload.raw()) + bytes("070000000800000009000000") + "hidden_states";
  EXPECT_EQ(SeedSource(nonce, entropy).seed({workload, 7, 8, 9, "hidden_states"}),
            hkdf_expand(hmac_sha256("ki-controlled-v1", nonce + entropy), info, 24));
}

TEST(WordStream, ReadsKeyAndCounterLittleEndian) {
  const WordStream words(bytes("0100000002000000030000000400000000000000deadbeef"));
  EXPECT_EQ(words.block(5), philox({5, 0, 3, 4}, {1, 2}));
  EXPECT_EQ(words.block((std::uint64_t{6} << 32) + 5), philox({5, 6, 3, 4}, {1, 2}));
  EXPECT_EQ(words.word(22), philox({5, 0, 3, 4}, {1, 2})[2]);
}

}  // namespace
}  // namespace kernelindex::runner
