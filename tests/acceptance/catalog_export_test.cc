// SPDX-License-Identifier: Apache-2.0
// A ledger as a catalog and back: nothing that the ledger keeps is lost on the way, and nothing is
// washed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <map>
#include <set>

#include "ingest/line_source.h"
#include "ingest/zstd_source.h"
#include "ledger/attest.h"
#include "ledger/query.h"
#include "ledger/role_keys.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"
#include "tools/serve/api.h"
#include "tools/serve/manifest_index.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";

// ---- what a ledger and a catalog say, to be compared ----

struct Content {
  std::map<Digest, Digest> documents;  // by identity: of the claim that is shown
  std::map<Digest, Digest> keys;       // comparison and cohort keys, by run

  bool operator==(const Content&) const = default;
};

Content content_of(const Reader& reader) {
  Content out;
  StoreCursor cursor = reader.view().scan(Space::derived, "s");
  for (; cursor.valid(); cursor.next()) {
    const Digest identity = Digest::from_raw(cursor.key().substr(1, 32));
    const SubjectRow row = must(decode_subject_row(cursor.value()));
    out.documents.emplace(identity, row.shown().document);
    if (row.kind != ManifestKind::benchmark_run && row.kind != ManifestKind::serving_run) continue;
    const std::string bytes = must(reader.run_row(identity)).value();
    out.keys.emplace(identity, must(decode_run_row(bytes)).group.value());
  }
  must(cursor.status());
  return out;
}

struct CatalogLine {
  std::string table;
  json::Value row;
};

// Hands each row of a catalog to `take`, in order.
template <typename Take>
void for_each_row(std::string_view bytes, const Take& take) {
  MemorySource memory(bytes);
  ingest::ZstdSource source(memory);
  ingest::LineSource lines(source);
  const json::ReadLimits bounds{limits::kSourceLineBytes, limits::kJsonDepth};
  json::Arena arena;
  ingest::Line line;
  while (must(lines.next(line))) {
    arena.reset();
    const json::Value document = must(json::parse(line.text, arena, bounds));
    take(CatalogLine{std::string(document.text("table")), *document.find("row")});
  }
}

// What names a row whatever its id is.
std::string name_of(const CatalogLine& line) {
  static const std::map<std::string, std::vector<std::string_view>> kNames = {
      {"sources", {"slug"}},
      {"operation_aliases", {"operationId", "alias"}},
      {"measurements", {"runId", "metric", "statistic", "unit"}},
      {"serving_measurements", {"runId", "metric", "statistic", "unit"}},
      {"record_events", {"runId"}},
      {"artifacts", {"contentDigest"}}};
  const auto found = kNames.find(line.table);
  if (found == kNames.end()) return std::string(line.row.text("id"));
  std::string name;
  for (const std::string_view column : found->second) {
    name += std::string(line.row.text(column)) + "\n";
  }
  return name;
}

// Columns that do not come back. All others do, of every row.
bool is_not_kept(const CatalogLine& line, std::string_view column) {
  using Columns = std::set<std::string, std::less<>>;
  // When the forerunner made its row; here it is when the claim was recorded.
  if (column == "createdAt") return true;
  static const std::map<std::string, Columns> kColumns = {
      // No claim has the id of a row that is no manifest: these are made of what names the row.
      {"sources", {"id", "policy"}},  // what a source asks of us is ours to say
      {"measurements", {"id"}},
      {"serving_measurements", {"id"}},
      {"record_events", {"id"}},
      // Where the forerunner has the bytes and had them from; the export has none.
      {"artifacts", {"id", "storage", "uri"}}};
  const auto found = kColumns.find(line.table);
  if (found != kColumns.end() && found->second.contains(column)) return true;
  // The forerunner calls a KernelBot user by a name that its manifest does not have.
  return line.table == "projects" && line.row.text("slug").starts_with("kernelbot-user-") &&
         (column == "name" || column == "normalizedName");
}

using Rows = std::map<std::string, std::map<std::string, std::string>>;  // by table and name

