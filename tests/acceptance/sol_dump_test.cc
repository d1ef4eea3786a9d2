// SPDX-License-Identifier: Apache-2.0
// What a saved leaderboard dump must give: into an empty ledger, and after the catalog that knows
// all of it already.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ledger/identify.h"
#include "ledger/query.h"
#include "schema/json_reader.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"
#include "verify/audit.h"

namespace kernelindex::test {
namespace {

namespace fs = std::filesystem;

// A line of expected.jsonl.
struct Expected {
  std::string kind;
  std::string external_id;
  std::string slug;
  std::string project_slug;
  Digest digest;
  std::map<std::string, Digest> digests;  // the other members that are digests
  double value = 0;
};

std::vector<Expected> expected_objects() {
  std::vector<Expected> out;
  const std::string text = read_file(dump_folder() / "expected.jsonl");
  json::Arena arena;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const json::Value line = must(json::parse(text.substr(begin, end - begin), arena));
    begin = end == std::string::npos ? text.size() : end + 1;
    Expected object{std::string(line.text("kind")),
                    std::string(line.text("externalId")),
                    std::string(line.text("slug")),
                    std::string(line.text("projectSlug")),
                    must(Digest::parse(line.text("digest"))),
                    {},
                    0};
    for (const json::Member& member : line.object()) {
      if (!member.value.is_string()) continue;
      if (const Result<Digest> digest = Digest::parse(member.value.string())) {
        object.digests.emplace(member.name, *digest);
      }
    }
    if (const json::Value* value = line.find("primaryValueNs")) object.value = value->number();
    out.push_back(std::move(object));
  }
  return out;
}

std::size_t identities(const Reader& reader, ManifestKind kind) {
  std::size_t count = 0;
  StoreCursor cursor = reader.view().scan(Space::derived, "s");
  for (; cursor.valid(); cursor.next()) {
    if (must(decode_subject_row(cursor.value())).kind == kind) ++count;
  }
  must(cursor.status());
  return count;
}

// Manifest entries from `first` on, by kind; and that none of them named an object not held before.
std::map<ManifestKind, std::size_t> claims_from(const Reader& reader, std::uint64_t first,
                                                const std::set<Digest>& held) {
  std::map<ManifestKind, std::size_t> counts;
  for (std::uint64_t index = first; index < reader.head().size; ++index) {
    const Entry entry = must(reader.entry(index));
    const auto* claim = std::get_if<ManifestEntry>(&entry.body);
    if (claim == nullptr) continue;
    ++counts[claim->kind];
    EXPECT_TRUE(held.contains(entry.content.digest)) << index;
    EXPECT_EQ(claim->source, "sol-execbench");
    EXPECT_EQ(claim->via, "");
  }
  return counts;
}

// Every file below a folder with its bytes.
std::map<std::string, std::string> bytes_below(const fs::path& folder) {
  std::map<std::string, std::string> out;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder)) {
    if (file.is_regular_file()) out.emplace(file.path().string(), read_file(file.path()));
  }
  return out;
}

class SolDump : public ::testing::Test {
 protected:
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }

  // The best three of each kernel in a ledger that held nothing.
  struct Imported {
    Room room;
    ingest::ImportReport report;
    Imported() : report(room.import_dump(3)) {}
  };
  static Imported& imported() {
    static Imported imported;
    return imported;
  }
  static Reader read() { return imported().room.read(); }

  static Room& after_catalog() {
    static Room room = [] {
      Room fresh;
      fresh.import_catalog();
      return fresh;
    }();
    return room;
  }
  static std::vector<std::string> moves(const Reader& reader) {
    std::vector<std::string> out;
    for (const RecordView& move : must(list_records(reader, {}))) {
      out.push_back(move.key.hex() + move.run.hex() + (move.previous ? move.previous->hex() : "") +
                    std::to_string(move.at));
    }
    std::ranges::sort(out);
    return out;
  }
};

