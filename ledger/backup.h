// SPDX-License-Identifier: Apache-2.0
// Backups: a copy of the database as it stood at one instant, with the digest of every file, and
// bringing one back. DESIGN sections 5 ("No silent loss, no fork") and 10.
//
//   BACKUP/db/...       the database, in files of its own
//   BACKUP/checkpoint   the newest checkpoint that was released before, if there was one
//   BACKUP/backup.json  what it is; written last, so that a backup without it was cut off
//
// backup.json is canonical JSON: {"files": [{"digest", "path", "size"}...], "ledgerId", "origin",
// "root", "size", "takenAt", "v": 1}, paths in order. No private key is ever in a backup. It can be
// read where it lies (`--ledger BACKUP`), and is never written to.
//
// A restored ledger is an older state: if a released mark names a larger size, it opens read-only,
// because signing past the lost entries would fork the log (ledger/released_marks.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/merkle.h"
#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

inline constexpr std::size_t kBackupFiles = 65'536;
inline constexpr std::size_t kBackupDocumentBytes = 16 * limits::kMiB;

struct BackupFile {
  std::string path;  // "checkpoint", or "db/" and a name of letters, digits, ".", "_" and "-"
  std::uint64_t size = 0;
  Digest digest;  // SHA-256 of its bytes

  bool operator==(const BackupFile&) const = default;
};

struct BackupInfo {
  Digest ledger_id;
  std::string origin;
  TreeHead head;
  UtcMicros taken_at = 0;
  std::vector<BackupFile> files;  // sorted by path, each once

  bool operator==(const BackupInfo&) const = default;
};

// The text of backup.json.
std::string encode_backup_info(const BackupInfo& info);
// Reads exactly what encode_backup_info() gives. Error BAD_BACKUP (invalid).
Result<BackupInfo> decode_backup_info(std::string_view text);

// Copies a ledger that may be written to meanwhile, by this process through `ledger` or, when
// `ledger` is open for reading, by another. The copy is some state between call and return. Makes
// `directory`, which must not be there or be empty (BACKUP_EXISTS, refused). Errors: those of the
// store and of the file system; then nothing of the copy is left.
Result<BackupInfo> backup(const Ledger& ledger, const std::filesystem::path& directory);

// Reads what a backup says it is. Errors: NO_BACKUP (not_found: no backup.json there), BAD_BACKUP.
Result<BackupInfo> read_backup_info(const std::filesystem::path& directory);

struct Restored {
  BackupInfo info;
  std::optional<ReadOnlyReason> read_only;  // why nothing can be signed there
};

// Brings a backup back as the ledger of `options`, of which directory, keys and state count. Key
// files and the released checkpoint of an earlier ledger may lie there, and stay. Every file is
// checked against its digest as it is copied. Errors: those of read_backup_info(), LEDGER_EXISTS
// (refused: a database is there; nothing is ever overwritten), DAMAGED_BACKUP (corrupt; names the
// file), those of Ledger::open(). After an error no database is left.
Result<Restored> restore(const std::filesystem::path& directory, const LedgerOptions& options);

}  // namespace kernelindex
