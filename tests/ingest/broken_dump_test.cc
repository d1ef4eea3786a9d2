// SPDX-License-Identifier: Apache-2.0
// A dump with one thing wrong at a time: that item is set aside with its reason, the rest comes.
#include <gtest/gtest.h>

#include "ingest/sol_execbench.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Finding;
using ingest::FindingClass;
using test::CollectingSink;
using test::replace_once;
using test::SourceFiles;

// The sample: kernel 17 with four submissions and 16 cases, kernel 79 with three and 16.
class BrokenDump : public testing::Test {
 protected:
  BrokenDump() : files_(SourceFiles::of_folder(test::source_root() / "tools/sample")) {}

  void import() {
    sink_ = CollectingSink();
    const std::vector<ingest::SourceFile> view = files_.view();
    status_ = ingest::import_sol_execbench(view, options_, sink_);
  }
  // Imports; exactly one item is quarantined.
  const Finding& import_with_one_fault() {
    import();
    EXPECT_TRUE(status_) << status_.error().text();
    const std::vector<const Finding*> quarantined = sink_.findings(FindingClass::quarantined);
    EXPECT_EQ(quarantined.size(), 1u) << sink_.said();
    static const Finding none;
    return quarantined.empty() ? none : *quarantined[0];
  }
  std::string& kernel() { return files_.bytes_of("kernels/17.json"); }
  std::string& page() { return files_.bytes_of("submissions/17.json"); }
  std::size_t runs() const { return sink_.claims_of(ManifestKind::benchmark_run); }
  std::size_t operations() const { return sink_.claims_of(ManifestKind::operation_spec); }
  std::size_t skipped() const {
    std::size_t total = 0;
    for (const auto& [reason, count] : sink_.skips) {
      total += reason.starts_with("kernel_") && reason != "kernel_quarantined" ? 0 : count;
    }
    return total;
  }

  SourceFiles files_;
  ingest::SolExecbenchOptions options_;
  CollectingSink sink_;
  Status status_;
};

TEST_F(BrokenDump, ABadWorkloadEntrySetsItsKernelAside) {
  replace_once(kernel(), "\"num_tokens\": 3089", "\"num_tokens\": \"3089\"");
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.locator, "kernels/17.json");
  EXPECT_EQ(fault.item, "/data");
  EXPECT_EQ(fault.code, "BAD_SHAPE");
  EXPECT_EQ(fault.reason, "workloads[0].axes.num_tokens: expected an integer");
  EXPECT_EQ(operations(), 1u);
  EXPECT_EQ(runs(), 3u);
  EXPECT_EQ(sink_.skipped_count("kernel_quarantined"), 4u);
  EXPECT_EQ(sink_.files.size(), 5u) << "the snapshots are kept all the same";
}

TEST_F(BrokenDump, ADuplicateKeySetsItsSubmissionAside) {
  replace_once(page(), "\"id\": 1307,", "\"id\": 1307, \"i\\u0064\": 1308,");
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.code, "DUPLICATE_KEY");
  EXPECT_EQ(fault.item, "/data/submissions/3");
  EXPECT_EQ(runs(), 6u);
}

TEST_F(BrokenDump, BadUtf8SetsItsSubmissionAside) {
  replace_once(page(), "\"username\": \"Hyra\"", "\"username\": \"Hy\xC3ra\"");
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.code, "BAD_UTF8");
  EXPECT_EQ(fault.item, "/data/submissions/0");
  EXPECT_EQ(runs(), 6u);
}

TEST_F(BrokenDump, ALoneSurrogateSetsItsSubmissionAside) {
  replace_once(page(), "\"username\": \"Hyra\"", "\"username\": \"Hy\\ud800ra\"");
  EXPECT_EQ(import_with_one_fault().code, "LONE_SURROGATE");
  EXPECT_EQ(runs(), 6u);
}

TEST_F(BrokenDump, AnIntegerBeyondTwoTo53SetsItsItemAside) {
  replace_once(page(), "\"id\": 1307,", "\"id\": 9007199254740993,");
  EXPECT_EQ(import_with_one_fault().code, "UNSAFE_INTEGER");
  EXPECT_EQ(runs(), 6u);
  replace_once(kernel(), "\"num_tokens\": 3089", "\"num_tokens\": 9007199254740993");
  import();
  ASSERT_EQ(sink_.findings(FindingClass::quarantined).size(), 2u) << sink_.said();
  EXPECT_EQ(operations(), 1u);
}

