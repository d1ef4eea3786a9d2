// SPDX-License-Identifier: Apache-2.0
// time_importers [REPEATS]: how fast each importer turns bytes into drafts, without a ledger: MB of
// input (decompressed) a second of one core, the best of the repeats, and by how many MB the
// process grew beside the input. Then one format of each shape made large, for the memory alone.
// Each in a process of its own. Needs the corpora.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
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
  ingest::ImportOptions options = {};
  double decompressed_bytes = 0;  // 0: as it lies
  // Makes the files large; null: as they are.
  std::function<void(test::SourceFiles&)> enlarge = nullptr;
};

// A list of JSON with its items so many times.
void repeat_items(std::string& list, int times) {
  const std::size_t begin = list.find('[') + 1;
  const std::string items = list.substr(begin, list.rfind(']') - begin);
  list = "[" + items;
  for (int i = 1; i < times; ++i) list += "," + items;
  list += "]";
}

// Lines behind the first `head` ones so many times.
void repeat_lines(std::string& text, int head, int times) {
  std::size_t begin = 0;
  for (int i = 0; i < head; ++i) begin = text.find('\n', begin) + 1;
  if (!text.ends_with('\n')) text += '\n';
  const std::string lines = text.substr(begin);
  for (int i = 1; i < times; ++i) text += lines;
}

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// "VmRSS" or "VmHWM" of this process, its resident size and the largest of it.
double resident_bytes(const char* name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name))
      return std::strtod(line.c_str() + line.find(':') + 1, nullptr) * 1024;
  }
  return 0;
}

// What making the input needed is no part of the peak (proc(5), clear_refs).
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

test::SourceFiles files_at(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return test::SourceFiles::of_folder(path);
  test::SourceFiles files;
  files.add(path.filename().string(), test::read_file(path));
  return files;
}

int measure(const Input& input, int repeats) {
  const ingest::SourceInfo* source = ingest::find_source(input.word);
  test::SourceFiles files = files_at(input.path);
  if (input.enlarge) input.enlarge(files);
  const std::vector<ingest::RecordedFile> recorded = files.recorded();
  std::uint64_t size = 0;
  for (const ingest::SourceFile& file : files.view()) size += file.bytes.size();
  forget_peak();
  const double before = resident_bytes("VmRSS");
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
  const double grown = resident_bytes("VmHWM") - before;
  const double bytes =
      input.decompressed_bytes > 0 ? input.decompressed_bytes : static_cast<double>(size);
  std::printf("%-20s %8.2f MB  %7llu claims  %7.1f MB/s  grew by %6.1f MB (%.1f times)\n",
              input.word, bytes * 1e-6, static_cast<unsigned long long>(sink.claims),
              bytes * 1e-6 / best, grown * 1e-6, grown / bytes);
  std::fflush(stdout);
  return 0;
}

// What one importer needs does not show in the next.
int measure_apart(const Input& input, int repeats) {
  const pid_t child = fork();
  if (child == 0) _exit(measure(input, repeats));
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
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
       {},
       49049841.0},
      {"mlperf",
       sources("mlperf/mlcommons-inference_results_v5.1/summary_results.json"),
       {},
       0,
       [](kernelindex::test::SourceFiles& files) {
         kernelindex::repeat_items(files.bytes_of("summary_results.json"), 29);
       }},
      {"liger",
       sources("liger/kernelindex-fixtures"),
       {},
       0,
       [](kernelindex::test::SourceFiles& files) {
         kernelindex::repeat_lines(files.bytes_of("all-benchmark-data-slice.csv"), 1, 30'000);
       }},
      {"flashinfer-bench", sources("flashinfer/kernelindex-fixtures"), revision, 0,
       [](kernelindex::test::SourceFiles& files) {
         kernelindex::repeat_lines(files.bytes_of("dataset/trace.jsonl"), 0, 20'000);
       }},
  };
  int failed = 0;
  for (const kernelindex::Input& input : inputs) {
    failed |= kernelindex::measure_apart(input, input.enlarge ? 1 : repeats);
  }
  return failed;
}
