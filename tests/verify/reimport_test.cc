// SPDX-License-Identifier: Apache-2.0
// audit --reimport: a toy parser reads kept snapshots again; what the ledger says otherwise is
// named.
#include "verify/reimport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A snapshot of the toy: lines "model NAME", "project SLUG NAME".
class ToyParser final : public Reparser {
 public:
  static constexpr std::string_view kName = "toy";

  static std::vector<ReparsedClaim> parse(const Digest& snapshot, const std::string& text) {
    std::vector<ReparsedClaim> out;
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string words = text.substr(at, end - at);
      at = end + 1;
      ++line;
      ReparsedClaim claim;
      claim.snapshot = snapshot;
      claim.source = "toy";
      claim.item = std::to_string(line);
      const std::size_t space = words.find(' ');
      const std::string rest = words.substr(space + 1);
      if (words.starts_with("model")) {
        claim.manifest =
            make_document(ManifestKind::model_revision, "m", R"({"model":")" + rest + "\"}");
        claim.external_ids = {"toy:" + rest};
        claim.facts.slug = "line-" + std::to_string(line);
      } else {
        const std::size_t second = rest.find(' ');
        claim.manifest = make_document(ManifestKind::software_project, "p",
                                       R"({"name":")" + rest.substr(second + 1) + "\"}");
        claim.facts.slug = rest.substr(0, second);
      }
      out.push_back(std::move(claim));
    }
    return out;
  }

  Status reparse(const ImportEvent& import,
                 const std::function<Status(ReparsedClaim)>& claim) override {
    if (import.parser != kName) {
      return fail(ErrorKind::invalid, "UNKNOWN_PARSER", import.parser, "no such parser");
    }
    events.push_back(import);
    for (const ImportedSnapshot& snapshot : import.snapshots) {
      Result<std::unique_ptr<ByteSource>> source = snapshot.open();
      if (!source) return fail(source.error());
      std::string text(snapshot.size, '\0');
      std::size_t done = 0;
      while (true) {
        char buffer[7];
        const Result<std::size_t> count = (*source)->read(buffer);
        if (!count) return fail(count.error());
        if (*count == 0) break;
        text.replace(done, *count, buffer, *count);
        done += *count;
      }
      for (ReparsedClaim& one : parse(snapshot.digest, text)) {
        if (Status status = claim(std::move(one)); !status) return status;
      }
    }
    return {};
  }

  std::vector<ImportEvent> events;
};

class Reimport : public testing::Test {
 protected:
  static constexpr std::string_view kText = "project adders Adders\nmodel Small\nmodel Large\n";

  // Records what the parser gives, as `change` would have it.
  void import(const std::string& text,
              const std::function<void(std::vector<ReparsedClaim>&)>& change = {},
              bool finished = true) {
    const std::unique_ptr<Ledger> ledger = fixture.open();
    auto appender = std::move(*ledger->append({"toy", "1", "{}"}));
    MemorySource source(text);
    ASSERT_TRUE(
        appender->snapshot({"toy", "toy.txt", "", "supplied"}, "text/plain", source).has_value());
    std::vector<ReparsedClaim> claims = ToyParser::parse(sha256(text), text);
    if (change) change(claims);
    for (const ReparsedClaim& claim : claims) {
      ManifestEntry entry;
      entry.source = claim.source;
      entry.external_ids = claim.external_ids;
      entry.snapshot = claim.snapshot;
      entry.item = claim.item;
      entry.facts = claim.facts;
      ASSERT_TRUE(appender->claim(entry, claim.manifest).has_value());
    }
    const std::string report = "report of " + text;
    const Status done =
        appender->finish(finished ? std::optional<std::string>(report) : std::nullopt);
    ASSERT_TRUE(done.has_value()) << done.error().text();
  }

  ReimportReport check() {
    const std::unique_ptr<Ledger> ledger = fixture.open();
    ReimportReport report = audit_reimport(ledger->read(), parser);
    // The imports of the fixture itself are by a parser that nobody has.
    std::erase_if(report.faults, [](const Fault& fault) { return fault.code == "UNKNOWN_PARSER"; });
    return report;
  }
  static std::vector<std::string> texts(const ReimportReport& report) {
    std::vector<std::string> out;
    for (const Fault& fault : report.faults) out.push_back(fault_text(fault));
    return out;
  }

  LedgerFixture fixture;
  ToyParser parser;
};

TEST_F(Reimport, GivesTheSameClaims) {
  import(std::string(kText));
  const ReimportReport report = check();
  EXPECT_THAT(texts(report), IsEmpty());
  EXPECT_EQ(report.imports, 3u);
  EXPECT_EQ(report.claims, 3u);
  ASSERT_EQ(parser.events.size(), 1u);
  const ImportEvent& event = parser.events[0];
  EXPECT_TRUE(event.finished);
  EXPECT_EQ(event.parser_version, "1");
  EXPECT_EQ(event.options, "{}");
  ASSERT_EQ(event.snapshots.size(), 1u);
  EXPECT_EQ(event.snapshots[0].locator, "toy.txt");
  EXPECT_EQ(event.snapshots[0].media_type, "text/plain");
}

TEST_F(Reimport, AParserThatNobodyHasIsSaid) {
  const std::unique_ptr<Ledger> ledger = fixture.open();
  const ReimportReport report = audit_reimport(ledger->read(), parser);
  ASSERT_EQ(report.faults.size(), 2u);
  EXPECT_EQ(report.faults[0].code, "UNKNOWN_PARSER");
  EXPECT_THAT(report.faults[0].what, HasSubstr("board 1"));
}

