// SPDX-License-Identifier: Apache-2.0
// Any change of a bundle is refused, or leaves every line of the verdict the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "tests/verify/bundle_fixture.h"
#include "tests/verify/flip_bundle.h"

namespace kernelindex::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class BundleTampering : public testing::Test {
 protected:
  // "refused CODE" when the bytes are no bundle, else as first_false().
  std::string outcome(std::string_view bytes) const {
    const Result<BundleVerdict> verdict = verify_bundle(bytes, bundles_.pinned());
    return verdict ? first_false(*verdict) : "refused " + verdict.error().code;
  }
  std::string edited(const std::function<void(Bundle&)>& change) const {
    return outcome(bundles_.edit(bundle_, change));
  }

  BundleFixture bundles_;
  const std::string bundle_ = bundles_.bundle();
};

TEST_F(BundleTampering, AnySingleByteIsNoticed) {
  const BundleFlips flips = flip_bundle(bundle_, bundles_.pinned(), 0, 61);
  EXPECT_GT(flips.flips, 1000u);
  EXPECT_EQ(flips.refused, flips.flips);
  EXPECT_THAT(flips.holes, IsEmpty());
}

TEST_F(BundleTampering, ALineOfAnUnknownWitnessChangesNothing) {
  const SigningKey witness = *SigningKey::from_seed(sha256("an unknown witness").raw());
  SignedCheckpoint checkpoint = bundles_.checkpoint();
  checkpoint.signatures.push_back(
      cosign_note(checkpoint.checkpoint.text(), "witness.example", 1, witness));
  const std::string cosigned =
      bundles_.edit(bundle_, [&](Bundle& bundle) { bundle.checkpoint = checkpoint.format(); });
  EXPECT_EQ(bundles_.verify(cosigned).json(), bundles_.verify(bundle_).json());
  EXPECT_THAT(flip_bundle(cosigned, bundles_.pinned(), 0, 89).holes, IsEmpty());
}

TEST_F(BundleTampering, NoBytesAtAllTruncatedAndPaddedOnesAreNoBundle) {
  EXPECT_THAT(outcome(""), HasSubstr("refused"));
  EXPECT_THAT(outcome(bundle_.substr(0, bundle_.size() / 2)), HasSubstr("refused"));
  EXPECT_THAT(outcome(bundle_ + "x"), HasSubstr("refused"));
  EXPECT_EQ(outcome(bundle_ + "\n"), "refused NOT_CANONICAL");
  EXPECT_EQ(outcome(" " + bundle_), "refused NOT_CANONICAL");
  EXPECT_EQ(outcome("{}"), "refused NOT_A_BUNDLE");
  EXPECT_EQ(outcome("[]"), "refused NOT_A_BUNDLE");
}

TEST_F(BundleTampering, AnyMemberRemovedIsNoticed) {
  json::Arena arena;
  const json::Value whole = *json::parse(bundle_, arena, {.bytes = kBundleBytes});
  for (const json::Member& removed : whole.object()) {
    json::ObjectBuilder rest(arena);
    for (const json::Member& member : whole.object()) {
      if (member.name != removed.name) rest.add(member.name, member.value);
    }
    const std::string found = outcome(json::canonical(rest.finish()));
    EXPECT_NE(found, "true") << removed.name;
    if (removed.name == "status") {
      EXPECT_EQ(found, "status CURRENCY_UNKNOWN");
    }
  }
}

TEST_F(BundleTampering, AnUnknownMemberIsRefused) {
  json::Arena arena;
  const json::Value whole = *json::parse(bundle_, arena, {.bytes = kBundleBytes});
  json::ObjectBuilder more(arena);
  for (const json::Member& member : whole.object()) more.add(member.name, member.value);
  more.add("level", "replicated");
  EXPECT_EQ(outcome(json::canonical(more.finish())), "refused UNKNOWN_MEMBER");
}

TEST_F(BundleTampering, AnyEntryRemovedIsNoticed) {
  const Bundle whole = *parse_bundle(bundle_);
  for (std::size_t i = 0; i < whole.entries.size(); ++i) {
    const auto remove = [&](Bundle& bundle) {
      bundle.entries.erase(bundle.entries.begin() + static_cast<std::ptrdiff_t>(i));
    };
    EXPECT_NE(edited(remove), "true") << "entry " << whole.entries[i].index;
    // With right proofs for what is left it shows all the same. Only an artifact may be missing:
    // then there is less that the level can rest on.
    const std::string remade = bundles_.edit(bundle_, [&](Bundle& bundle) {
      remove(bundle);
      bundles_.remake(bundle);
    });
    const bool artifact =
        std::holds_alternative<ArtifactEntry>(decode_entry(whole.entries[i].leaf)->body);
    EXPECT_EQ(outcome(remade) == "true", artifact) << "entry " << whole.entries[i].index;
    EXPECT_LE(bundles_.verify(remade).level, bundles_.verify(bundle_).level);
  }
}

