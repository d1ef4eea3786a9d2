// SPDX-License-Identifier: Apache-2.0
// Writes a log as files that any static host can serve (C2SP tlog-tiles): what verify_static_log()
// judges.
//
// Each file is put in place whole and synced; each tile is checked against the checkpoint before it
// is written, each entry against its leaf hash; a full path only ever holds 256 hashes. The
// checkpoint comes last, after everything that it speaks of is on the disk. So a crash leaves the
// state that was published before, and the next export goes on: a file that is there with the right
// bytes is kept. A failed fsync ends the export and leaves the temporary file aside (PITFALLS 9).
// Partial tiles of older sizes stay: readers who hold an older checkpoint ask for them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "ledger/checkpoint.h"
#include "ledger/file_steps.h"
#include "ledger/static_log.h"
#include "ledger/tile.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

// Where an export reads. Nothing of it is trusted but the checkpoint.
struct TileExport {
  SignedCheckpoint checkpoint;  // of this size the tree is written, however large the source is
  TileSource tiles;
  std::function<Result<std::string>(std::uint64_t index)> leaf;
  ObjectsOfEntry objects;  // empty: no objects are written
  // Gives the bytes of an object to the sink; false when they are not held. Needed with `objects`.
  std::function<Result<bool>(const Digest& digest, const ByteSink& sink)> object;
  // Leaves done and in all; called after each bundle. May be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct TileExportReport {
  struct Counts {
    std::uint64_t tiles = 0;
    std::uint64_t bundles = 0;
    std::uint64_t objects = 0;
  };
  Counts written;
  Counts kept;                       // were there, with the right bytes
  std::uint64_t objects_absent = 0;  // not held by the source
};

// Exports into a folder, which is made when it is not there. A folder that already holds a
// checkpoint must be of the same log at the same or a smaller size: EXPORT_OF_ANOTHER_LOG,
// EXPORT_IS_NEWER, EXPORT_FORKED (its root is not that of the log at its size), all of kind
// refused, with nothing written. Other errors: TILE_LENGTH, TILE_MISMATCH, ROOT_MISMATCH,
// LEAF_MISMATCH, OBJECT_MISMATCH (kind corrupt: the source disagrees with its checkpoint), those of
// the source and of the steps. After an error the checkpoint is the one that was there. Requires:
// nobody else writes into the folder.
Result<TileExportReport> export_tiles(const TileExport& log, const std::filesystem::path& folder,
                                      FileSteps& steps = system_file_steps());

}  // namespace kernelindex
