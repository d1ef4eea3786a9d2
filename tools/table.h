// SPDX-License-Identifier: Apache-2.0
// Tables for people: columns aligned by display width, cut only where a column allows it and only
// on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/terminal.h"

namespace kernelindex::tools {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  // May be cut to this width when the terminal is too narrow; 0: never cut (digests, numbers).
  std::size_t shrinks_to = 0;
};

struct Cell {
  std::string text;  // escaped when the table is written
  Tone tone = Tone::plain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Requires: as many cells as there are columns.
  void add(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  // Lines that end in a newline, header first, two spaces between columns; no trailing spaces.
  std::string text(const Terminal& terminal) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // already escaped
};

// "name   value" lines with the values in one column. Values are escaped and never cut.
class FactList {
 public:
  void add(std::string name, std::string value, Tone tone = Tone::plain);
  std::string text(const Terminal& terminal) const;

 private:
  struct Fact {
    std::string name;
    std::string value;
    Tone tone;
  };
  std::vector<Fact> facts_;
};

}  // namespace kernelindex::tools