TEST_F(BrokenDump, ADefectOutsideTheItemsSetsThePageAside) {
  replace_once(page(), "\"total\": 4", "\"total\": 4, \"total\": 5");
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.locator, "submissions/17.json");
  EXPECT_EQ(fault.code, "DUPLICATE_KEY");
  EXPECT_EQ(runs(), 3u);
  EXPECT_EQ(operations(), 2u);
}

TEST_F(BrokenDump, EmptyAndCutFilesAreSetAside) {
  page() = "";
  EXPECT_EQ(import_with_one_fault().code, "EMPTY_DOCUMENT");
  EXPECT_EQ(runs(), 3u);
  page() = "{\"data\": {\"submissions\": [";
  EXPECT_EQ(import_with_one_fault().code, "BAD_JSON");
  page() = "\xEF\xBB\xBF{\"data\": {\"submissions\": []}}";
  EXPECT_EQ(import_with_one_fault().code, "BAD_JSON") << "a byte order mark is no JSON";
}

TEST_F(BrokenDump, NestingAndHugeNumbersAreSetAside) {
  page() = std::string(100'000, '[');
  EXPECT_EQ(import_with_one_fault().locator, "submissions/17.json");
  page() = "{\"submissions\": [{\"id\": " + std::string(100'000, '9') + "}]}";
  EXPECT_EQ(import_with_one_fault().code, "NUMBER_TOO_LONG");
}

TEST_F(BrokenDump, WrongTypesAreSetAside) {
  page() = "{\"data\": {\"submissions\": {}}}";
  EXPECT_EQ(import_with_one_fault().code, "BAD_SHAPE");
  page() = "{\"data\": {\"submissions\": [1, {\"id\": \"x\"}]}}";
  import();
  ASSERT_EQ(sink_.findings(FindingClass::quarantined).size(), 2u) << sink_.said();
  EXPECT_EQ(sink_.findings(FindingClass::quarantined)[0]->reason, "expected an object");
  EXPECT_EQ(sink_.findings(FindingClass::quarantined)[1]->reason, "id: expected an integer");
  EXPECT_EQ(runs(), 3u);
}

TEST_F(BrokenDump, ATypeOtherThanDocumentedSetsTheSubmissionAside) {
  replace_once(page(), "\"sol_score\": 0.325551", "\"sol_score\": \"0.325551\"");
  EXPECT_EQ(import_with_one_fault().reason, "sol_score: expected a number");
  EXPECT_EQ(runs(), 6u);
}

TEST_F(BrokenDump, ATimeThatIsNoneSetsTheSubmissionAside) {
  replace_once(page(), "\"2026-04-20T20:30:41.723\"", "\"2026-02-30T00:00:00\"");
  EXPECT_EQ(import_with_one_fault().code, "BAD_TIME");
  replace_once(page(), "\"2026-02-30T00:00:00\"", "null");
  EXPECT_EQ(import_with_one_fault().code, "NO_TIME");
  EXPECT_EQ(runs(), 6u);
}

TEST_F(BrokenDump, AMissingDescriptionIsSaidOnce) {
  kernel() = "nothing here";
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.code, "KERNEL_MISSING");
  EXPECT_EQ(sink_.skipped_count("kernel_missing"), 4u);
  EXPECT_EQ(runs(), 3u);
}

TEST_F(BrokenDump, AnotherDescriptionOfAKernelIsSetAside) {
  std::string other = kernel();
  replace_once(other, "\"num_tokens\": 3089", "\"num_tokens\": 3090");
  files_.add("old/17.json", other);
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.code, "KERNEL_DIFFERS");
  EXPECT_EQ(fault.locator, "old/17.json");
  EXPECT_EQ(runs(), 7u);
  files_.bytes_of("old/17.json") = kernel();
  import();
  EXPECT_TRUE(sink_.findings(FindingClass::quarantined).empty()) << sink_.said();
  EXPECT_EQ(sink_.skipped_count("kernel_repeated"), 1u);
}

TEST_F(BrokenDump, ASuiteWithoutCasesSetsItsSubmissionsAside) {
  const std::size_t start = kernel().find("\"workloads\": [");
  kernel() = kernel().substr(0, start) + "\"workloads\": []}}";
  import_with_one_fault();
  EXPECT_EQ(operations(), 2u);
  EXPECT_EQ(sink_.skipped_count("suite_quarantined"), 4u);
  EXPECT_EQ(runs(), 3u);
}

TEST_F(BrokenDump, AnUnboundAxisSetsTheCaseAsideAndTheSuiteStillListsIt) {
  replace_once(kernel(), "\"num_tokens\": 3089", "\"tokens\": 3089");
  const Finding& fault = import_with_one_fault();
  EXPECT_EQ(fault.item, "/data/workloads/0");
  EXPECT_EQ(fault.code, "UNBOUND_AXIS");
  EXPECT_EQ(sink_.claims_of(ManifestKind::workload_case), 31u);
  EXPECT_EQ(sink_.claims_of(ManifestKind::workload_suite), 2u);
}

TEST_F(BrokenDump, NothingOfADumpIsAnError) {
  files_ = SourceFiles();
  import();
  EXPECT_FALSE(status_);
  files_.add("README.md", "# A dump").add("x.json", "{\"data\": 3}");
  import();
  ASSERT_FALSE(status_);
  EXPECT_EQ(status_.error().code, "NOT_A_DUMP");
  EXPECT_EQ(sink_.findings(FindingClass::review).size(), 2u);
}

TEST_F(BrokenDump, UnknownMembersAtAnyDepthAreSaidOnce) {
  replace_once(page(), "\"id\": 1307,", "\"id\": 1307, \"result_available_at\": 1,");
  replace_once(page(), "\"id\": 23599,", "\"id\": 23599, \"result_available_at\": 2,");
  replace_once(kernel(), "\"num_tokens\": {", "\"num_tokens\": {\"colour\": 1,");
  import();
  std::vector<std::string> said;
  for (const Finding* finding : sink_.findings(FindingClass::drift))
    said.push_back(finding->reason);
  const std::vector<std::string> expected = {
      "kernelDetail.axes: unknown upstream field 'colour'",
      "submission: unknown upstream field 'result_available_at'"};
  EXPECT_EQ(said, expected);
  EXPECT_EQ(runs(), 7u);
}

TEST_F(BrokenDump, WhatIsNotChosenIsCountedByReason) {
  std::string& page = files_.bytes_of("submissions/79.json");
  const std::string records = R"({"submissions": [
    {"id":1,"kernel_id":79,"username":"a","kernel_name":"k","status":"QUEUED","gpu_type":"B200"},
    {"id":2,"kernel_id":79,"username":"a","kernel_name":"k","status":"FAILED","gpu_type":"B200"},
    {"id":3,"kernel_id":79,"username":"a","kernel_name":"k","status":"COMPLETED","is_correct":false,"gpu_type":"B200"},
    {"id":4,"kernel_id":79,"username":"a","kernel_name":"k","status":"COMPLETED","is_correct":true,"is_disqualified":true,"latency_ms":1,"gpu_type":"B200"},
    {"id":5,"kernel_id":79,"username":"a","kernel_name":"k","status":"COMPLETED","is_correct":true,"latency_ms":0,"gpu_type":"B200"},
    {"id":6,"kernel_id":79,"username":"a","kernel_name":"k","status":"COMPLETED","is_correct":true,"latency_ms":0.000001,"gpu_type":"B200"},
    {"id":36950,"kernel_id":79,"username":"a","kernel_name":"k","status":"COMPLETED","is_correct":true,"latency_ms":0.000001,"gpu_type":"B200"},
    {"id":7,"kernel_id":79,"username":"张三","kernel_name":"k","status":"COMPLETED","is_correct":true,"latency_ms":0.0317325,"sol_score":0.5,"gpu_type":"MI300X","submission_mode":"private","submitted_at":"2026-08-14T05:38:44.902912"},
    {"id":8,"kernel_id":79,"username":"李四","kernel_name":"k","status":"COMPLETED","is_correct":true,"latency_ms":1,"gpu_type":"B200","finished_at":"2026-08-14T05:38:44Z"}]})";
  page = records;
  options_.top = 1;
  options_.kernels = {"079_ImageNet_83.6_ssm_output_projection_gate_multiply_backward"};
  import();
  const std::map<std::string, std::size_t, std::less<>> expected = {
      {"unfinished", 1},           {"incorrect", 3},  {"disqualified", 1}, {"implausible", 1},
      {"reviewed_implausible", 1}, {"beyond_top", 1}, {"filtered", 4},     {"kernel_filtered", 1}};
  EXPECT_EQ(sink_.skips, expected);
  EXPECT_EQ(sink_.selected_count, 1u);
  EXPECT_EQ(sink_.count("PRIVATE_SUBMISSION"), 1u);
  EXPECT_EQ(sink_.count("HARDWARE_UNLISTED"), 1u);
  EXPECT_EQ(sink_.findings(FindingClass::review).back()->code, "FASTER_THAN_LIGHT");
  const ingest::Draft* run = sink_.find(ManifestKind::benchmark_run, "sol-execbench:submission/7");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(std::get<BenchmarkRunFacts>(run->manifest.facts).primary->value, 31732.0);
}

