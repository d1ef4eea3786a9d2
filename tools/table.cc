// SPDX-License-Identifier: Apache-2.0
#include "tools/table.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "tools/display_text.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kGap = 2;

std::size_t total_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
}

// Takes columns away from the widest column that may still shrink, until the row fits or none may.
void shrink_to_fit(const std::vector<Column>& columns, std::size_t limit,
                   std::vector<std::size_t>& widths) {
  while (total_width(widths) > limit) {
    std::size_t widest = columns.size();
    for (std::size_t at = 0; at < columns.size(); ++at) {
      const bool may_shrink = columns[at].shrinks_to != 0 && widths[at] > columns[at].shrinks_to;
      if (may_shrink && (widest == columns.size() || widths[at] > widths[widest])) widest = at;
    }
    if (widest == columns.size()) return;
    --widths[widest];
  }
}

void append_row(const std::vector<Cell>& cells, const std::vector<Column>& columns,
                const std::vector<std::size_t>& widths, const Terminal& terminal,
                std::string& out) {
  std::string pending;  // spaces that are written only when something follows
  for (std::size_t at = 0; at < cells.size(); ++at) {
    const std::string text = fit_width(cells[at].text, std::max<std::size_t>(widths[at], 1));
    const std::string fill(widths[at] - std::min(widths[at], display_width(text)), ' ');
    if (columns[at].align == Align::right) pending += fill;
    if (!text.empty()) {
      out += pending + terminal.tinted(text, cells[at].tone);
      pending.clear();
    }
    if (columns[at].align == Align::left) pending += fill;
    pending.append(kGap, ' ');
  }
  out += '\n';
}

}  // namespace

void Table::add(std::vector<Cell> cells) {
  assert(cells.size() == columns_.size());
  for (Cell& cell : cells) cell.text = escape_text(cell.text);
  rows_.push_back(std::move(cells));
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<std::size_t> widths;
  std::vector<Cell> titles;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    std::size_t width = display_width(columns_[at].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[at].text));
    widths.push_back(width);
    titles.push_back({columns_[at].title, Tone::dim});
  }
  if (terminal.columns != 0) shrink_to_fit(columns_, terminal.columns, widths);

  std::string out;
  append_row(titles, columns_, widths, terminal, out);
  for (const auto& row : rows_) append_row(row, columns_, widths, terminal, out);
  return out;
}

void FactList::add(std::string name, std::string value, Tone tone) {
  facts_.push_back({std::move(name), escape_text(value), tone});
}

std::string FactList::text(const Terminal& terminal) const {
  std::size_t width = 0;
  for (const Fact& fact : facts_) width = std::max(width, display_width(fact.name));
  std::string out;
  for (const Fact& fact : facts_) {
    out += terminal.tinted(pad_right(fact.name, width + kGap), Tone::dim) +
           terminal.tinted(fact.value, fact.tone) + "\n";
  }
  return out;
}

}  // namespace kernelindex::tools
