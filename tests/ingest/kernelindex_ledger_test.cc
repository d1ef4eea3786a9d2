// SPDX-License-Identifier: Apache-2.0
// The log of another ledger as a stream: what of it holds, seen from its bytes alone.
#include "ingest/kernelindex_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/ledger_files.h"
#include "ledger/appender.h"
#include "ledger/attest.h"
#include "ledger/ledger.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::ingest {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

Manifest project(const std::string& name) {
  return read_manifest(R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject",)"
                       R"("metadata":{"name":"p"},"spec":{"name":")" +
                       name + R"(","repository":"https://example.invalid/p"}})")
      .value();
}

// What an import of a stream comes to: the error, or all that was handed on.
struct Outcome {
  std::string error;
  std::vector<std::string> claims;
  std::vector<std::string> findings;
  bool operator==(const Outcome&) const = default;
};

Outcome import(const std::string& stream) {
  MemorySource source(stream);
  test::CollectingSink sink;
  const Status status = import_kernelindex_ledger(source, "log", 0, sink);
  Outcome out;
  if (!status) out.error = status.error().code;
  for (const Draft& draft : sink.drafts) {
    out.claims.push_back(draft.source + " via " + draft.via + " " + draft.item + " " +
                         draft.manifest.document.text());
  }
  for (const Finding& finding : sink.all_findings) out.findings.push_back(finding.code);
  return out;
}

class LedgerStreams : public testing::Test {
 protected:
  LedgerStreams() {
    LedgerOptions options;
    options.directory = folder_ / "ledger";
    options.state = folder_ / "state";
    options.clock = fixed_clock(1'767'225'600'000'000);
    ledger_ = Ledger::create(options, {}).value();
    auto appender = ledger_->append({"toy", "1"}).value();
    MemorySource bytes("a snapshot");
    const Digest snapshot =
        appender->snapshot({"toy", "file", {}, "supplied"}, "text/plain", bytes)->content;
    for (const std::string name : {"One", "Two"}) {
      ManifestEntry claim;
      claim.source = "toy";
      claim.snapshot = snapshot;
      EXPECT_TRUE(appender->claim(claim, project(name)));
    }
    EXPECT_TRUE(appender->finish(std::nullopt));
  }

  std::string stream() const {
    const LedgerFiles files = LedgerFiles::open(folder_ / "ledger").value();
    return read_whole(files.files().front()).value();
  }
  // Lines of the stream; line 0 is the header.
  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      out.push_back(text.substr(at, end - at));
      at = end;
    }
    return out;
  }
  static std::string joined(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += line;
    return out;
  }
  static void drop_object(std::string& line) {
    line = line.substr(0, line.find(",\"object\":")) + "}\n";
  }

  test::TempDir folder_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(LedgerStreams, GiveClaimsViaTheLedgerTheyComeFrom) {
  const Outcome out = import(stream());
  EXPECT_EQ(out.error, "");
  EXPECT_THAT(out.findings, IsEmpty());
  ASSERT_THAT(out.claims, SizeIs(2));
  // Entries 0 to 6 found the ledger, 7 is the snapshot.
  EXPECT_EQ(out.claims[0], "toy via " + ledger_->format().ledger_id.text() + " 10 " +
                               project("One").document.text());
}

TEST_F(LedgerStreams, AreTheSameBytesAtEveryReading) {
  const std::string once = stream();
  EXPECT_EQ(stream(), once);
  EXPECT_TRUE(is_ledger_stream(once));
  EXPECT_EQ(lines(once).size(), 1 + ledger_->read().head().size);
}

// Any change is refused before a claim is given, sets claims aside, or leaves them as they are.
TEST_F(LedgerStreams, NoChangedByteMakesAnotherClaim) {
  const std::string good = stream();
  const Outcome expected = import(good);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const Outcome out = import(changed);
    if (out.error.empty()) {
      EXPECT_THAT(out.claims, testing::IsSubsetOf(expected.claims)) << at << good.substr(at, 20);
    } else {
      EXPECT_THAT(out.claims, IsEmpty()) << at;
      ++refused;
    }
  }
  EXPECT_GT(refused, good.size() / 4);
}

TEST_F(LedgerStreams, LinesThatAreCutSwappedOrRepeatedAreRefused) {
  const std::vector<std::string> good = lines(stream());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::string> cut = good;
    cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(import(joined(cut)).error, "") << i;
    std::vector<std::string> twice = good;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), good[i]);
    EXPECT_NE(import(joined(twice)).error, "") << i;
    if (i + 1 == good.size()) continue;
    std::vector<std::string> swapped = good;
    std::swap(swapped[i], swapped[i + 1]);
    EXPECT_NE(import(joined(swapped)).error, "") << i;
  }
  EXPECT_EQ(import("").error, "BAD_STREAM");
  EXPECT_EQ(import("{}\n").error, "BAD_STREAM");
  EXPECT_EQ(import(good[0]).error, "BAD_STREAM");
}

TEST_F(LedgerStreams, AnotherLedgerIdIsRefused) {
  std::string text = stream();
  const std::string id = ledger_->format().ledger_id.text();
  text.replace(text.find(id), id.size(), sha256("another").text());
  EXPECT_EQ(import(text).error, "LEDGER_ID_DIFFERS");
}

TEST_F(LedgerStreams, WithoutAnImportStatementNothingIsCovered) {
  std::vector<std::string> cut = lines(stream());
  drop_object(cut.back());
  const Outcome out = import(joined(cut));
  EXPECT_EQ(out.error, "");
  EXPECT_THAT(out.claims, IsEmpty());
}

TEST_F(LedgerStreams, WithoutAStatementAboutKeysNobodyCanSayWhoSigned) {
  for (std::size_t i = 1; i <= 7; ++i) {
    std::vector<std::string> cut = lines(stream());
    drop_object(cut[i]);
    EXPECT_EQ(import(joined(cut)).error, "MISSING_OBJECT") << i;
  }
}

TEST_F(LedgerStreams, AClaimWithoutItsManifestIsLeftOut) {
  std::vector<std::string> cut = lines(stream());
  drop_object(cut[9]);
  const Outcome out = import(joined(cut));
  EXPECT_EQ(out.error, "");
  EXPECT_THAT(out.claims, SizeIs(1));
}

TEST_F(LedgerStreams, AManifestThatIsNotTheOneNamedIsQuarantined) {
  std::vector<std::string> changed = lines(stream());
  const std::size_t at = changed[9].find("\"name\":\"One\"");
  ASSERT_NE(at, std::string::npos);
  changed[9].replace(at, 12, "\"name\":\"Own\"");
  const Outcome out = import(joined(changed));
  EXPECT_EQ(out.error, "");
  EXPECT_THAT(out.claims, SizeIs(1));
  EXPECT_THAT(out.findings, Contains("DIGEST_DIFFERS"));
}

}  // namespace
}  // namespace kernelindex::ingest
