// SPDX-License-Identifier: Apache-2.0
// One row of a catalog spoilt at a time: it is set aside with both values, and the rest goes on.
#include <gtest/gtest.h>

#include "ingest/kernelindex_catalog.h"
#include "schema/byte_source.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/ingest/small_catalog.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Finding;
using ingest::FindingClass;
using test::CollectingSink;
using test::SmallCatalog;

const std::string kRun = "01a0032e-f7d2-749e-bb30-df1bba93405f";  // submission 15866, 59812 ns

CollectingSink import(const std::string& text) {
  CollectingSink sink;
  MemorySource source(text);
  const Status done = ingest::import_kernelindex_catalog(source, "catalog.jsonl", {}, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

class CatalogTampering : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    catalog_ = SmallCatalog::published();
    whole_ = import(catalog_.text());
    ASSERT_TRUE(whole_.all_findings.empty()) << whole_.said();
  }

  // The only finding is about this line, has this code, and names both values.
  void expect_set_aside(std::size_t line, std::string_view code, std::string_view row_says,
                        std::string_view derived) {
    sink_ = import(catalog_.text());
    ASSERT_EQ(sink_.all_findings.size(), 1u) << sink_.said();
    const Finding& finding = sink_.all_findings[0];
    EXPECT_EQ(finding.kind, FindingClass::quarantined);
    EXPECT_EQ(finding.item, std::to_string(line));
    EXPECT_EQ(finding.code, code);
    EXPECT_NE(finding.reason.find(row_says), std::string::npos) << finding.reason;
    EXPECT_NE(finding.reason.find(derived), std::string::npos) << finding.reason;
  }
  void expect_claims_fewer(std::size_t fewer) {
    EXPECT_EQ(sink_.drafts.size() + fewer, whole_.drafts.size());
  }

  SmallCatalog catalog_;
  CollectingSink whole_;
  CollectingSink sink_;
};

TEST_F(CatalogTampering, AStoredDigest) {
  const std::size_t line = catalog_.replace("benchmark_runs", kRun, "\"runDigest\":\"sha256:fa2c",
                                            "\"runDigest\":\"sha256:0000");
  expect_set_aside(line, "DIGEST_DIFFERS", "sha256:0000dd25", "sha256:fa2cdd25");
  expect_claims_fewer(1);
}

TEST_F(CatalogTampering, ALatencyInTheManifest) {
  const std::size_t line = catalog_.replace("benchmark_runs", kRun, "\"mean\":59812", "\"mean\":1");
  expect_set_aside(line, "DIGEST_DIFFERS", "sha256:fa2cdd25", "sha256:");
  expect_claims_fewer(1);
  EXPECT_EQ(sink_.skipped_count("of_quarantined_run"), 1u) << "its own measurement row";
  EXPECT_EQ(sink_.count("record_events_confirmed"), whole_.count("record_events_confirmed"));
}

TEST_F(CatalogTampering, AValueColumn) {
  const std::size_t line =
      catalog_.replace("benchmark_runs", kRun, "\"primaryValue\":59812", "\"primaryValue\":59811");
  expect_set_aside(line, "COLUMN_DIFFERS", "59811", "59812");
}

TEST_F(CatalogTampering, AComparisonKey) {
  const std::size_t line = catalog_.replace(
      "benchmark_runs", kRun, "\"comparisonKey\":\"sha256:caec", "\"comparisonKey\":\"sha256:0000");
  expect_set_aside(line, "KEY_DIFFERS", "sha256:00009f00", "sha256:caec9f00");
}

TEST_F(CatalogTampering, AProtocolBesideTheRun) {
  const std::size_t line =
      catalog_.replace("benchmark_runs", kRun, "\"version\":\"v1.0\"", "\"version\":\"v1.1\"");
  expect_set_aside(line, "DIGEST_DIFFERS", "sha256:2964c5c4", "sha256:6383f624");
}

TEST_F(CatalogTampering, AForeignKey) {
  const std::string& run = catalog_.line(catalog_.find("benchmark_runs", kRun));
  const std::string column = "\"implementationId\":\"";
  const std::string own = run.substr(run.find(column) + column.size(), 36);
  const std::string& other =
      catalog_.line(catalog_.find("implementations", "sol-submission-13511"));
  const std::string other_id = other.substr(other.find("\"id\":\"") + 6, 36);
  const std::size_t line = catalog_.replace("benchmark_runs", kRun, own, other_id);
  expect_set_aside(line, "FOREIGN_KEY_DIFFERS", "sha256:", "sha256:f2d79207");
}

TEST_F(CatalogTampering, AForeignKeyToNowhere) {
  const std::string& run = catalog_.line(catalog_.find("benchmark_runs", kRun));
  const std::string column = "\"workloadId\":\"";
  const std::string own = run.substr(run.find(column) + column.size(), 36);
  const std::size_t line =
      catalog_.replace("benchmark_runs", kRun, own, "00000000-0000-0000-0000-000000000000");
  expect_set_aside(line, "FOREIGN_KEY_UNKNOWN", "workloadId", "no row");
}

