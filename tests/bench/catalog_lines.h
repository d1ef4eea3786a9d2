// SPDX-License-Identifier: Apache-2.0
// The lines of a catalog export that lies in memory as a whole, and which table each belongs to by
// its first bytes.
#pragma once

#include <string_view>

namespace kernelindex::bench {

class CatalogLines {
 public:
  explicit CatalogLines(std::string_view text) : rest_(text) {}

  // Moves to the next line; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return true;
  }
  // Without its newline.
  std::string_view line() const { return line_; }

 private:
  std::string_view rest_;
  std::string_view line_;
};

// "benchmark_runs" of a line {"table":"benchmark_runs", as exports are written; else empty.
inline std::string_view table_of(std::string_view line) {
  constexpr std::string_view kBegin = "{\"table\":\"";
  if (!line.starts_with(kBegin)) return {};
  line.remove_prefix(kBegin.size());
  return line.substr(0, line.find('"'));
}

inline bool is_row_of(std::string_view line, std::string_view table) {
  return table_of(line) == table;
}

// The lines at the beginning of a text that belong to the table of the first.
inline std::string_view lines_of_one_table(std::string_view text) {
  const std::string_view table = table_of(text);
  std::size_t end = 0;
  for (CatalogLines lines(text); lines.next() && is_row_of(lines.line(), table);) {
    end += lines.line().size() + 1;
  }
  return text.substr(0, end);
}

}  // namespace kernelindex::bench
