// SPDX-License-Identifier: Apache-2.0
// Where something stands in the files of an import.
#pragma once

#include <cstddef>
#include <string>

namespace kernelindex::ingest {

struct ItemPlace {
  std::size_t file = 0;  // index of the file
  std::string pointer;   // JSON pointer ("/data/3"), or a line of a file of lines ("17")
};

}  // namespace kernelindex::ingest
