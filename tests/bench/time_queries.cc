// SPDX-License-Identifier: Apache-2.0
// time_queries LEDGER REPEATS: how long history and show take in one process, warm.
//
// Asks for every comparison group and cohort, and shows every run, again and again; keeps the least
// time of each, and then says how the groups do against 50 us + 1 us a run, and the runs against
// 20 us. One line each: name, number of things, the median and the largest ratio to that target,
// the median in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/query.h"

namespace kernelindex::bench {
namespace {

constexpr double kHistoryMicros = 50;
constexpr double kHistoryMicrosPerRun = 1;
constexpr double kShowMicros = 20;

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::exit(6);
}

struct Question {
  Digest digest;
  double target = 0;  // microseconds
  double least = std::numeric_limits<double>::infinity();
};

template <typename Ask>
void ask_all(std::vector<Question>& questions, int repeats, const Ask& ask) {
  for (int i = 0; i < repeats; ++i) {
    for (Question& question : questions) {
      const auto start = std::chrono::steady_clock::now();
      const auto answer = ask(question.digest);
      const std::chrono::duration<double, std::micro> taken =
          std::chrono::steady_clock::now() - start;
      if (!answer) give_up(answer.error());
      question.least = std::min(question.least, taken.count());
    }
  }
}

void print(const char* name, const std::vector<Question>& questions) {
  std::vector<double> ratios;
  std::vector<double> micros;
  for (const Question& question : questions) {
    ratios.push_back(question.least / question.target);
    micros.push_back(question.least);
  }
  std::ranges::sort(ratios);
  std::ranges::sort(micros);
  std::printf("%s %zu %.3f %.3f %.2f\n", name, ratios.size(), ratios[ratios.size() / 2],
              ratios.back(), micros[micros.size() / 2]);
}

void run(const char* directory, int repeats) {
  LedgerOptions options;
  options.directory = directory;
  options.read_only = true;
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::open(options);
  if (!ledger) give_up(ledger.error());
  const Reader reader = (*ledger)->read();

  std::vector<Question> groups;
  std::vector<Question> shown;
  for (const bool serving : {false, true}) {
    RunFilter filter;
    filter.serving = serving;
    const Result<RunPage> page = list_runs(reader, filter);
    if (!page) give_up(page.error());
    for (const RunView& run : page->runs) {
      if (run.row.group) groups.push_back({.digest = *run.row.group});
      shown.push_back({.digest = run.digest, .target = kShowMicros});
    }
  }
  std::ranges::sort(groups, {}, &Question::digest);
  const auto repeated = std::ranges::unique(groups, {}, &Question::digest);
  groups.erase(repeated.begin(), repeated.end());
  for (Question& group : groups) {
    const Result<History> answer = history(reader, group.digest);
    if (!answer) give_up(answer.error());
    const auto runs = static_cast<double>(answer->runs.size());
    group.target = kHistoryMicros + kHistoryMicrosPerRun * runs;
  }
  ask_all(groups, repeats, [&](const Digest& key) { return history(reader, key); });
  ask_all(shown, repeats, [&](const Digest& digest) { return show_manifest(reader, digest); });
  print("history", groups);
  print("show", shown);
}

}  // namespace
}  // namespace kernelindex::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: time_queries LEDGER REPEATS\n", stderr);
    return 2;
  }
  kernelindex::bench::run(argv[1], std::max(1, std::atoi(argv[2])));
  return 0;
}
