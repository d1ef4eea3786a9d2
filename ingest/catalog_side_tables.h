// SPDX-License-Identifier: Apache-2.0
// What stands behind the rows it belongs to, and is therefore read before them in a pass of its
// own: aliases of operations, and what the catalog says of files it names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingest/catalog_row.h"
#include "schema/byte_source.h"

namespace kernelindex::ingest {

class CatalogSideTables {
 public:
  // Reads the source from where it stands to its end. Lines that cannot be read are left to the
  // pass that reports them.
  Status read(ByteSource& source);

  std::vector<std::string> aliases_of(const Uuid& operation) const;
  // Adds size, media type and licence to the artifacts that a claim names; those that the catalog
  // does not list are taken out.
  void complete(std::vector<NamedArtifact>& artifacts) const;
  // What the catalog says, in bytes.
  std::optional<std::uint64_t> size_of(const Digest& artifact) const;

 private:
  struct Artifact {
    std::optional<std::uint64_t> size;
    std::uint16_t media_type = 0;  // index into texts_
    std::uint16_t license = 0;
  };
  std::uint16_t text_index(const std::string& text);

  std::map<Uuid, std::vector<std::string>> aliases_;
  std::unordered_map<Digest, Artifact> artifacts_;
  std::vector<std::string> texts_;
};

}  // namespace kernelindex::ingest
