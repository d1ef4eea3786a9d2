// SPDX-License-Identifier: Apache-2.0
// One line on standard error that says how far a long job is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelindex::tools {

// Silent for the first second, and always where standard error is no terminal or quiet was asked.
// The line goes away with the object. Call update() as often as you like: it draws ten times a
// second at most. Not for sharing between threads.
class Progress {
 public:
  Progress(std::string_view label, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `total` 0: unknown. `unit` is a plural noun, "items".
  void update(std::uint64_t done, std::uint64_t total, std::string_view unit);
  // Takes the line away, so that something else can be printed.
  void clear();

 private:
  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace kernelindex::tools