TEST_F(BrokenDump, NamesWithoutLettersShareASlugAndKeepTheirProjects) {
  replace_once(page(), "\"username\": \"Hyra\"", "\"username\": \"张三\"");
  replace_once(page(), "\"username\": \"ac4k\"", "\"username\": \"李四\"");
  import();
  std::vector<std::string> names;
  for (const ingest::Draft& draft : sink_.drafts) {
    if (draft.manifest.kind != ManifestKind::software_project) continue;
    if (draft.facts.slug != "sol-user-") continue;
    names.push_back(std::get<ProjectFacts>(draft.manifest.facts).name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"张三", "李四"}));
}

TEST_F(BrokenDump, FurtherPagesAddAndRepeatedIdsTakeTheFinalState) {
  // A later page repeats 1307 as it is, and 23599 as it was while it ran.
  const std::size_t start = page().find("{\n    \"id\": 1307");
  const std::size_t end = page().find('}', start);
  const std::string same = page().substr(start, end - start + 1);
  files_.add("more.json", "{\"submissions\": [" + same +
                              ", {\"id\": 23599, \"kernel_id\": 17, \"username\": \"Hyra\", "
                              "\"kernel_name\": \"k\", \"status\": \"RUNNING\", "
                              "\"gpu_type\": \"B200\"}]}");
  import();
  EXPECT_TRUE(sink_.findings(FindingClass::quarantined).empty()) << sink_.said();
  EXPECT_EQ(sink_.skipped_count("repeated"), 2u);
  EXPECT_EQ(runs(), 7u);
  EXPECT_EQ(sink_.files.size(), 6u);

  replace_once(files_.bytes_of("more.json"), "0.175457", "0.2");
  import();
  EXPECT_EQ(sink_.findings(FindingClass::review).back()->code, "SUBMISSION_DIFFERS");
  EXPECT_EQ(runs(), 7u);
}

TEST_F(BrokenDump, EveryRecordIsChosenOrSkippedOrSetAside) {
  // Break a byte of the page in many places: whatever happens, no record is lost unsaid.
  const std::string whole = page();
  for (std::size_t at = 0; at < whole.size(); at += 17) {
    page() = whole;
    page()[at] = page()[at] == '"' ? 'x' : '"';
    import();
    if (!status_) continue;
    bool whole_page = false;
    for (const Finding* finding : sink_.findings(FindingClass::quarantined)) {
      whole_page |= finding->locator == "submissions/17.json" &&
                    finding->item.find("/submissions/") == std::string::npos;
    }
    for (const Finding* finding : sink_.findings(FindingClass::review)) {
      whole_page |= finding->locator == "submissions/17.json" && finding->code == "UNKNOWN_FILE";
    }
    if (whole_page) continue;
    std::size_t records = sink_.selected_count + skipped();
    for (const Finding* finding : sink_.findings(FindingClass::quarantined)) {
      records += finding->item.find("/submissions/") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(records, 7u) << at << "\n" << sink_.said();
  }
}

}  // namespace
}  // namespace kernelindex
