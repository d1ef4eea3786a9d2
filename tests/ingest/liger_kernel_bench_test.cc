// SPDX-License-Identifier: Apache-2.0
#include "ingest/liger_kernel_bench.h"

#include <gtest/gtest.h>

#include <sstream>

#include "schema/json_reader.h"
#include "tests/ingest/known_digests.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Finding;
using ingest::FindingClass;
using test::CollectingSink;
using test::SourceFiles;

constexpr std::string_view kFolder = "data/sources/liger/";
constexpr std::string_view kData = "linkedin/benchmark/data/";

CollectingSink import(const SourceFiles& files) {
  CollectingSink sink;
  const Status done = ingest::import_liger_kernel_bench(files.recorded(), {}, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

class LigerTable : public testing::Test {
 protected:
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }
  static SourceFiles table(std::string_view name) {
    SourceFiles files;
    files.add(std::string(name),
              test::read_file(test::corpus_path(std::string(kFolder) + std::string(kData) +
                                                std::string(name))));
    return files;
  }
  static std::string slice() {
    return test::read_file(test::corpus_path(std::string(kFolder) +
                                             "kernelindex-fixtures/all-benchmark-data-slice.csv"));
  }
};

TEST_F(LigerTable, EveryDigestAndKeyIsTheExpectedOne) {
  const CollectingSink sink = import(table("all_benchmark_data.csv"));
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  const std::string path = std::string(kFolder) + "linkedin/expected.jsonl";
  const std::pair<std::string_view, ManifestKind> kinds[] = {
      {"operation", ManifestKind::operation_spec},
      {"case", ManifestKind::workload_case},
      {"implementation", ManifestKind::implementation_revision},
      {"run", ManifestKind::benchmark_run},
  };
  for (const auto& [kind, manifest_kind] : kinds) {
    EXPECT_EQ(test::found_digests(sink, manifest_kind), test::expected_digests(path, kind)) << kind;
  }
  // Protocols and environments have no ids of the source.
  for (const auto& [kind, manifest_kind] :
       {std::pair("protocol", ManifestKind::benchmark_protocol),
        std::pair("environment", ManifestKind::execution_environment)}) {
    std::set<std::string> expected;
    for (const auto& [id, of_id] : test::expected_digests(path, kind)) {
      expected.insert(of_id.begin(), of_id.end());
    }
    EXPECT_EQ(test::found_digests(sink, manifest_kind).at(""), expected) << kind;
  }
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 1649u);
  EXPECT_EQ(sink.skipped_count("memory_row"), 799u);
  EXPECT_EQ(sink.accounted_items(), 2448u);

  const std::map<std::string, std::string> keys = test::keys_of_runs(sink);
  std::istringstream lines(test::read_file(test::corpus_path(path)));
  for (std::string line; std::getline(lines, line);) {
    json::Arena arena;
    const json::Value row = json::parse(line, arena).value();
    if (row.text("kind") != "run") continue;
    EXPECT_EQ(keys.at(std::string(row.text("digest"))), row.text("comparisonKey"));
  }
}

TEST_F(LigerTable, NewProvidersAndConfigurationsAreSkippedWithTheirReason) {
  const CollectingSink sink = import(table("all_benchmark_data_cutile.csv"));
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), sink.selected_count);
  EXPECT_GT(sink.skipped_count("unknown_provider"), 0u);
  const CollectingSink other = import(table("all_benchmark_data_cutedsl.csv"));
  EXPECT_GT(other.skipped_count("unknown_provider"), 0u);
}

TEST_F(LigerTable, ABadRecordIsSetAsideAndTheOthersCome) {
  SourceFiles files;
  files.add("t.csv", slice() + "rms_norm,liger\n" + "rms_norm,\"liger\"x,forward\n");
  const CollectingSink whole = import(files);
  const auto set_aside = whole.findings(FindingClass::quarantined);
  ASSERT_EQ(set_aside.size(), 2u) << whole.said();
  EXPECT_EQ(set_aside[0]->code, "BAD_RECORD");
  EXPECT_EQ(set_aside[1]->code, "BAD_QUOTE");
  files.bytes_of("t.csv") = slice();
  EXPECT_EQ(import(files).selected_count, whole.selected_count);
}

TEST_F(LigerTable, TheSameRowTwiceIsCountedOnce) {
  SourceFiles files;
  files.add("t.csv", slice()).add("u.csv", slice());
  const CollectingSink sink = import(files);
  EXPECT_EQ(sink.skipped_count("duplicate_row"), sink.selected_count);
}

TEST_F(LigerTable, AMissingColumnSetsTheFileAsideAndAFurtherOneIsDrift) {
  SourceFiles files;
  files.add("t.csv", slice());
  std::string& text = files.bytes_of("t.csv");
  const std::string whole = text;
  text.replace(text.find("y_value_80"), 10, "y_value_90");
  const CollectingSink missing = import(files);
  EXPECT_EQ(missing.findings(FindingClass::quarantined).front()->code, "MISSING_COLUMN");
  EXPECT_EQ(missing.selected_count, 0u);
  std::string wider;
  std::istringstream lines(whole);
  for (std::string line; std::getline(lines, line);) {
    wider += line + (wider.empty() ? ",colour\n" : ",red\n");
  }
  text = wider;
  const CollectingSink drifted = import(files);
  ASSERT_EQ(drifted.findings(FindingClass::drift).size(), 1u) << drifted.said();
  text = whole;
  EXPECT_EQ(import(files).selected_count, drifted.selected_count);
}

TEST_F(LigerTable, LineEndsDoNotMatter) {
  SourceFiles files;
  files.add("t.csv", slice());
  const std::size_t selected = import(files).selected_count;
  std::string& text = files.bytes_of("t.csv");
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n\r\n") : std::string(1, c);
  text = crlf;
  EXPECT_EQ(import(files).selected_count, selected);
}

TEST_F(LigerTable, EveryRecordIsChosenOrSkippedOrSetAside) {
  SourceFiles files;
  files.add("t.csv", slice());
  std::string& text = files.bytes_of("t.csv");
  const std::string whole = text;
  const std::size_t header = whole.find('\n') + 1;
  const std::size_t items = import(files).accounted_items();
  for (std::size_t at = header; at < whole.size(); at += 5) {
    if (whole[at] == '\n' || whole[at] == '"' || whole[at] == ',') continue;
    text = whole;
    text[at] = '\x80';
    EXPECT_EQ(import(files).accounted_items(), items) << at;
  }
}

}  // namespace
}  // namespace kernelindex
