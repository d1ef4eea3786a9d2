// SPDX-License-Identifier: Apache-2.0
// A folder that goes away with the object.
#pragma once

#include <filesystem>
#include <string_view>

namespace kernelindex::test {

// Made under $TMPDIR, else /tmp. Not copyable; moving hands the folder over.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace kernelindex::test