TEST_F(Reimport, AClaimThatSaysSomethingElseIsNamedWithBothValues) {
  import(std::string(kText), [](std::vector<ReparsedClaim>& claims) {
    claims[1].manifest =
        make_document(ManifestKind::model_revision, "m", R"({"model":"Tiny"})");
});
const ReimportReport report = check();
ASSERT_THAT(texts(report), ElementsAre(HasSubstr("spec.model is not what the parser gives")));
EXPECT_EQ(report.faults[0].code, "MANIFEST_DIFFERS");
EXPECT_EQ(report.faults[0].expected, "\"Small\"");
EXPECT_EQ(report.faults[0].found, "\"Tiny\"");
EXPECT_EQ(report.faults[0].index, fixture.head().size - 3);
}  // namespace

TEST_F(Reimport, ADocumentThatWasChangedOnDiskIsNamedWithBothValues) {
  import(std::string(kText));
  const Manifest small = ToyParser::parse({}, "model Small\n")[0].manifest;
  fixture.edit(Space::evidence, key_layout::object(small.document),
               [](std::string& value) { value.replace(value.find("Small"), 5, "Swell"); });
  const ReimportReport report = check();
  ASSERT_EQ(report.faults.size(), 1u) << testing::PrintToString(texts(report));
  EXPECT_EQ(report.faults[0].code, "MANIFEST_DIFFERS");
  EXPECT_EQ(report.faults[0].expected, "\"Small\"");
  EXPECT_EQ(report.faults[0].found, "\"Swell\"");
}

TEST_F(Reimport, FactsThatDifferAreNamed) {
  import(std::string(kText),
         [](std::vector<ReparsedClaim>& claims) { claims[2].facts.slug = "another";
});
const ReimportReport report = check();
ASSERT_THAT(texts(report), ElementsAre(HasSubstr("facts.slug")));
EXPECT_EQ(report.faults[0].code, "ENTRY_DIFFERS");
EXPECT_EQ(report.faults[0].expected, "\"line-3\"");
EXPECT_EQ(report.faults[0].found, "\"another\"");
}  // namespace kernelindex::test

TEST_F(Reimport, AnotherSourceOrExternalIdIsNamed) {
  import(std::string(kText), [](std::vector<ReparsedClaim>& claims) {
    claims[1].source = "other";
  claims[2].external_ids = {"toy:Larger"};
});
EXPECT_THAT(texts(check()), ElementsAre(HasSubstr("source is not"), HasSubstr("externalIds")));
}

TEST_F(Reimport, AClaimThatTheParserDoesNotGiveIsNamed) {
  import(std::string(kText), [](std::vector<ReparsedClaim>& claims) {
    claims.push_back(claims.back());
  claims.back().manifest = make_document(ManifestKind::model_revision, "m", R"({"model":"X"})");
  claims.back().item = "9";
});
const ReimportReport report = check();
ASSERT_EQ(report.faults.size(), 1u) << testing::PrintToString(texts(report));
EXPECT_EQ(report.faults[0].code, "CLAIM_NOT_GIVEN");
}

TEST_F(Reimport, AClaimThatIsMissingIsNamed) {
  import(std::string(kText), [](std::vector<ReparsedClaim>& claims) { claims.pop_back();
});
const ReimportReport report = check();
ASSERT_EQ(report.faults.size(), 1u) << testing::PrintToString(texts(report));
EXPECT_EQ(report.faults[0].code, "CLAIM_MISSING");
EXPECT_THAT(report.faults[0].expected, HasSubstr("ModelRevision"));
}

TEST_F(Reimport, AnImportThatWasCutOffLacksOnlyItsEnd) {
  import(std::string(kText), [](std::vector<ReparsedClaim>& claims) { claims.pop_back();
}, false);
EXPECT_THAT(texts(check()), IsEmpty());
EXPECT_FALSE(parser.events[0].finished);
}

TEST_F(Reimport, AnImportThatWasFinishedLaterIsOneImport) {
  import(std::string(kText), [](std::vector<ReparsedClaim>& claims) { claims.pop_back();
}, false);
import(std::string(kText));
EXPECT_THAT(texts(check()), IsEmpty());
EXPECT_EQ(parser.events.size(), 1u);
}

TEST_F(Reimport, ClaimsInAnotherOrderAreNamed) {
  import(std::string(kText),
         [](std::vector<ReparsedClaim>& claims) { std::swap(claims[1], claims[2]);
});
const ReimportReport report = check();
ASSERT_EQ(report.faults.size(), 1u) << testing::PrintToString(texts(report));
EXPECT_EQ(report.faults[0].code, "ORDER_DIFFERS");
}

TEST_F(Reimport, ClaimsThatWereKnownAreNotExpectedAgain) {
  import(std::string(kText));
  import("project adders Adders\nmodel Large\nmodel Huge\n");
  EXPECT_THAT(texts(check()), IsEmpty());
}

// A known slug keeps its manifest: the second project was reported and not recorded.
TEST_F(Reimport, AProjectThatDiffersFromTheKnownOneIsNoFault) {
  import(std::string(kText));
  import("project adders Subtractors\nmodel Huge\n",
         [](std::vector<ReparsedClaim>& claims) { claims.erase(claims.begin());
});
EXPECT_THAT(texts(check()), IsEmpty());
}

TEST_F(Reimport, FaultsJoinTheReportOfTheAudit) {
  import(std::string(kText),
         [](std::vector<ReparsedClaim>& claims) { claims[2].facts.slug = "another";
});
AuditReport report = fixture.audit();
ASSERT_TRUE(report.ok());
check().add_to(report, 1000);
EXPECT_FALSE(report.ok());
ReimportReport more = check();
more.add_to(report, 1);
EXPECT_EQ(report.faults.size(), 1u);
EXPECT_EQ(report.faults_left_out, 1u);
}

}  // namespace
}  // namespace kernelindex::test
