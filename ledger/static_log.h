// SPDX-License-Identifier: Apache-2.0
// A whole log as files (C2SP tlog-tiles), judged by a stranger: no database, no word of ours
// trusted.
//
//   checkpoint                        signed by a key of the log
//   tile/<L>/<N>[.p/<W>]              each tile against its parent, the right edge against the root
//   tile/entries/<N>[.p/<W>]          each entry against its leaf hash
//   object/<2 hex>/<62 hex>           objects that entries name, against their SHA-256
//
// A partial file that is gone because the log has grown is read from the full one. A tile of a
// wrong length is refused wherever it lies (PITFALLS 10).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/resource_source.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::string_view kCheckpointPath = "checkpoint";
// An entry bundle of 256 entries of 65,535 bytes, with their lengths.
inline constexpr std::size_t kBundleBytes = 256 * (2 + 65'535);

// "object/<2 hex>/<62 hex>"
std::string object_path(const Digest& digest);

// The objects that an entry names. Entries of other logs than ours name none that we know.
using ObjectsOfEntry = std::function<Result<std::vector<Digest>>(std::string_view entry)>;

struct StaticLogOptions {
  bool entries = true;     // else the tree alone: for logs whose bundles are of another format
  ObjectsOfEntry objects;  // empty: objects are not looked at
  std::size_t faults_max = 100;
  // Leaves done and in all; called after each bundle.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

// One thing that is not as it should be, by the path of its file.
struct StaticLogFault {
  std::string path;
  // NO_FILE, TILE_LENGTH, TILE_MISMATCH, ROOT_MISMATCH, BAD_BUNDLE, LEAF_MISMATCH, OBJECT_MISMATCH,
  // OBJECT_TOO_LARGE, UNREADABLE_ENTRY (what the given ObjectsOfEntry refuses), or a code of
  // CheckpointVerdict.
  std::string code;
  std::string what;      // one sentence
  std::string expected;  // empty unless two values differ
  std::string found;
};

struct StaticLogReport {
  Checkpoint checkpoint;
  std::uint64_t leaves = 0;          // whose bytes were checked, or hashes where entries are not
  std::uint64_t unjudged = 0;        // below a faulty tile or in a faulty bundle
  std::uint64_t tiles = 0;           // right ones
  std::uint64_t bundles = 0;         // right ones
  std::uint64_t objects = 0;         // right ones, each time they are named
  std::uint64_t objects_absent = 0;  // not there: withheld, or left out of the export. No fault:
                                     // the leaves that name them are whole
  std::vector<StaticLogFault> faults;
  std::uint64_t faults_left_out = 0;  // beyond faults_max

  bool ok() const { return faults.empty(); }
};

// Judges the log. What is false is a fault of the report; the errors are: NO_FILE (not_found: no
// checkpoint there), those of parse_checkpoint() (it is no log), and those of the source of kind
// system. Requires: keys of type 0x01. Memory: one tile a level and one bundle, at most 34 MiB,
// whatever the size of the log.
Result<StaticLogReport> verify_static_log(ResourceSource& source,
                                          std::span<const VerifierKey> log_keys,
                                          const StaticLogOptions& options = {});

}  // namespace kernelindex
