// SPDX-License-Identifier: Apache-2.0
// The sample dump of this repository, and the two run pages it was chosen for.
#include <gtest/gtest.h>

#include "ingest/kernelindex_run_page.h"
#include "ingest/sol_execbench.h"
#include "ingest/sources.h"
#include "schema/comparison_key.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Draft;
using ingest::FindingClass;
using test::CollectingSink;
using test::SourceFiles;

struct Seed {
  std::string id;
  std::string run;
  std::string key;
};
const Seed kSeeds[] = {
    {"15866", "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc",
     "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f"},
    {"1307", "sha256:bcac4b197aba0543b89e933a31d55a844b179082f6006b1233cddff3d8b17d60",
     "sha256:9c30d4100296278b7b0e4fe9a112a531f6186c0c92ce9a72f257bb0793f2bf11"}};

std::string page_of(const std::string& id) {
  return test::read_file(test::source_root() / "tests/ingest/data" / ("run-" + id + ".json"));
}

CollectingSink import_sample() {
  const SourceFiles files = SourceFiles::of_folder(test::source_root() / "tools/sample");
  CollectingSink sink;
  const std::vector<ingest::SourceFile> view = files.view();
  const Status done = ingest::import_sol_execbench(view, {}, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

CollectingSink import_page(const std::string& bytes) {
  CollectingSink sink;
  const std::vector<ingest::SourceFile> files = {{"page.json", "application/json", {}, bytes}};
  const Status done = ingest::import_kernelindex_run(files, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

TEST(Sample, GivesBothSeedRunsAndTheirComparisonKeys) {
  const CollectingSink sink = import_sample();
  EXPECT_EQ(sink.selected_count, 7u);
  EXPECT_EQ(sink.claims_of(ManifestKind::operation_spec), 2u);
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  EXPECT_TRUE(sink.findings(FindingClass::drift).empty()) << sink.said();
  for (const Seed& seed : kSeeds) {
    const Draft* run =
        sink.find(ManifestKind::benchmark_run, "sol-execbench:submission/" + seed.id);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->manifest.identity.text(), seed.run);
    EXPECT_EQ(run->facts.marks, std::vector<std::string>{"zone_assumed"});
    const auto& facts = std::get<BenchmarkRunFacts>(run->manifest.facts);
    for (const Draft& draft : sink.drafts) {
      if (draft.manifest.identity != facts.workload) continue;
      EXPECT_EQ(comparison_key(facts, std::get<WorkloadFacts>(draft.manifest.facts)).text(),
                seed.key);
    }
  }
}

TEST(RunPage, GivesTheSameRunAsTheSample) {
  const CollectingSink sample = import_sample();
  for (const Seed& seed : kSeeds) {
    const CollectingSink page = import_page(page_of(seed.id));
    ASSERT_EQ(page.drafts.size(), 3u);
    const std::string id = "sol-execbench:submission/" + seed.id;
    const Draft* run = page.find(ManifestKind::benchmark_run, id);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run, &page.drafts.back()) << "what the run refers to comes before it";
    EXPECT_EQ(run->manifest.identity.text(), seed.run);
    EXPECT_EQ(run->source, "sol-execbench");
    EXPECT_EQ(run->via, "kernelindex");
    EXPECT_EQ(run->item, "/run");
    EXPECT_EQ(sample.find(ManifestKind::benchmark_run, id)->manifest.document,
              run->manifest.document);
  }
}

TEST(RunPage, AProtocolThatIsNotTheRunsIsQuarantinedWithBothDigests) {
  std::string page = page_of("1307");
  test::replace_once(page, "\"version\": \"v1.0\"", "\"version\": \"v1.1\"");
  const CollectingSink sink = import_page(page);
  EXPECT_TRUE(sink.drafts.empty());
  ASSERT_EQ(sink.all_findings.size(), 1u);
  EXPECT_EQ(sink.all_findings[0].code, "DIGEST_DIFFERS");
  EXPECT_NE(sink.all_findings[0].reason.find("2964c5c4"), std::string::npos);
  EXPECT_NE(sink.all_findings[0].reason.find("6383f624"), std::string::npos);
}

TEST(RunPage, AnotherFileIsRefused) {
  for (const std::string bytes : {"", "{}", "[1]", "{\"run\":{}}", "not json"}) {
    CollectingSink sink;
    const std::vector<ingest::SourceFile> files = {{"page.json", "application/json", {}, bytes}};
    const Status done = ingest::import_kernelindex_run(files, sink);
    ASSERT_FALSE(done) << bytes;
    EXPECT_EQ(done.error().kind, ErrorKind::invalid);
    EXPECT_TRUE(done.error().place.starts_with("page.json")) << done.error().text();
    EXPECT_TRUE(sink.drafts.empty());
  }
}

TEST(Sources, FilesAreKnownByTheirContent) {
  const SourceFiles files = SourceFiles::of_folder(test::source_root() / "tools/sample");
  for (const ingest::SourceFile& file : files.view()) {
    const ingest::SourceInfo* source = ingest::recognise_source(file.bytes.substr(0, 65536));
    if (file.locator == "README.md") {
      EXPECT_EQ(source, nullptr);
    } else {
      ASSERT_NE(source, nullptr) << file.locator;
      EXPECT_EQ(source->name, "sol-execbench") << file.locator;
    }
  }
  EXPECT_EQ(ingest::recognise_source(page_of("1307"))->name, "kernelindex-run");
  EXPECT_EQ(ingest::recognise_source("{\"table\":\"sources\",\"row\":{}}\n")->name,
            "kernelindex-catalog");
  EXPECT_EQ(ingest::recognise_source("{\"table\":\"tennis\"}"), nullptr);
  EXPECT_EQ(ingest::find_source("sol-execbench")->attribution, "NVIDIA SOL-ExecBench");
  EXPECT_EQ(ingest::find_source("sol"), nullptr);
}

}  // namespace
}  // namespace kernelindex
