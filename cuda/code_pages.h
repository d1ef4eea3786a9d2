// SPDX-License-Identifier: Apache-2.0
// The code of libraries in the memory of another process: whether somebody put a hook into what
// takes the time. Read by the parent, out of reach of what runs in the child. PROTOCOL section 13,
// row 8.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex::runner {

// Executable memory of a process that comes from a file.
struct CodeMapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // in the file
  std::string file;          // as the kernel names it

  bool operator==(const CodeMapping&) const = default;
};
// Of the text of /proc/PID/maps, in the order of addresses.
std::vector<CodeMapping> parse_code_mappings(std::string_view maps);

// All code of one file.
struct CodeImage {
  Digest memory;
  bool as_in_file = false;  // byte for byte, or not: libraries may patch themselves when they load

  bool operator==(const CodeImage&) const = default;
};
using CodeImages = std::map<std::string, CodeImage>;  // by file

// The driver, the runtime, CUPTI, the C library and the program itself: what a time goes through.
bool is_timing_code(std::string_view file, std::string_view program);

// The timing code of a process that stands still or does not change it. `program` is the path of
// its executable. Error CODE_UNREADABLE (system): the kernel does not let us read it, or it is
// gone.
Result<CodeImages> read_timing_code(pid_t process, std::string_view program);

// How many files of `before` have other code in `after`, or none.
std::int64_t changed_code(const CodeImages& before, const CodeImages& after);

}  // namespace kernelindex::runner
