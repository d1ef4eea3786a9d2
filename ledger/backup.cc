// SPDX-License-Identifier: Apache-2.0
#include "ledger/backup.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "ledger/file_steps.h"
#include "ledger/object_reader.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInfoName = "backup.json";
constexpr std::string_view kCheckpointName = "checkpoint";
constexpr std::string_view kDatabasePrefix = "db/";
constexpr std::size_t kNameBytes = 255;
constexpr std::size_t kPieceBytes = limits::kMiB;

std::unexpected<Error> bad_backup(std::string message) {
  return fail(ErrorKind::invalid, "BAD_BACKUP", kInfoName, std::move(message),
              "take another backup");
}

std::unexpected<Error> damaged(const std::string& file, std::string message) {
  return fail(ErrorKind::corrupt, "DAMAGED_BACKUP", file, std::move(message),
              "take another backup, or another copy of this one");
}

std::unexpected<Error> system_error(const fs::path& path, std::string_view what, int code) {
  const bool full = code == ENOSPC || code == EDQUOT;
  const bool denied = code == EACCES || code == EPERM || code == EROFS;
  return fail(ErrorKind::system,
              full     ? "DISK_FULL"
              : denied ? "PERMISSION"
                       : "IO",
              path.string(), std::string(what) + ": " + std::strerror(code));
}

// Names from outside never lead anywhere else.
bool is_backup_path(std::string_view path) {
  if (path == kCheckpointName) return true;
  if (!path.starts_with(kDatabasePrefix)) return false;
  const std::string_view name = path.substr(kDatabasePrefix.size());
  if (name.empty() || name.size() > kNameBytes || name == "." || name == "..") return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == '_' || c == '-';
  });
}

// ---- files ----

Status sync_folder(const fs::path& folder) { return system_file_steps().sync_folder(folder); }

// Copies a file, synced, and says what was copied. Requires: nothing lies at `to`.
Result<BackupFile> copy_synced(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  if (!in) return system_error(from, "cannot read the file", errno);
  Sha256 hasher;
  BackupFile copied;
  const auto pass_on = [&](const ByteSink& sink) -> Status {
    std::string buffer(kPieceBytes, '\0');
    while (true) {
      in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      const std::string_view piece(buffer.data(), static_cast<std::size_t>(in.gcount()));
      if (in.bad()) return system_error(from, "cannot read the file", errno);
      if (piece.empty()) return {};
      hasher.update(piece);
      copied.size += piece.size();
      if (Status status = sink(piece); !status) return status;
    }
  };
  if (Status status = system_file_steps().write_synced(to, pass_on); !status) {
    return fail(status.error());
  }
  copied.digest = hasher.finish();
  return copied;
}

// RocksDB links table files into its checkpoint. A backup has bytes of its own: what damages the
// ledger's file must not damage both.
Result<BackupFile> own_file(const fs::path& path) {
  const fs::path copy = path.string() + ".copy";
  Result<BackupFile> copied = copy_synced(path, copy);
  if (!copied) return copied;
  std::error_code error;
  fs::rename(copy, path, error);
  if (error) return system_error(path, "cannot replace the file", error.value());
  return copied;
}

Result<std::vector<BackupFile>> own_files(const fs::path& database) {
  std::vector<fs::path> names;
  std::error_code error;
  for (fs::directory_iterator item(database, error), end; !error && item != end;
       item.increment(error)) {
    names.push_back(item->path().filename());
  }
  if (error) return system_error(database, "cannot list the folder", error.value());
  std::ranges::sort(names);
  std::vector<BackupFile> files;
  for (const fs::path& name : names) {
    Result<BackupFile> file = own_file(database / name);
    if (!file) return fail(file.error());
    file->path = std::string(kDatabasePrefix) + name.string();
    files.push_back(std::move(*file));
  }
  if (Status status = sync_folder(database); !status) return fail(status.error());
  return files;
}

