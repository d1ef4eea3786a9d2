// SPDX-License-Identifier: Apache-2.0
// Bundles that released versions wrote are judged alike by every later one. data/golden-v1.bundle
// was written once by `flip_every_bundle_byte --write` of the version that began the format.
#include <gtest/gtest.h>

#include "tests/support/corpus.h"
#include "verify/bundle.h"

namespace kernelindex::test {
namespace {

constexpr std::string_view kLedger =
    "sha256:046e697325b82d75f2fe82ad3d120541379948669e5e3d9a372140fa49b08925";
constexpr std::string_view kKey =
    "sha256:f967280c66dc85b8a9b2d4aa56859221b473b2bec33202288e441f48b1ea5632";

TEST(GoldenBundle, OfVersion1Holds) {
  const std::string bytes = read_file(source_root() / "tests/verify/data/golden-v1.bundle");
  VerifyOptions options;
  options.ledger_id = *Digest::parse(kLedger);
  const Result<BundleVerdict> verdict = verify_bundle(bytes, options);
  ASSERT_TRUE(verdict.has_value()) << verdict.error().text();
  EXPECT_TRUE(verdict->ok()) << verdict->json();
  EXPECT_EQ(verdict->level, Level::reported);
  ASSERT_TRUE(verdict->comparison_key.has_value());
  EXPECT_EQ(verdict->comparison_key->text(), kKey);
}

}  // namespace
}  // namespace kernelindex::test
