// SPDX-License-Identifier: Apache-2.0
// A ledger is opened only as what it is: another origin, tile height or format version is refused
// by name, and nothing is changed by the attempt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/key_layout.h"
#include "tests/acceptance/room.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

class Reopening : public ::testing::Test {
 protected:
  Reopening() {
    room_.import_sample();
    origin_ = room_.ledger().format().origin;
    room_.close();
  }

  void edit_format(const std::string& from, const std::string& to) {
    const std::unique_ptr<Store> store = must(Store::open((room_.directory() / "db").string(), {}));
    std::string text = must(store->view().get(Space::evidence, key_layout::format())).value();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
    StoreBatch batch;
    batch.put(Space::evidence, key_layout::format(), text);
    must(store->write(batch));
  }

  void expect_refused(const std::string& said) {
    for (const bool read_only : {false, true}) {
      LedgerOptions options = room_.options();
      options.read_only = read_only;
      const Result<std::unique_ptr<Ledger>> ledger = Ledger::open(options);
      ASSERT_FALSE(ledger);
      EXPECT_EQ(ledger.error().code, "UNKNOWN_FORMAT");
      EXPECT_EQ(ledger.error().kind, ErrorKind::invalid);
      EXPECT_THAT(ledger.error().text(), HasSubstr(said));
      EXPECT_THAT(ledger.error().text(), HasSubstr(room_.directory().string()));
      EXPECT_NE(ledger.error().remedy, "");
    }
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"status"},
             {"log"},
             {"runs"},
             {"import", "sol-execbench", sample_folder().string()}}) {
      const Outcome outcome = room_.run(words);
      EXPECT_EQ(outcome.exit_code, 3) << words[0] << ": " << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("UNKNOWN_FORMAT"));
    }
  }

  Room room_;
  std::string origin_;
};

TEST_F(Reopening, UnderItsOwnOriginAlone) {
  LedgerOptions options = room_.options();
  options.expect_origin = origin_;
  EXPECT_TRUE(Ledger::open(options));
  options.expect_origin = "example.org/other";
  const Result<std::unique_ptr<Ledger>> other = Ledger::open(options);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "ORIGIN_DIFFERS");
  EXPECT_EQ(other.error().kind, ErrorKind::refused);
  EXPECT_THAT(other.error().text(), HasSubstr(origin_));
  EXPECT_THAT(other.error().text(), HasSubstr("example.org/other"));
}

TEST_F(Reopening, RefusesAnotherTileHeight) {
  edit_format("\"tileHeight\":8", "\"tileHeight\":4");
  expect_refused("height");
}

TEST_F(Reopening, RefusesANewerFormatVersion) {
  edit_format("\"v\":1", "\"v\":2");
  expect_refused("format version 2");
}

TEST_F(Reopening, RefusesEntriesOfAnotherVersion) {
  edit_format("\"entryVersion\":1", "\"entryVersion\":2");
  expect_refused("version");
}

TEST_F(Reopening, RefusesMembersThatItDoesNotKnow) {
  edit_format("\"v\":1", "\"v\":1,\"zone\":\"eu\"");
  expect_refused("members");
}

// The origin in the store is derived from entry 0: another one is no silent change of name.
TEST_F(Reopening, AnOriginEditedInTheStoreIsFoundByTheAudit) {
  edit_format(origin_, "example.org/other");
  EXPECT_EQ(room_.run({"audit"}).exit_code, 4);
}

TEST_F(Reopening, FoundingASecondTimeIsRefused) {
  const Result<std::unique_ptr<Ledger>> again = Ledger::create(room_.options(), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "LEDGER_EXISTS");
  EXPECT_EQ(room_.run({"audit"}).exit_code, 0);
}

}  // namespace
}  // namespace kernelindex::test