std::optional<std::string> read_small_file(const fs::path& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes(most + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// Removes a half-made copy unless it was kept.
class Scaffold {
 public:
  explicit Scaffold(std::vector<fs::path> paths) : paths_(std::move(paths)) {}
  ~Scaffold() {
    std::error_code ignored;
    for (const fs::path& path : paths_) fs::remove_all(path, ignored);
  }
  Scaffold(const Scaffold&) = delete;
  Scaffold& operator=(const Scaffold&) = delete;
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

// ---- making one ----

Status make_empty_folder(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return system_error(directory, "cannot make the folder", error.value());
  const bool empty = fs::is_empty(directory, error);
  if (error) return system_error(directory, "cannot list the folder", error.value());
  if (empty) return {};
  return fail(ErrorKind::refused, "BACKUP_EXISTS", directory.string(),
              "the folder is not empty, and a backup overwrites nothing", "name another folder");
}

// What the copy is, read from the copy itself.
Status describe(const fs::path& directory, BackupInfo& info) {
  LedgerOptions options;
  options.directory = directory;
  options.read_only = true;
  const Result<std::unique_ptr<Ledger>> copy = Ledger::open(options);
  if (!copy) return fail(copy.error());
  const Reader reader = (*copy)->read();
  info.ledger_id = reader.format().ledger_id;
  info.origin = reader.format().origin;
  info.head = reader.head();
  return {};
}

// ---- bringing one back ----

Status copy_back(const fs::path& directory, const BackupInfo& info, const fs::path& database) {
  for (const BackupFile& file : info.files) {
    if (!file.path.starts_with(kDatabasePrefix)) continue;
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(directory / file.path, error))) {
      return damaged(file.path, "the file is missing");
    }
    const Result<BackupFile> copied =
        copy_synced(directory / file.path, database / file.path.substr(kDatabasePrefix.size()));
    if (!copied) return fail(copied.error());
    if (copied->size != file.size) {
      return damaged(file.path, "the file has " + std::to_string(copied->size) +
                                    " bytes, and had " + std::to_string(file.size));
    }
    if (copied->digest != file.digest) {
      return damaged(file.path, "its bytes were changed: expected " + file.digest.text() +
                                    ", found " + copied->digest.text());
    }
  }
  return sync_folder(database);
}

Result<std::optional<std::string>> kept_checkpoint(const fs::path& directory,
                                                   const BackupInfo& info) {
  const auto named = std::ranges::find(info.files, kCheckpointName, &BackupFile::path);
  if (named == info.files.end()) return std::nullopt;
  std::optional<std::string> bytes =
      read_small_file(directory / kCheckpointName, limits::kNoteBytes);
  if (!bytes) return damaged(std::string(kCheckpointName), "the file is missing");
  if (bytes->size() != named->size || sha256(*bytes) != named->digest) {
    return damaged(std::string(kCheckpointName), "its bytes were changed");
  }
  return bytes;
}

}  // namespace

std::string encode_backup_info(const BackupInfo& info) {
  json::Arena arena;
  const auto count = [](std::uint64_t value) { return json::Value(static_cast<double>(value)); };
  std::vector<json::Value> files;
  for (const BackupFile& file : info.files) {
    files.push_back(arena.object({{"path", arena.string(file.path)},
                                  {"size", count(file.size)},
                                  {"digest", arena.string(file.digest.text())}}));
  }
  return json::canonical(arena.object({{"v", json::Value(1.0)},
                                       {"ledgerId", arena.string(info.ledger_id.text())},
                                       {"origin", arena.string(info.origin)},
                                       {"size", count(info.head.size)},
                                       {"root", arena.string(info.head.root.text())},
                                       {"takenAt", arena.string(format_utc_micros(info.taken_at))},
                                       {"files", arena.array(files)}}));
}

Result<BackupInfo> decode_backup_info(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena, {.bytes = kBackupDocumentBytes});
  if (!value) return bad_backup("this is no description of a backup: " + value.error().text());
  ObjectReader reader(*value, {});
  BackupInfo info;
  reader.integer("v", 1, 1);
  info.ledger_id = reader.digest("ledgerId");
  info.origin = reader.text("origin", limits::kNoteNameBytes);
  info.head.size = reader.count("size");
  info.head.root = reader.digest("root");
  const Result<UtcMicros> taken_at = parse_utc_instant(reader.text("takenAt", 64));
  if (taken_at) info.taken_at = *taken_at;
  for (const json::Value& item : reader.array("files", kBackupFiles, true)) {
    ObjectReader inner(item, "files");
    BackupFile file;
    file.path = inner.text("path", kDatabasePrefix.size() + kNameBytes);
    file.size = inner.count("size");
    file.digest = inner.digest("digest");
    if (inner.ok() && !is_backup_path(file.path)) {
      inner.fault("path", "BAD_MEMBER", "this is no file of a backup");
    }
    if (Status status = inner.finish(); !status) reader.fault(status.error());
    info.files.push_back(std::move(file));
  }
  if (Status status = reader.finish(); !status) return bad_backup(status.error().text());
  if (std::ranges::adjacent_find(info.files, std::ranges::greater_equal(), &BackupFile::path) !=
      info.files.end()) {
    return bad_backup("its files are not in order, each once");
  }
  if (encode_backup_info(info) != text) return bad_backup("it is not canonical JSON");
  return info;
}

