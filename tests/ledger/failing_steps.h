// SPDX-License-Identifier: Apache-2.0
// Steps of writing files of which a chosen one fails, as a disk that is full or broken does.
// Without a fault they are the system's, but nothing is synced: a test writes many files and loses
// no power.
#pragma once

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "ledger/file_steps.h"

namespace kernelindex::test {

class FailingSteps final : public FileSteps {
 public:
  enum class Fault {
    nothing_done,  // the step fails and did nothing
    half_written,  // a write fails after half of its bytes
    unsynced,      // all bytes are there, and the sync fails: on the disk there may be none
  };

  // From the step of that number on, counted from 0, everything fails.
  explicit FailingSteps(std::size_t at = std::numeric_limits<std::size_t>::max(),
                        Fault fault = Fault::nothing_done)
      : at_(at), fault_(fault) {}

  // "write a.new", "rename a.new a", "sync .", "make b", with the paths as they were given.
  const std::vector<std::string>& log() const { return log_; }

  Status make_folder(const std::filesystem::path& path) override {
    if (Status fails = step("make " + path.string()); !fails) return fails;
    std::filesystem::create_directories(path);
    return {};
  }
  Status write_synced(const std::filesystem::path& path, const ByteProducer& content) override {
    const Status fails = step("write " + path.string());
    if (!fails && fault_ == Fault::nothing_done) return fails;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    const Status written = content([&](std::string_view bytes) -> Status {
      if (!fails && fault_ == Fault::half_written) bytes = bytes.substr(0, bytes.size() / 2);
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      return {};
    });
    return fails ? written : fails;
  }
  Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (Status fails = step("rename " + from.string() + " " + to.string()); !fails) return fails;
    std::filesystem::rename(from, to);
    return {};
  }
  Status sync_folder(const std::filesystem::path& path) override {
    return step("sync " + path.string());
  }

 private:
  Status step(std::string what) {
    const bool fails = log_.size() >= at_;
    log_.push_back(std::move(what));
    if (fails) return kernelindex::fail(ErrorKind::system, "IO", log_.back(), "a fault");
    return {};
  }

  std::size_t at_;
  Fault fault_;
  std::vector<std::string> log_;
};

}  // namespace kernelindex::test
