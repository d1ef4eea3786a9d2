// SPDX-License-Identifier: Apache-2.0
// The records of a CSV file (RFC 4180), one at a time, in memory that does not grow with the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/byte_source.h"
#include "schema/result.h"

namespace kernelindex::ingest {

struct CsvRecord {
  std::uint64_t line = 0;  // where it begins, from 1
  std::vector<std::string> fields;
  // Empty, or what is wrong with it: LINE_TOO_LONG, TOO_MANY_FIELDS, BAD_QUOTE. The fields are then
  // not to be used, and the next record begins on the next line.
  std::string fault;
};

// Fields in quotes may hold commas, line breaks and doubled quotes. LF, CR and CRLF end a record;
// blank lines are passed over. Limits: 1 MiB a record, 1,000 fields.
class CsvSource {
 public:
  // Requires: `source` outlives this object.
  explicit CsvSource(ByteSource& source);

  // False at the end.
  Result<bool> next(CsvRecord& record);

 private:
  // The next byte, or -1 at the end.
  Result<int> take();
  Result<int> peek();
  Result<bool> fill();
  // Reads a quoted field behind its first quote; false when what follows it is no end of a field.
  Result<bool> quoted(std::string& field, CsvRecord& record);
  Status skip_line();
  bool grow(CsvRecord& record);

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t line_ = 1;
  std::size_t bytes_ = 0;  // of the record being read
};

}  // namespace kernelindex::ingest
