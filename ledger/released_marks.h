// SPDX-License-Identifier: Apache-2.0
// Released marks: the newest checkpoint that may have left this process, kept outside the database.
//
// RocksDB opens cleanly after damage to its write-ahead log, with records gone; and a restored
// backup is a younger state. Both show because a mark names a larger size than the head. Marks lie
// where different accidents reach them: DIR/checkpoint, beside the private log key (no backup
// contains keys), and in the user's state directory. DESIGN section 5, "No silent loss, no fork".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ledger/checkpoint.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

struct MarkPlaces {
  std::filesystem::path directory;  // the ledger's
  std::filesystem::path keys;       // where log.key lies
  std::filesystem::path state;      // empty: none can be had

  // DIR/checkpoint, KEYS/log.key.released, STATE/kernelindex/<ledger id>.
  std::vector<std::filesystem::path> files(const Digest& ledger_id) const;
};

// $XDG_STATE_HOME, else $HOME/.local/state, else empty.
std::filesystem::path user_state_directory();

struct ReleasedMark {
  std::filesystem::path path;
  std::optional<SignedCheckpoint> checkpoint;  // absent: the file is there and is no checkpoint
};

// The marks that are there. A missing one is no error: a copied ledger or a new user has none.
std::vector<ReleasedMark> read_marks(const MarkPlaces& places, const Digest& ledger_id);

// Writes a checkpoint to every place, durably (ledger/file_steps.h).
// Error when DIR/checkpoint or the mark beside an existing log key cannot be written; the state
// directory may be unwritable.
Status write_marks(const MarkPlaces& places, const Digest& ledger_id,
                   const SignedCheckpoint& checkpoint);

}  // namespace kernelindex
