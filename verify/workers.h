// SPDX-License-Identifier: Apache-2.0
// A few threads that share out numbered tasks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "schema/mutex.h"

namespace kernelindex::auditing {

class Workers {
 public:
  // Told how far the work is, never from two threads at once. May be empty.
  using OnProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  Workers(unsigned threads, OnProgress progress);

  unsigned count() const { return threads_; }

  // Calls task(number, worker) for each number below `tasks`, in no order, on up to count()
  // threads; `worker` is below count() and names the thread. Returns when all are done.
  void run(std::size_t tasks, const std::function<void(std::size_t, unsigned)>& task);

  // The steps of which run() is called, and what each is worth: done moves by `worth` a run.
  void expect(std::uint64_t total) { total_ = total; }
  void next_worth(std::uint64_t worth) { worth_ = worth; }

 private:
  void tell(std::size_t finished, std::size_t tasks);

  unsigned threads_;
  OnProgress progress_;
  std::uint64_t total_ = 0;
  std::uint64_t before_ = 0;  // done when the current run began
  std::uint64_t worth_ = 0;   // of the current run
  Mutex telling_;             // one thread at a time calls progress_
};

}  // namespace kernelindex::auditing
