// SPDX-License-Identifier: Apache-2.0
// The bytes of an evidence bundle, `kernelindex.dev/bundle/v1`: one canonical JSON document of a
// closed set of members. BUNDLE_FORMAT.md describes it; bundle.h says what it is worth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::string_view kBundleFormat = "kernelindex.dev/bundle/v1";
inline constexpr std::size_t kBundleBytes = 16 * limits::kMiB;
inline constexpr std::size_t kBundleEntries = 4096;
inline constexpr std::size_t kBundleNodes = 65'536;  // of one tree

// One entry of the log.
struct BundleEntry {
  std::uint64_t index = 0;
  std::string leaf;           // the bytes that were hashed
  std::vector<Digest> range;  // of an import statement: nodes of the tree that it signs
};

// A bundle as it is written, nothing of it verified.
struct Bundle {
  Digest subject;                    // identity of the run
  std::string checkpoint;            // a signed note
  std::vector<BundleEntry> entries;  // rising by index
  std::vector<std::string> objects;  // documents and envelopes, in the order of their entries
  // Bytes that controlled attempts are judged from, each once, sorted by digest: result documents
  // and raw samples.
  std::vector<std::string> artifacts;
  std::vector<Digest> nodes;  // of the log's tree, see shared_nodes.h
  std::string status;         // a kept envelope; empty when there is none

  // The document. Error BUNDLE_TOO_LARGE (refused).
  Result<std::string> encode() const;
};

// Reads exactly what encode() gives. Errors (kind invalid): those of json::parse, NOT_A_BUNDLE (of
// another format), NOT_CANONICAL, UNKNOWN_MEMBER, MISSING_MEMBER, BAD_MEMBER, BAD_NODES,
// ENTRY_ORDER, ARTIFACT_ORDER. Each names its place ("entries[3].leaf").
Result<Bundle> parse_bundle(std::string_view bytes);

}  // namespace kernelindex