TEST_F(CatalogTampering, ASource) {
  const std::size_t line =
      catalog_.replace("benchmark_runs", kRun, "01a00328-723d-752f-b21f-bccbae31e07b",
                       "01a00330-9d48-70fb-ba79-79bab95bf499");
  expect_set_aside(line, "SOURCE_DIFFERS", "gpumode-kernelbot", "sol-execbench");
}

TEST_F(CatalogTampering, AnOperationKeepsThoseThatReferToIt) {
  const std::size_t line = catalog_.replace("operations", "gpumode-amd-fp8-mm",
                                            "\"role\":\"variable\"", "\"role\":\"derived\"");
  sink_ = import(catalog_.text());
  ASSERT_EQ(sink_.all_findings.size(), 1u) << sink_.said();
  EXPECT_EQ(sink_.all_findings[0].item, std::to_string(line));
  expect_claims_fewer(1);
}

TEST_F(CatalogTampering, AWorkloadColumn) {
  const std::size_t line = catalog_.replace(
      "workloads", "amd-fp8-mm", "\"layoutKeys\":[\"contiguous\"]", "\"layoutKeys\":[\"strided\"]");
  expect_set_aside(line, "COLUMN_DIFFERS", "strided", "contiguous");
}

TEST_F(CatalogTampering, AShape) {
  const std::size_t line = catalog_.replace("workloads", "\"shapeSummary\":\"[1024, 7168]\"",
                                            "[1024, 7168]", "[1024, 7169]");
  expect_set_aside(line, "COLUMN_DIFFERS", "[1024, 7169]", "[1024, 7168]");
}

TEST_F(CatalogTampering, AMeasurement) {
  const std::size_t line =
      catalog_.replace("measurements", kRun, "\"value\":59812", "\"value\":59813");
  expect_set_aside(line, "MEASUREMENT_DIFFERS", "59813", "59812");
  expect_claims_fewer(0);
}

TEST_F(CatalogTampering, AMeasurementThatTheRunDoesNotHave) {
  const std::size_t line =
      catalog_.replace("measurements", kRun, "\"statistic\":\"mean\"", "\"statistic\":\"median\"");
  sink_ = import(catalog_.text());
  ASSERT_EQ(sink_.all_findings.size(), 2u) << sink_.said();
  EXPECT_EQ(sink_.all_findings[0].code, "MEASUREMENT_DIFFERS");
  EXPECT_EQ(sink_.all_findings[0].item, std::to_string(line));
  EXPECT_EQ(sink_.all_findings[1].code, "MEASUREMENT_MISSING");
  EXPECT_EQ(sink_.all_findings[1].item, "kernelindex:" + kRun);
}

TEST_F(CatalogTampering, AServingMeasurement) {
  const std::size_t line =
      catalog_.replace("serving_measurements", "8840.42", "8840.42", "8840.43");
  expect_set_aside(line, "MEASUREMENT_DIFFERS", "8840.43", "8840.42");
}

TEST_F(CatalogTampering, ACohortKey) {
  const std::size_t line =
      catalog_.replace("serving_runs", "\"cohortKey\":\"sha256:17713b9e", "17713b9e", "00000000");
  expect_set_aside(line, "KEY_DIFFERS", "sha256:00000000", "sha256:17713b9e");
}

TEST_F(CatalogTampering, TheTimeOfARecordEvent) {
  const std::size_t line =
      catalog_.replace("record_events", kRun, "\"at\":\"2026-06-29", "\"at\":\"2026-06-28");
  expect_set_aside(line, "RECORD_EVENT_DIFFERS", "2026-06-28T", "2026-06-29T");
}

TEST_F(CatalogTampering, TheRunOfARecordEvent) {
  // The second of the group: the one it displaced is named as the run.
  const std::string marker = "\"previousRunId\":\"";
  const std::size_t number = catalog_.find("record_events", marker);
  const std::string event = catalog_.line(number);
  const std::string previous = event.substr(event.find(marker) + marker.size(), 36);
  const std::string column = "\"runId\":\"";
  const std::string own = event.substr(event.find(column) + column.size(), 36);
  ASSERT_EQ(catalog_.replace("record_events", marker, own, previous), number);
  sink_ = import(catalog_.text());
  ASSERT_EQ(sink_.all_findings.size(), 2u) << sink_.said();
  EXPECT_EQ(sink_.all_findings[0].item, std::to_string(number));
  EXPECT_EQ(sink_.all_findings[0].code, "DUPLICATE_ROW");
  EXPECT_EQ(sink_.all_findings[1].code, "RECORD_EVENT_MISSING");
  EXPECT_EQ(sink_.all_findings[1].item, "kernelindex:" + own);
  expect_claims_fewer(0);
}

TEST_F(CatalogTampering, ThePreviousRunOfARecordEvent) {
  const std::string marker = "\"previousRunId\":\"";
  const std::string event = catalog_.line(catalog_.find("record_events", marker));
  const std::string previous = event.substr(event.find(marker) + marker.size(), 36);
  const std::size_t line =
      catalog_.replace("record_events", marker, "\"" + previous + "\"", "null");
  expect_set_aside(line, "RECORD_EVENT_DIFFERS", "null", previous);
}