TEST_F(SolDump, CountsOfTheBestThree) {
  EXPECT_EQ(imported().report.selected, 705u);
  EXPECT_FALSE(imported().report.quarantined());
  const Reader reader = read();
  EXPECT_EQ(identities(reader, ManifestKind::operation_spec), 235u);
  EXPECT_EQ(identities(reader, ManifestKind::workload_case), 3'924u);
  EXPECT_EQ(identities(reader, ManifestKind::workload_suite), 235u);
  EXPECT_EQ(identities(reader, ManifestKind::implementation_revision), 705u);
  EXPECT_EQ(identities(reader, ManifestKind::benchmark_run), 705u);
  EXPECT_EQ(identities(reader, ManifestKind::benchmark_protocol), 2u);
  EXPECT_EQ(identities(reader, ManifestKind::execution_environment), 2u);
}

TEST_F(SolDump, EveryDigestAndKeyAsReadBackFromTheLedger) {
  const std::map<std::string, ManifestKind> kinds = {
      {"operation", ManifestKind::operation_spec},
      {"case", ManifestKind::workload_case},
      {"suite", ManifestKind::workload_suite},
      {"implementation", ManifestKind::implementation_revision},
      {"run", ManifestKind::benchmark_run},
      {"protocol", ManifestKind::benchmark_protocol},
      {"environment", ManifestKind::execution_environment}};
  const Reader reader = read();
  std::map<std::string, std::set<Digest>> seen;
  for (const Expected& expected : expected_objects()) {
    SCOPED_TRACE(expected.kind + " " + expected.external_id);
    seen[expected.kind].insert(expected.digest);
    const ManifestKind kind = kinds.at(expected.kind);
    const auto row = must(reader.subject(expected.digest));
    ASSERT_TRUE(row);
    EXPECT_EQ(row->kind, kind);
    const ShownManifest shown = must(show_manifest(reader, expected.digest));
    EXPECT_EQ(must(read_manifest(shown.bytes)).identity, expected.digest);
    if (!expected.slug.empty()) {
      EXPECT_EQ(row->claims.front().facts.slug, expected.slug);
    }
    if (expected.kind != "run") continue;
    const RunView run = must(view_run(reader, expected.digest));
    EXPECT_EQ(run.row.group, expected.digests.at("comparisonKey"));
    EXPECT_EQ(shown.comparison_key, expected.digests.at("comparisonKey"));
    EXPECT_EQ(run.row.implementation, expected.digests.at("implementation"));
    EXPECT_EQ(run.row.workload, expected.digests.at("workload"));
    EXPECT_EQ(run.row.protocol, expected.digests.at("protocol"));
    EXPECT_EQ(run.row.environment, expected.digests.at("environment"));
    EXPECT_EQ(run.row.value, expected.value);
    const Candidate named = must(identify(reader, "sol-execbench:" + expected.external_id));
    EXPECT_EQ(named.digest, expected.digest);
  }
  EXPECT_EQ(seen["case"].size(), 3'924u);
  EXPECT_EQ(seen["run"].size(), 705u);
}

TEST_F(SolDump, WithoutALimitEveryCompleteAndCorrectSubmission) {
  std::set<std::string> wanted;
  json::Arena arena;
  for (const fs::directory_entry& file : fs::directory_iterator(dump_folder() / "submissions")) {
    const json::Value page =
        must(json::parse(read_file(file.path()), arena, {limits::kSourceJsonBytes, 64}));
    for (const json::Value& item : page.find({"data", "submissions"})->array()) {
      const json::Value* disqualified = item.find("is_disqualified");
      if (item.text("status") == "COMPLETED" && item.find("is_correct")->boolean() &&
          !(disqualified != nullptr && disqualified->is_boolean() && disqualified->boolean())) {
        wanted.insert(std::to_string(static_cast<std::uint64_t>(item.find("id")->number())));
      }
    }
  }
  Room room;
  const ingest::ImportReport report = room.import_dump(std::nullopt);
  EXPECT_EQ(report.selected, wanted.size());
  const Reader reader = room.read();
  for (const std::string& id : wanted) {
    EXPECT_TRUE(identify(reader, "sol-execbench:run:submission/" + id)) << id;
  }
  EXPECT_EQ(must(list_runs(reader, {})).runs.size(), wanted.size());
}

TEST_F(SolDump, AfterTheCatalogOnlyClaims) {
  Room& room = after_catalog();
  const TreeHead before = room.head();
  std::set<Digest> held;
  for (const Digest& object : objects(room.read())) held.insert(object);
  std::map<Digest, Digest> projects;  // of implementations
  for (const RunView& run : must(list_runs(room.read(), {})).runs) {
    if (run.row.project) projects.emplace(run.row.implementation, *run.row.project);
  }

  const ingest::ImportReport report = room.import_dump(3);
  EXPECT_FALSE(report.quarantined());
  const Reader reader = room.read();
  const std::map<ManifestKind, std::size_t> claims = claims_from(reader, before.size, held);
  // One for each run and each thing that it refers to; no claim of a project, whose known
  // manifest stays.
  const std::map<ManifestKind, std::size_t> expected = {
      {ManifestKind::operation_spec, 235},   {ManifestKind::workload_case, 3'924},
      {ManifestKind::workload_suite, 235},   {ManifestKind::implementation_revision, 705},
      {ManifestKind::benchmark_protocol, 2}, {ManifestKind::execution_environment, 2},
      {ManifestKind::benchmark_run, 705}};
  EXPECT_EQ(claims, expected);

  std::map<std::string, std::size_t> review;
  for (const ingest::Finding& finding : report.findings) {
    if (finding.kind == ingest::FindingClass::review) ++review[finding.code];
  }
  EXPECT_GT(review["PROJECT_DIFFERS"], 0u);
  for (const Expected& run : expected_objects()) {
    if (run.kind != "run") continue;
    const auto row = must(reader.subject(run.digest));
    ASSERT_TRUE(row);
    ASSERT_EQ(row->claims.size(), 2u) << run.external_id;
    const auto implementation = must(reader.subject(run.digests.at("implementation")));
    ASSERT_TRUE(implementation);
    ASSERT_EQ(implementation->claims.size(), 2u);
    EXPECT_EQ(implementation->claims.back().facts.project,
              projects.at(run.digests.at("implementation")));
    EXPECT_EQ(must(view_run(reader, run.digest)).row.group, run.digests.at("comparisonKey"));
  }

  const ingest::ImportReport again = room.import_dump(3);
  EXPECT_EQ(again.recorded.manifests + again.recorded.snapshots + again.recorded.artifacts +
                again.recorded.attestations,
            0u);
  EXPECT_EQ(room.head().size, reader.head().size);
  EXPECT_EQ(room.head().root, reader.head().root);
  EXPECT_TRUE(audit(room.ledger()).ok()) << audit(room.ledger()).json().substr(0, 2000);
}

// Whichever source came first, the same questions have the same answers.
TEST_F(SolDump, BeforeTheCatalogTheSameTransitionsAsWithoutIt) {
  Room room;
  room.import_dump(3);
  room.import_catalog();
  EXPECT_EQ(moves(room.read()).size(), 2'940u);
  EXPECT_EQ(moves(room.read()), moves(after_catalog().read()));
}

TEST_F(SolDump, ADryRunWritesNothing) {
  Room room;
  room.close();
  const std::map<std::string, std::string> before = bytes_below(room.folder());
  const Outcome outcome = room.run(
      {"import", "sol-execbench", dump_folder().string(), "--top", "3", "--dry-run", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(bytes_below(room.folder()), before);
  json::Arena arena;
  const json::Value report =
      must(json::parse(outcome.out, arena, {limits::kSourceJsonBytes, limits::kJsonDepth}));
  const std::uint64_t would_add = imported().report.recorded.manifests;
  EXPECT_EQ(report.find({"recorded", "manifests"})->number(), static_cast<double>(would_add));
  EXPECT_EQ(report.find("selected")->number(), 705);
}

}  // namespace
}  // namespace kernelindex::test
