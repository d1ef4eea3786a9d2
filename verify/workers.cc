// SPDX-License-Identifier: Apache-2.0
#include "verify/workers.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace kernelindex::auditing {

Workers::Workers(unsigned threads, OnProgress progress)
    : threads_(std::max(threads, 1u)), progress_(std::move(progress)) {}

void Workers::tell(std::size_t finished, std::size_t tasks) {
  if (!progress_) return;
  const MutexLock lock(telling_);
  const double part = static_cast<double>(finished) / static_cast<double>(tasks);
  const auto done = before_ + static_cast<std::uint64_t>(part * static_cast<double>(worth_));
  progress_(std::min(done, total_), total_);
}

void Workers::run(std::size_t tasks, const std::function<void(std::size_t, unsigned)>& task) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> finished = 0;
  const auto work = [&](unsigned worker) {
    for (std::size_t number = next++; number < tasks; number = next++) {
      task(number, worker);
      tell(++finished, tasks);
    }
  };
  {
    std::vector<std::jthread> others;
    const auto useful = static_cast<unsigned>(std::min<std::size_t>(threads_, tasks));
    for (unsigned worker = 1; worker < useful; ++worker) others.emplace_back(work, worker);
    work(0);
  }
  before_ += worth_;
  worth_ = 0;
}

}  // namespace kernelindex::auditing