TEST_F(BundleTampering, AnyObjectRemovedOrRepeatedIsNoticed) {
  const std::size_t count = parse_bundle(bundle_)->objects.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    EXPECT_THAT(edited([&](Bundle& bundle) { bundle.objects.erase(bundle.objects.begin() + at); }),
                HasSubstr("MISSING_OBJECT"));
    EXPECT_EQ(edited([&](Bundle& bundle) { bundle.objects.push_back(bundle.objects[i]); }),
              "objects REPEATED_OBJECT");
  }
  EXPECT_EQ(edited([](Bundle& bundle) { bundle.objects.push_back("{}"); }),
            "objects UNNEEDED_OBJECT");
}

TEST_F(BundleTampering, AnyNodeOfTheTreeSwappedRemovedOrAddedIsNoticed) {
  const Bundle whole = *parse_bundle(bundle_);
  ASSERT_GE(whole.nodes.size(), 3u);
  for (std::size_t i = 0; i + 1 < whole.nodes.size(); ++i) {
    EXPECT_EQ(edited([&](Bundle& bundle) { std::swap(bundle.nodes[i], bundle.nodes[i + 1]); }),
              "inclusion ROOT_MISMATCH");
  }
  EXPECT_EQ(edited([](Bundle& bundle) { bundle.nodes.pop_back(); }), "inclusion NODE_COUNT");
  EXPECT_EQ(edited([](Bundle& bundle) { bundle.nodes.push_back(bundle.nodes[0]); }),
            "inclusion NODE_COUNT");
}

TEST_F(BundleTampering, AnyNodeOfAnImportedRangeSwappedOrMovedIsNoticed) {
  const Bundle whole = *parse_bundle(bundle_);
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < whole.entries.size(); ++i) {
    if (whole.entries[i].range.empty()) continue;
    ++ranges;
    for (std::size_t node = 0; node + 1 < whole.entries[i].range.size(); ++node) {
      EXPECT_EQ(edited([&](Bundle& bundle) {
                  std::swap(bundle.entries[i].range[node], bundle.entries[i].range[node + 1]);
                }),
                "imports IMPORT_LEAVES");
    }
    EXPECT_EQ(edited([&](Bundle& bundle) { bundle.entries[i].range.clear(); }),
              "imports NODE_COUNT");
    EXPECT_EQ(edited([&](Bundle& bundle) {
                std::swap(bundle.entries[0].range, bundle.entries[i].range);
              }),
              "objects UNNEEDED_NODES");
  }
  EXPECT_GE(ranges, 1u);
}

TEST_F(BundleTampering, EntriesOutOfOrderAreRefused) {
  EXPECT_EQ(edited([](Bundle& bundle) { std::swap(bundle.entries[0], bundle.entries[1]); }),
            "refused ENTRY_ORDER");
}

TEST_F(BundleTampering, AnEntryThatTheLevelDoesNotDependOnIsRefused) {
  const Bundle whole = *parse_bundle(bundle_);
  std::vector<std::pair<std::uint64_t, std::string>> others;
  {
    const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
    const Reader reader = ledger->read();
    for (std::uint64_t index = 0; index < reader.head().size; ++index) {
      if (std::ranges::find(whole.entries, index, &BundleEntry::index) == whole.entries.end()) {
        others.emplace_back(index, *reader.leaf(index));
      }
    }
  }
  EXPECT_GE(others.size(), 5u);
  for (const auto& [place, text] : others) {
    const std::string padded =
        bundles_.edit(bundle_, [&, place = place, text = text](Bundle& bundle) {
          bundle.entries.push_back({place, text, {}});
          bundles_.remake(bundle);
        });
    EXPECT_NE(outcome(padded), "true") << text;
  }
}

TEST_F(BundleTampering, LimitsAreCheckedBeforeAnythingIsVerified) {
  EXPECT_THAT(outcome(std::string(kBundleBytes + 1, ' ')), HasSubstr("refused"));
  EXPECT_THAT(outcome(std::string(1000, '[')), HasSubstr("refused"));
  Bundle many = *parse_bundle(bundle_);
  many.entries.clear();
  for (std::uint64_t index = 0; index <= kBundleEntries; ++index) {
    many.entries.push_back({index, "{}", {}});
  }
  EXPECT_EQ(many.encode().error().code, "BUNDLE_TOO_LARGE");
}

}  // namespace
}  // namespace kernelindex::test
