// SPDX-License-Identifier: Apache-2.0
// The lines of a JSON-lines source, one at a time, in memory that does not grow with the file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "schema/byte_source.h"

namespace kernelindex::ingest {

struct Line {
  std::uint64_t number = 0;  // from 1
  std::string_view text;     // without its newline; valid until the next call
  bool too_long = false;     // beyond limits::kSourceLineBytes; the text is its beginning
};

class LineSource {
 public:
  // Requires: `source` outlives this object.
  explicit LineSource(ByteSource& source);

  // The next line that is not blank; false at the end. A last line without newline counts.
  Result<bool> next(Line& line);

 private:
  // More bytes behind those in the buffer; false at the end of the source.
  Result<bool> fill();
  // Drops bytes up to and with the next newline.
  Status skip_line();

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is not yet handed out
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
  bool skip_rest_ = false;  // of a line that was too long
};

}  // namespace kernelindex::ingest
