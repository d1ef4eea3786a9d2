// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_side_tables.h"

#include <algorithm>
#include <limits>

#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

std::optional<CatalogTable> table_of(const Line& line, json::Arena& arena) {
  if (line.too_long) return std::nullopt;
  if (const std::optional<CatalogTable> table = table_of_line(line.text)) return table;
  arena.reset();  // not written as exports are: the whole line must be read to know
  return read_catalog_row(line, arena).table;
}

}  // namespace

Status CatalogSideTables::read(ByteSource& source) {
  LineSource lines(source);
  json::Arena arena;
  Line line;
  bool recognised = false;
  while (true) {
    Result<bool> more = lines.next(line);
    if (!more) return fail(std::move(more.error()));
    if (!*more) break;
    const std::optional<CatalogTable> table = table_of(line, arena);
    recognised |= table.has_value();
    if (table != CatalogTable::operation_aliases && table != CatalogTable::artifacts) continue;
    arena.reset();
    const CatalogRow row = read_catalog_row(line, arena);
    if (row.fault) continue;
    if (const auto* artifact = std::get_if<ArtifactColumns>(&row.detail)) {
      artifacts_.emplace(artifact->digest,
                         Artifact{artifact->size, text_index(artifact->media_type),
                                  text_index(artifact->license)});
    } else if (row.keys.operation) {
      aliases_[*row.keys.operation].push_back(row.slug);
    }
  }
  if (recognised) return {};
  return fail(ErrorKind::invalid, "NOT_A_CATALOG", {}, "no line of the file is a row of a catalog",
              "A catalog export has lines {\"table\": name, \"row\": {...}}, bare or in zstd");
}

// Media types and licences are few; a file with more of them than fit loses the rest.
std::uint16_t CatalogSideTables::text_index(const std::string& text) {
  const auto found = std::ranges::find(texts_, text);
  const auto index = static_cast<std::size_t>(found - texts_.begin());
  constexpr std::size_t kTexts = 256;
  if (found == texts_.end() && index < kTexts) texts_.push_back(text);
  return index < kTexts ? static_cast<std::uint16_t>(index)
                        : std::numeric_limits<std::uint16_t>::max();
}

std::vector<std::string> CatalogSideTables::aliases_of(const Uuid& operation) const {
  const auto found = aliases_.find(operation);
  return found == aliases_.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::uint64_t> CatalogSideTables::size_of(const Digest& artifact) const {
  const auto found = artifacts_.find(artifact);
  return found == artifacts_.end() ? std::nullopt : found->second.size;
}

void CatalogSideTables::complete(std::vector<NamedArtifact>& artifacts) const {
  std::erase_if(artifacts, [&](const NamedArtifact& artifact) {
    return !artifacts_.contains(artifact.digest);
  });
  for (NamedArtifact& artifact : artifacts) {
    const Artifact& listed = artifacts_.at(artifact.digest);
    artifact.size = listed.size;
    if (listed.media_type < texts_.size()) artifact.media_type = texts_[listed.media_type];
    if (listed.license < texts_.size()) artifact.license = texts_[listed.license];
  }
}

}  // namespace kernelindex::ingest
