// SPDX-License-Identifier: Apache-2.0
// time_importers [REPEATS]: how fast each importer turns bytes into drafts, without a ledger: MB of
// input a second of one core, the best of the repeats, and by how much the process grew, as a
// multiple of the input. Needs the corpora.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "ingest/import.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

// Takes what an importer gives and drops it.
class Drain final : public ingest::DraftSink {
 public:
  Status begin_file(std::size_t) override { return {}; }
  Status claim(ingest::Draft) override {
    ++claims;
    return {};
  }
  Status artifact(ingest::ArtifactDraft) override { return {}; }
  Status withdrawn(ingest::WithdrawalDraft) override { return {}; }
  void finding(ingest::Finding) override {}
  void skipped(std::string_view) override {}
  void selected() override {}
  void counted(std::string_view, std::uint64_t) override {}

  std::uint64_t claims = 0;
};

struct Input {
  const char* word;
  std::string path;
  ingest::ImportOptions options;
};

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::uint64_t peak_bytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

test::SourceFiles files_at(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return test::SourceFiles::of_folder(path);
  test::SourceFiles files;
  files.add(path.filename().string(), test::read_file(path));
  return files;
}

int measure(const Input& input, int repeats) {
  const ingest::SourceInfo* source = ingest::find_source(input.word);
  const test::SourceFiles files = files_at(input.path);
  const std::vector<ingest::RecordedFile> recorded = files.recorded();
  std::uint64_t size = 0;
  for (const ingest::SourceFile& file : files.view()) size += file.bytes.size();
  const std::uint64_t before = peak_bytes();
  double best = 1e9;
  Drain sink;
  for (int i = 0; i < repeats; ++i) {
    sink.claims = 0;
    const double start = processor_seconds();
    const Status done = ingest::run_importer(*source, input.options, recorded, sink);
    best = std::min(best, processor_seconds() - start);
    if (!done) {
      std::fprintf(stderr, "%s: %s\n", input.word, done.error().text().c_str());
      return 1;
    }
  }
  std::printf("%-20s %8.2f MB  %7llu claims  %7.1f MB/s  grew by %.1f times the input\n",
              input.word, static_cast<double>(size) * 1e-6,
              static_cast<unsigned long long>(sink.claims), static_cast<double>(size) * 1e-6 / best,
              static_cast<double>(peak_bytes() - before) / static_cast<double>(size));
  return 0;
}

}  // namespace
}  // namespace kernelindex

int main(int argc, char** argv) {
  using kernelindex::test::corpus_path;
  const int repeats = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const auto sources = [](const char* path) {
    return corpus_path(std::string("data/sources/") + path).string();
  };
  kernelindex::ingest::ImportOptions commit;
  commit.commit = "8d2237d2012cba81f64905b273b592653623abf9";
  kernelindex::ingest::ImportOptions revision;
  revision.revision = "da915083d4c7c5e61aa3005e3d17ae488e0fc71c";
  // From the smallest to the largest, since a process never shrinks.
  const kernelindex::Input inputs[] = {
      {"flashinfer-bench", sources("flashinfer/kernelindex-fixtures"), revision},
      {"gpumode", sources("gpumode/kernelindex-fixtures/api"), {}},
      {"kernelbench", sources("kernelbench"), {}},
      {"sol-execbench", sources("sol-execbench/nvidia-repo/examples"), commit},
      {"liger", sources("liger/linkedin/benchmark/data"), {}},
      {"mlperf", sources("mlperf/mlcommons-inference_results_v5.1/summary_results.json"), {}},
      {"sol-execbench", corpus_path("data/sol-dump").string(), {}},
      {"kernelindex-catalog",
       corpus_path("data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst").string(),
       {}},
  };
  int failed = 0;
  for (const kernelindex::Input& input : inputs) failed |= kernelindex::measure(input, repeats);
  return failed;
}