TEST_F(CatalogTampering, ARunThatDidNotTakeTheLead) {
  catalog_.replace("record_events", kRun, kRun, "01a0032e-d57a-74d8-8b5c-15a3ea25ed78");
  sink_ = import(catalog_.text());
  EXPECT_EQ(sink_.findings(FindingClass::quarantined).size(), 1u) << sink_.said();
}

TEST_F(CatalogTampering, AMissingRecordEvent) {
  catalog_.remove("record_events", kRun);
  sink_ = import(catalog_.text());
  ASSERT_EQ(sink_.all_findings.size(), 1u) << sink_.said();
  EXPECT_EQ(sink_.all_findings[0].kind, FindingClass::review);
  EXPECT_EQ(sink_.all_findings[0].code, "RECORD_EVENT_MISSING");
}

TEST_F(CatalogTampering, ARowTwice) {
  catalog_.add(catalog_.line(catalog_.find("measurements", kRun)));
  expect_set_aside(catalog_.line_count(), "DUPLICATE_ROW", "latency:mean:ns", "another row");
  catalog_.add(catalog_.line(catalog_.find("benchmark_runs", kRun)));
  sink_ = import(catalog_.text());
  EXPECT_EQ(sink_.all_findings.back().code, "DUPLICATE_ROW");
  expect_claims_fewer(0);
}

TEST_F(CatalogTampering, ABrokenLine) {
  const std::size_t line = catalog_.replace("benchmark_runs", kRun, "\"status\"", "\"status");
  sink_ = import(catalog_.text());
  EXPECT_EQ(sink_.all_findings[0].item, std::to_string(line));
  EXPECT_EQ(sink_.all_findings[0].code, "BAD_JSON");
  expect_claims_fewer(1);
}

TEST_F(CatalogTampering, ADuplicateKeyAndBadUtf8) {
  std::size_t line = catalog_.replace("benchmark_runs", kRun, "\"status\":\"passed\",",
                                      "\"status\":\"passed\",\"status\":\"passed\",");
  expect_set_aside(line, "DUPLICATE_KEY", "status", "twice");
  EXPECT_EQ(sink_.skipped_count("of_quarantined_run"), 1u);
  expect_claims_fewer(1);
  catalog_ = SmallCatalog::published();
  line = catalog_.replace("benchmark_runs", kRun, "Databricks",
                          "Data\xFF"
                          "bricks");
  expect_set_aside(line, "BAD_UTF8", "UTF-8", "benchmark_runs");
}

TEST_F(CatalogTampering, ARetractedRunIsClaimedWithThatFact) {
  catalog_.replace("benchmark_runs", kRun, "\"retractedAt\":null",
                   "\"retractedAt\":\"2026-08-16T00:00:00.000Z\"");
  sink_ = import(catalog_.text());
  const ingest::Draft* run =
      sink_.find(ManifestKind::benchmark_run, "sol-execbench:submission/15866");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->facts.retracted_at, "2026-08-16T00:00:00.000Z");
  EXPECT_FALSE(sink_.findings(FindingClass::quarantined).empty())
      << "its record event no longer follows from the runs";
}

TEST_F(CatalogTampering, UnknownTablesAndColumnsAreDrift) {
  catalog_.add("{\"table\":\"tennis\",\"row\":{\"id\":\"1\"}}");
  catalog_.add("{\"table\":\"tennis\",\"row\":{\"id\":\"2\"}}");
  catalog_.replace("benchmark_runs", kRun, "\"status\"", "\"mood\":1,\"status\"");
  sink_ = import(catalog_.text());
  ASSERT_EQ(sink_.all_findings.size(), 2u) << sink_.said();
  EXPECT_EQ(sink_.findings(FindingClass::drift).size(), 2u);
  EXPECT_EQ(sink_.skipped_count("unknown_table"), 2u);
  expect_claims_fewer(0);
}

TEST(Catalog, AnotherFileIsRefused) {
  for (const std::string bytes :
       {"", "\n\n", "not json\n", "{}\n", "[1,2]\n", "{\"table\":\"tennis\",\"row\":{}}\n"}) {
    CollectingSink sink;
    MemorySource source(bytes);
    const Status done = ingest::import_kernelindex_catalog(source, "catalog.jsonl", {}, sink);
    ASSERT_FALSE(done) << bytes;
    EXPECT_EQ(done.error().code, "NOT_A_CATALOG");
    EXPECT_EQ(done.error().place, "catalog.jsonl");
    EXPECT_TRUE(sink.files.empty());
  }
}

TEST(Catalog, ATruncatedCompressedFileIsAnError) {
  KERNELINDEX_REQUIRE_CORPUS();
  std::string bytes =
      test::read_file(test::corpus_path("data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst"));
  bytes.resize(bytes.size() / 2);
  CollectingSink sink;
  MemorySource source(bytes);
  const Status done = ingest::import_kernelindex_catalog(source, "catalog.jsonl", {}, sink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "ZSTD_TRUNCATED");
}

}  // namespace
}  // namespace kernelindex
