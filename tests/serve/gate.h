// SPDX-License-Identifier: Apache-2.0
// A place in a handler where a test holds it, until it has seen what it wants to see.
#pragma once

#include <condition_variable>
#include <mutex>

namespace kernelindex::serve {

class Gate {
 public:
  // Called by a handler: waits until open().
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  // Called by the test: waits until so many came.
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

}  // namespace kernelindex::serve