Result<BackupInfo> backup(const Ledger& ledger, const fs::path& directory) {
  if (Status status = make_empty_folder(directory); !status) return fail(status.error());
  const fs::path database = directory / "db";
  Scaffold scaffold({database, directory / kCheckpointName});
  // Before the copy: what was released then is in it.
  const std::optional<std::string> released =
      read_small_file(ledger.options().directory / kCheckpointName, limits::kNoteBytes);
  if (Status status = ledger.store().copy_to(database.string()); !status) {
    return fail(status.error());
  }
  BackupInfo info;
  info.taken_at = ledger.options().clock();
  if (Status status = describe(directory, info); !status) return fail(status.error());
  Result<std::vector<BackupFile>> files = own_files(database);
  if (!files) return fail(files.error());
  info.files = std::move(*files);
  const bool readable = released && parse_checkpoint(*released).has_value();
  if (readable) {
    if (Status status = write_file_durably(directory / kCheckpointName, *released); !status) {
      return fail(status.error());
    }
    info.files.insert(info.files.begin(),
                      {std::string(kCheckpointName), released->size(), sha256(*released)});
  }
  if (Status status = write_file_durably(directory / kInfoName, encode_backup_info(info));
      !status) {
    return fail(status.error());
  }
  scaffold.keep();
  return info;
}

Result<BackupInfo> read_backup_info(const fs::path& directory) {
  const std::optional<std::string> text =
      read_small_file(directory / kInfoName, kBackupDocumentBytes);
  if (!text) {
    return fail(ErrorKind::not_found, "NO_BACKUP", (directory / kInfoName).string(),
                "this is no backup, or one that was cut off while it was made",
                "name the folder that `kernelindex backup` made");
  }
  Result<BackupInfo> info = decode_backup_info(*text);
  if (!info) return fail_in(directory.string(), info.error());
  return info;
}

Result<Restored> restore(const fs::path& directory, const LedgerOptions& options) {
  Result<BackupInfo> info = read_backup_info(directory);
  if (!info) return fail(info.error());
  const fs::path database = options.directory / "db";
  std::error_code error;
  if (fs::exists(database, error)) {
    return fail(ErrorKind::refused, "LEDGER_EXISTS", options.directory.string(),
                "there is a ledger here already, and a restore overwrites nothing",
                "name another directory with --ledger, or move this one's db/ away");
  }
  const Result<std::optional<std::string>> checkpoint = kept_checkpoint(directory, *info);
  if (!checkpoint) return fail_in(directory.string(), checkpoint.error());
  // A name of our own: what lies there was left by a restore that was cut off.
  const fs::path arriving = options.directory / "db.restoring";
  fs::remove_all(arriving, error);
  fs::create_directories(arriving, error);
  if (error) return system_error(arriving, "cannot make the folder", error.value());
  Scaffold scaffold({arriving, database});
  if (Status status = copy_back(directory, *info, arriving); !status) {
    return fail_in(directory.string(), status.error());
  }
  fs::rename(arriving, database, error);
  if (error) return system_error(database, "cannot rename the folder", error.value());
  if (Status status = sync_folder(options.directory); !status) return fail(status.error());
  LedgerOptions reading = options;
  reading.read_only = true;
  Result<std::unique_ptr<Ledger>> restored = Ledger::open(reading);
  if (!restored) return fail(restored.error());
  const TreeHead head = (*restored)->read().head();
  if ((*restored)->format().ledger_id != info->ledger_id || head != info->head) {
    return fail_in(
        directory.string(),
        damaged("db", "it holds another ledger, or another size of it, than it says").error());
  }
  // A mark that is there already is never lowered.
  const fs::path mark = options.directory / kCheckpointName;
  if (*checkpoint && !fs::exists(mark, error)) {
    if (Status status = write_file_durably(mark, **checkpoint); !status) {
      return fail(status.error());
    }
  }
  scaffold.keep();
  return Restored{std::move(*info), (*restored)->read_only_reason()};
}

}  // namespace kernelindex