// Each row as canonical JSON, without what does not come back. A source is named by its slug.
Rows comparable_rows(std::string_view bytes) {
  Rows rows;
  std::map<std::string, std::string> sources;
  for_each_row(bytes, [&](const CatalogLine& line) {
    if (line.table == "sources") sources[std::string(line.row.text("id"))] = line.row.text("slug");
    std::string text;
    for (const json::Member& column : line.row.object()) {
      text += column.name;
      text += '=';
      if (column.name == "sourceId") {
        text += sources.at(std::string(column.value.string()));
      } else if (!is_not_kept(line, column.name)) {
        json::append_canonical(column.value, text);
      }
      text += '\n';
    }
    const bool is_new = rows[line.table].emplace(name_of(line), std::move(text)).second;
    EXPECT_TRUE(is_new) << line.table << " has a row twice: " << name_of(line);
  });
  return rows;
}

std::vector<std::string> order_of(std::string_view bytes, std::string_view table) {
  std::vector<std::string> order;
  for_each_row(bytes, [&](const CatalogLine& line) {
    if (line.table == table) order.push_back(name_of(line));
  });
  return order;
}

// ---- exports ----

// What the verb writes; its report as JSON in `report`.
std::string exported(Room& room, std::string* report = nullptr,
                     const std::string& name = "catalog.jsonl") {
  room.close();
  const std::filesystem::path file = room.folder() / name;
  const Outcome outcome = room.run({"export", "catalog", file.string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  if (report != nullptr) *report = outcome.out;
  return read_file(file);
}

// What /api/v1/catalog answers, piece by piece.
std::string served(Room& room) {
  const Reader reader = room.read();
  const serve::ManifestIndex manifests(reader);
  const serve::SiteOptions options{"tests", "", RankingPolicy::v1};
  serve::Router router;
  serve::register_api(router);
  serve::Request request;
  request.target = must(serve::parse_target("/api/v1/catalog"));
  const serve::Site site{options, reader, manifests, nullptr, fixed_now()};
  const serve::Response response = router.respond(site, request);
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.content_type, serve::kJsonLines);
  std::string body;
  for (std::string piece = must(response.source()); !piece.empty();
       piece = must(response.source())) {
    EXPECT_LT(piece.size(), 2 * limits::kMiB) << "a piece is held in memory at once";
    body += piece;
  }
  return body;
}

ingest::ImportReport import_rows(Room& room, std::string_view rows) {
  const std::filesystem::path file = room.folder() / "rows.jsonl";
  write_file(file, rows);
  return room.import("kernelindex-catalog", file);
}

void expect_taken_whole(const ingest::ImportReport& report) {
  EXPECT_FALSE(report.quarantined()) << report.json().substr(0, 2000);
  EXPECT_THAT(report.json(), HasSubstr("\"review\":[]"));
  EXPECT_THAT(report.json(), HasSubstr("\"drift\":[]"));
}

KeyFile maintainer() { return must(read_role_key(shared_keys(), Role::maintainer, "")); }

// The row of a table that `text` occurs in; canonical.
std::string row_with(std::string_view bytes, std::string_view table, std::string_view text) {
  std::string found;
  for_each_row(bytes, [&](const CatalogLine& line) {
    std::string row = json::canonical(line.row);
    if (line.table == table && row.find(text) != std::string::npos) found = std::move(row);
  });
  return found;
}

std::size_t rows_in(std::string_view bytes) {
  std::size_t rows = 0;
  for_each_row(bytes, [&](const CatalogLine&) { ++rows; });
  return rows;
}

// ---- the published catalog ----

class PublishedCatalog : public ::testing::Test {
 protected:
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }

  struct There {
    Room room;
    std::string rows;
    There() {
      room.import_catalog();
      rows = exported(room);
    }
  };
  static There& there() {
    static There there;
    return there;
  }
  struct Back {
    Room room;
    ingest::ImportReport report;
    Back() : report(import_rows(room, there().rows)) {}
  };
  static Back& back() {
    static Back back;
    return back;
  }
};

