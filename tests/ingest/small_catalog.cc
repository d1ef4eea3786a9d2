// SPDX-License-Identifier: Apache-2.0
#include "tests/ingest/small_catalog.h"

#include <set>
#include <stdexcept>

#include "ingest/line_source.h"
#include "ingest/zstd_source.h"
#include "schema/byte_source.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

// Operations by slug, and whatever names what was kept.
class Selection {
 public:
  bool keeps(const json::Value& document) {
    const std::string_view table = document.text("table");
    const json::Value& row = *document.find("row");
    const bool kept = chosen(table, row);
    if (kept) ids_.emplace(row.text("id"));
    return kept;
  }

 private:
  bool known(const json::Value& row, std::string_view column) const {
    return ids_.contains(std::string(row.text(column)));
  }

  bool chosen(std::string_view table, const json::Value& row) const {
    if (table == "operations") {
      const std::string_view slug = row.text("slug");
      return slug == "gpumode-amd-fp8-mm" || slug.starts_with("079-imagenet");
    }
    if (table == "operation_aliases" || table == "workloads" || table == "implementations") {
      return known(row, "operationId");
    }
    if (table == "benchmark_runs") return known(row, "implementationId");
    if (table == "measurements" || table == "record_events") return known(row, "runId");
    return true;
  }

  std::set<std::string> ids_;
};

bool is_of(std::string_view line, std::string_view table, std::string_view marker) {
  return line.starts_with("{\"table\":\"" + std::string(table) + "\"") &&
         line.find(marker) != std::string_view::npos;
}

}  // namespace

const SmallCatalog& SmallCatalog::published() {
  static const SmallCatalog catalog = [] {
    const std::string bytes =
        read_file(corpus_path("data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst"));
    MemorySource memory(bytes);
    ingest::ZstdSource source(memory);
    ingest::LineSource lines(source);
    SmallCatalog out;
    Selection selection;
    json::Arena arena;
    ingest::Line line;
    while (lines.next(line).value()) {
      arena.reset();
      const json::ReadLimits bounds{limits::kSourceLineBytes, limits::kJsonDepth};
      if (selection.keeps(json::parse(line.text, arena, bounds).value())) {
        out.lines_.emplace_back(line.text);
      }
    }
    return out;
  }();
  return catalog;
}

std::string SmallCatalog::text() const {
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  return text;
}

std::size_t SmallCatalog::find(std::string_view table, std::string_view marker) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (is_of(lines_[i], table, marker)) return i + 1;
  }
  throw std::runtime_error("no row of " + std::string(table) + " has " + std::string(marker));
}

std::size_t SmallCatalog::replace(std::string_view table, std::string_view marker,
                                  std::string_view from, std::string_view to) {
  const std::size_t number = find(table, marker);
  std::string& line = lines_[number - 1];
  const std::size_t at = line.find(from);
  if (at == std::string::npos) throw std::runtime_error("the row has no " + std::string(from));
  line.replace(at, from.size(), to);
  return number;
}

std::size_t SmallCatalog::remove(std::string_view table, std::string_view marker) {
  const std::size_t number = find(table, marker);
  lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(number) - 1);
  return number;
}

}  // namespace kernelindex::test
