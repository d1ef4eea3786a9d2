// SPDX-License-Identifier: Apache-2.0
#include "schema/catalog.h"

#include <zstd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "schema/json_reader.h"
#include "support/corpus.h"

namespace kernelindex::test {
namespace {

constexpr std::string_view kCatalog = "data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst";

std::string decompressed(std::string_view bytes) {
  ZSTD_DStream* stream = ZSTD_createDStream();
  std::string out;
  std::vector<char> chunk(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  while (in.pos < in.size) {
    ZSTD_outBuffer piece{chunk.data(), chunk.size(), 0};
    if (ZSTD_isError(ZSTD_decompressStream(stream, &piece, &in)) != 0) {
      throw std::runtime_error("the catalog is no zstd stream");
    }
    out.append(chunk.data(), piece.pos);
  }
  ZSTD_freeDStream(stream);
  return out;
}

}  // namespace

void for_each_catalog_row(const CatalogRow& row) {
  const std::string text = decompressed(read_file(corpus_path(kCatalog)));
  json::Arena arena;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    arena.reset();
    const Result<json::Value> value = json::parse(line, arena, {limits::kSourceLineBytes});
    if (!value) throw std::runtime_error(value.error().text());
    row(value->text("table"), *value->find("row"), line);
  }
}

}  // namespace kernelindex::test
