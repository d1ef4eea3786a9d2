// SPDX-License-Identifier: Apache-2.0
// A part of the published catalog that is whole in itself, for tests that spoil one row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelindex::test {

class SmallCatalog {
 public:
  // One SOL-ExecBench kernel, one KernelBot board, and all serving tables. Needs the corpus.
  static const SmallCatalog& published();

  // The lines as one text.
  std::string text() const;
  std::size_t line_count() const { return lines_.size(); }
  // Replaces the first `from` in the first line of the table that contains `marker`. Gives the
  // line's number; throws std::runtime_error when there is none.
  std::size_t replace(std::string_view table, std::string_view marker, std::string_view from,
                      std::string_view to);
  std::size_t remove(std::string_view table, std::string_view marker);
  void add(std::string line) { lines_.push_back(std::move(line)); }
  const std::string& line(std::size_t number) const { return lines_[number - 1]; }
  std::size_t find(std::string_view table, std::string_view marker) const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace kernelindex::test
