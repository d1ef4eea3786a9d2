// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::tools {

// Written beside its place under another name, and renamed by commit(). Without a commit nothing is
// left. Errors: CANNOT_WRITE (system).
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status open();
  Status write(std::string_view bytes);
  Status commit();

 private:
  std::unexpected<Error> failed(int error) const;

  std::string path_;
  std::string temporary_;  // empty: none is there
  int descriptor_ = -1;
};

}  // namespace kernelindex::tools