TEST_F(PublishedCatalog, ComesBackWithTheSameDocumentsAndKeys) {
  expect_taken_whole(back().report);
  EXPECT_THAT(back().report.json(), HasSubstr("\"record_events_confirmed\":2948"));
  EXPECT_THAT(back().report.json(), HasSubstr("\"measurements_confirmed\":13853"));
  const Content before = content_of(there().room.read());
  const Content after = content_of(back().room.read());
  EXPECT_EQ(before.documents.size(), 19'765u);
  EXPECT_EQ(before.keys.size(), 7'857u + 722u);
  EXPECT_TRUE(before == after);
}

TEST_F(PublishedCatalog, EveryRowIsThePublishedOneColumnByColumn) {
  const Rows published = comparable_rows(read_file(catalog_file()));
  const Rows ours = comparable_rows(there().rows);
  std::size_t total = 0;
  for (const auto& [table, rows] : published) {
    ASSERT_TRUE(ours.contains(table)) << table;
    const auto& written = ours.at(table);
    EXPECT_EQ(written.size(), rows.size()) << table;
    for (const auto& [name, row] : rows) {
      const auto found = written.find(name);
      ASSERT_NE(found, written.end()) << table << ": no row for " << name;
      ASSERT_EQ(found->second, row) << table;
    }
    total += rows.size();
  }
  EXPECT_EQ(ours.size(), published.size());
  EXPECT_EQ(total, 40'795u);
}

TEST_F(PublishedCatalog, ManifestsStandInThePublishedOrder) {
  const std::string published = read_file(catalog_file());
  for (const std::string_view table : {"projects", "operations", "workloads", "implementations",
                                       "benchmark_runs", "model_revisions", "serving_runs"}) {
    EXPECT_EQ(order_of(there().rows, table), order_of(published, table)) << table;
  }
}

TEST_F(PublishedCatalog, TheSecondExportIsTheFirstByteByByte) {
  EXPECT_TRUE(exported(back().room) == there().rows);
}

TEST_F(PublishedCatalog, TheServerAnswersWhatTheVerbWrites) {
  EXPECT_TRUE(served(there().room) == there().rows);
}

TEST_F(PublishedCatalog, TheCompressedFileIsOneFrameOfTheSameBytes) {
  const std::string packed = exported(there().room, nullptr, "catalog.jsonl.zst");
  EXPECT_LT(packed.size(), there().rows.size() / 10);
  EXPECT_EQ(ZSTD_findFrameCompressedSize(packed.data(), packed.size()), packed.size());
  std::string bytes(there().rows.size() + 1, '\0');
  const std::size_t size =
      ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  ASSERT_EQ(ZSTD_isError(size), 0u) << ZSTD_getErrorName(size);
  bytes.resize(size);
  EXPECT_TRUE(bytes == there().rows);
}

TEST_F(PublishedCatalog, StandardOutputHasTheRowsAlone) {
  there().room.close();
  const Outcome outcome = there().room.run({"export", "catalog", "-"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(outcome.out == there().rows);
  EXPECT_THAT(outcome.err, HasSubstr("40,795"));
}

TEST_F(PublishedCatalog, ADumpOfTheLeaderboardComesBackToo) {
  Room dump;
  dump.import_dump();
  Room copy;
  expect_taken_whole(import_rows(copy, exported(dump)));
  EXPECT_TRUE(content_of(copy.read()) == content_of(dump.read()));
}

// ---- the sample ----

// An independent reading of RFC 9562 section 5.8: the digest's first 32 digits, with an 8 as the
// first of the third group, and one of 8, 9, a, b as the first of the fourth.
std::string version_8_of(const Digest& digest) {
  std::string digits = digest.hex().substr(0, 32);
  digits[12] = '8';
  const std::size_t variant = std::string_view("0123456789abcdef").find(digits[16]);
  digits[16] = "89ab"[variant % 4];
  return digits.substr(0, 8) + "-" + digits.substr(8, 4) + "-" + digits.substr(12, 4) + "-" +
         digits.substr(16, 4) + "-" + digits.substr(20);
}

TEST(Export, TheSampleComesBackWithTheSameDocumentsAndKeys) {
  Room sample;
  sample.import_sample();
  std::string told;
  const std::string rows = exported(sample, &told);
  EXPECT_THAT(told, HasSubstr("\"leftOut\":{}"));
  Room copy;
  expect_taken_whole(import_rows(copy, rows));
  EXPECT_TRUE(content_of(copy.read()) == content_of(sample.read()));
  EXPECT_TRUE(served(sample) == rows);
  EXPECT_TRUE(exported(copy) == rows) << "ids that were made once stay";
}

TEST(Export, IdsThatNobodyGaveAreMadeOfDigests) {
  Room sample;
  sample.import_sample();
  const std::map<std::string, std::string_view> kDigests = {
      {"operations", "semanticDigest"},
      {"workloads", "workloadDigest"},
      {"implementations", "implementationDigest"},
      {"benchmark_runs", "runDigest"}};
  std::size_t checked = 0;
  for_each_row(exported(sample), [&](const CatalogLine& line) {
    const std::string id(line.row.text("id"));
    if (line.table == "operation_aliases") return;
    EXPECT_EQ(id[14], '8') << id;
    EXPECT_THAT("89ab", HasSubstr(std::string(1, id[19]))) << id;
    Digest digest;
    if (const auto column = kDigests.find(line.table); column != kDigests.end()) {
      digest = must(Digest::parse(line.row.text(column->second)));
    } else if (line.table == "projects") {
      digest = must(read_manifest(json::canonical(*line.row.find("manifest")))).identity;
    } else if (line.table == "sources") {
      digest = sha256(R"({"source":")" + std::string(line.row.text("slug")) + R"("})");
    } else {
      return;
    }
    EXPECT_EQ(id, version_8_of(digest)) << line.table;
    ++checked;
  });
  EXPECT_EQ(checked, 1u + 4 + 2 + 34 + 7 + 7);
}

TEST(Export, ARetractedRunSaysWhenAndWhyAndHasNoRankThereEither) {
  Room sample;
  sample.import_sample();
  const Digest run = must(Digest::parse(kRun));
  must(attest(sample.ledger(), {run, Retraction{"cached results"}}, maintainer().key));
  const std::string rows = exported(sample);
  const std::string row = row_with(rows, "benchmark_runs", version_8_of(run));
  EXPECT_THAT(row, HasSubstr(R"("retractedAt":"2026-08-20T12:00:00.000Z")"));
  EXPECT_THAT(row, HasSubstr(R"("retractionReason":"cached results")"));
  Room copy;
  expect_taken_whole(import_rows(copy, rows));
  EXPECT_THAT(must(view_run(copy.read(), run)).reasons, Contains("RETRACTED_BY_SOURCE"));
}

TEST(Export, ARunThatItsSourceWithdrewSaysTheSourcesOwnReason) {
  Room sample;
  sample.import_sample();
  const Digest run = must(Digest::parse(kRun));
  const Digest snapshot = must(sample.read().subject(run)).value().claims.front().snapshot.value();
  const KeyFile importer = must(read_role_key(shared_keys(), Role::importer, ""));
  const Withdrawal withdrawal{"sol-execbench", "submission/15866", "disqualified", "cached",
                              snapshot};
  must(attest(sample.ledger(), {run, withdrawal}, importer.key));
  const std::string row = row_with(exported(sample), "benchmark_runs", version_8_of(run));
  EXPECT_THAT(row, HasSubstr(R"("retractedAt":"2026-08-20T12:00:00.000Z")"));
  EXPECT_THAT(row, HasSubstr(R"("retractionReason":"disqualified: cached")"));
}

TEST(Export, ASupersededRunIsNamedByTheOneThatReplacesIt) {
  Room sample;
  sample.import_sample();
  const Digest run = must(Digest::parse(kRun));
  const History group =
      must(history(sample.read(), must(view_run(sample.read(), run)).row.group.value()));
  ASSERT_GE(group.runs.size(), 2u);
  const Digest other = group.runs[0].digest == run ? group.runs[1].digest : group.runs[0].digest;
  must(attest(sample.ledger(), {run, Supersession{"a better build", other}}, maintainer().key));
  const std::string rows = exported(sample);
  EXPECT_THAT(row_with(rows, "benchmark_runs", "\"id\":\"" + version_8_of(other)),
              HasSubstr(R"("supersedesId":")" + version_8_of(run) + "\""));
  Room copy;
  expect_taken_whole(import_rows(copy, rows));
  EXPECT_THAT(must(view_run(copy.read(), run)).reasons, Contains("SUPERSEDED_BY_SOURCE"));
  EXPECT_TRUE(must(view_run(copy.read(), other)).eligible());
}

// A copy of a catalog must not wash what its ledger does not stand by.
TEST(Export, ARetractedImportLeavesNothing) {
  Room sample;
  sample.import_sample();
  const std::vector<ImportRange> imports = sample.read().state().imports;
  ASSERT_EQ(imports.size(), 1u);
  must(attest(sample.ledger(), {imports[0].id, Retraction{"the wrong folder"}}, maintainer().key));
  std::string told;
  EXPECT_EQ(rows_in(exported(sample, &told)), 0u);
  EXPECT_THAT(told, HasSubstr("\"NOT_REPORTED\":7"));
  EXPECT_THAT(told, HasSubstr("\"NOT_COVERED\":"));
}

TEST(Export, WhatIsWithheldIsCountedAndSoIsWhatRefersToIt) {
  Room sample;
  sample.import_sample();
  const Digest implementation =
      must(view_run(sample.read(), must(Digest::parse(kRun)))).row.implementation;
  const Digest document =
      must(sample.read().subject(implementation)).value().claims.front().document;
  const KeyFile root = must(read_role_key(shared_keys(), Role::root, ""));
  must(withhold(sample.ledger(), document, "licence", root.key));
  std::string told;
  const std::string rows = exported(sample, &told);
  EXPECT_THAT(told, HasSubstr(R"("WITHHELD":1)"));
  EXPECT_THAT(told, HasSubstr(R"("REFERENCE_LEFT_OUT":1)"));
  EXPECT_THAT(rows, Not(HasSubstr(version_8_of(implementation))));
  EXPECT_THAT(row_with(rows, "benchmark_runs", kRun), IsEmpty());
  Room copy;
  expect_taken_whole(import_rows(copy, rows));
}

// ---- ids that others claim ----

std::string project_row(const std::string& id, const std::string& name) {
  return R"({"table":"projects","row":{"id":")" + id + R"(","slug":")" + name + R"(","name":")" +
         name +
         R"(","manifest":{"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject",)"
         R"("metadata":{"name":")" +
         name + R"("},"spec":{"name":")" + name + "\"}}}}\n";
}

Digest project_identity(const std::string& name) {
  return sha256(
      R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","spec":{"name":")" +
      name + "\"}}");
}

TEST(Export, AnIdThatTwoClaimIsTheFirstOnes) {
  const std::string id = "01a00329-41a6-71e3-bca0-fe2f2ce49f0f";
  Room room;
  import_rows(room, project_row(id, "one"));
  import_rows(room, project_row(id, "two"));
  const std::string rows = exported(room);
  EXPECT_THAT(row_with(rows, "projects", "\"id\":\"" + id), HasSubstr("\"slug\":\"one\""));
  EXPECT_THAT(row_with(rows, "projects", "\"slug\":\"two\""),
              HasSubstr("\"id\":\"" + version_8_of(project_identity("two"))));
  Room copy;
  expect_taken_whole(import_rows(copy, rows));
}

TEST(Export, NobodyTakesAnIdThatIsMadeOfAnothersDigest) {
  const std::string id = version_8_of(project_identity("two"));
  Room room;
  import_rows(room, project_row(id, "one"));
  import_rows(room, project_row(id, "two"));
  const std::string rows = exported(room);
  EXPECT_THAT(row_with(rows, "projects", "\"id\":\"" + id), HasSubstr("\"slug\":\"two\""));
  EXPECT_THAT(row_with(rows, "projects", "\"slug\":\"one\""),
              HasSubstr("\"id\":\"" + version_8_of(project_identity("one"))));
}

TEST(Export, AnImplementationWhoseProjectNobodyNamedIsTakenBack) {
  Room sample;
  sample.import_sample();
  std::string rows;
  for_each_row(exported(sample), [&](const CatalogLine& line) {
    if (line.table == "projects") return;
    json::Arena arena;
    json::ObjectBuilder row(arena);
    for (const json::Member& column : line.row.object()) {
      row.add(column.name, column.name == "projectId" ? json::Value() : column.value);
    }
    rows += R"({"table":")" + line.table + R"(","row":)" + json::canonical(row.finish()) + "}\n";
  });
  Room without;
  expect_taken_whole(import_rows(without, rows));
  const std::string again = exported(without);
  EXPECT_THAT(row_with(again, "implementations", "sol-submission-15866"),
              HasSubstr("\"projectId\":null"));
  EXPECT_EQ(rows_in(again), rows_in(rows));
}

}  // namespace
}  // namespace kernelindex::test
