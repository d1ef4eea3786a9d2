// SPDX-License-Identifier: Apache-2.0
#include "tools/fetch/fetch_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ledger/file_steps.h"
#include "schema/limits.h"
#include "tools/input_file.h"

namespace kernelindex::tools {
namespace {

namespace fs = std::filesystem;

// Some hundred bytes for each of the files of a source, and the lines of a session beside.
constexpr std::size_t kMaxRecordBytes = 256 * limits::kMiB;

std::unexpected<Error> cannot_write(const fs::path& path, int error) {
  return fail(ErrorKind::system, "CANNOT_WRITE", path.string(),
              std::generic_category().message(error));
}

// Appends and syncs: the line says what the file before it already holds.
Status append_synced(const fs::path& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return cannot_write(path, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && ::fdatasync(descriptor) != 0) error = errno;
  ::close(descriptor);
  if (error != 0) return cannot_write(path, error);
  return {};
}

}  // namespace

Result<FetchFolder> FetchFolder::open(fs::path folder, std::string_view source, UtcMicros now) {
  FileSteps& steps = system_file_steps();
  if (Status made = steps.make_folder(folder); !made) return fail(made.error());
  const fs::path place = folder / kFetchRecordName;
  std::error_code error;
  FetchRecord record;
  if (fs::exists(place, error)) {
    const Result<std::string> text = read_input(place.string(), kMaxRecordBytes);
    if (!text) return fail(text.error());
    Result<FetchRecord> parsed = parse_fetch_record(*text);
    if (!parsed) return fail_in(place.string(), parsed.error());
    record = std::move(*parsed);
    if (!record.source.empty() && record.source != source) {
      return fail(ErrorKind::usage, "OTHER_SOURCE", folder.string(),
                  "the folder holds what was fetched of " + record.source,
                  "Fetch each source into a folder of its own");
    }
  } else if (!fs::is_empty(folder, error) && !error) {
    return fail(ErrorKind::usage, "NOT_EMPTY", folder.string(),
                "the folder holds files that were not fetched", "Fetch into a folder of its own");
  }
  record.source = source;
  FetchFolder out(std::move(folder), std::move(record));
  if (Status begun = out.begin(now); !begun) return fail(begun.error());
  return out;
}

Status FetchFolder::begin(UtcMicros now) {
  resumed_ = record_.session > 0 && !record_.complete;
  if (!resumed_) ++record_.session;
  record_.complete = false;
  // Written anew: a line that a crash cut must not run into the next one.
  std::string text = fetch_begin_line(record_.source, record_.session, now);
  for (const auto& [path, file] : record_.files) text += fetch_file_line(file);
  return write_file_durably(folder_ / kFetchRecordName, text);
}

Status FetchFolder::append(std::string_view line) {
  return append_synced(folder_ / kFetchRecordName, line);
}

Result<std::string> FetchFolder::read(const std::string& path) const {
  return read_input((folder_ / path).string(), limits::kSourceJsonBytes);
}

const FetchedFile* FetchFolder::known(const std::string& path) {
  const auto found = record_.files.find(path);
  if (found == record_.files.end()) return nullptr;
  const Result<std::string> bytes = read(path);
  if (bytes && sha256(*bytes) == found->second.digest) return &found->second;
  record_.files.erase(found);  // changed or gone: to be fetched as if it had never been
  return nullptr;
}

bool FetchFolder::done(const std::string& path) {
  const FetchedFile* file = known(path);
  return file != nullptr && file->session == record_.session;
}

Status FetchFolder::keep(FetchedFile file, std::string_view bytes) {
  file.session = record_.session;
  file.digest = sha256(bytes);
  file.size = bytes.size();
  if (const FetchedFile* before = known(file.path);
      before != nullptr && before->digest == file.digest && before->url == file.url) {
    file.fetched_at = before->fetched_at;
  }
  const fs::path place = folder_ / file.path;
  if (Status made = system_file_steps().make_folder(place.parent_path()); !made) return made;
  if (Status written = write_file_durably(place, bytes); !written) return written;
  if (Status recorded = append(fetch_file_line(file)); !recorded) return recorded;
  std::string path = file.path;
  record_.files[std::move(path)] = std::move(file);
  return {};
}

Status FetchFolder::confirm(const std::string& path, UtcMicros at) {
  FetchedFile& file = record_.files.at(path);
  file.session = record_.session;
  file.checked_at = at;
  return append(fetch_file_line(file));
}

Result<std::vector<std::string>> FetchFolder::finish(bool whole, UtcMicros at) {
  std::vector<std::string> removed;
  for (auto it = record_.files.begin(); whole && it != record_.files.end();) {
    if (it->second.session == record_.session) {
      ++it;
      continue;
    }
    std::error_code error;
    fs::remove(folder_ / it->first, error);
    if (error) return cannot_write(folder_ / it->first, error.value());
    removed.push_back(it->first);
    it = record_.files.erase(it);
  }
  std::string text = fetch_begin_line(record_.source, record_.session, at);
  for (const auto& [path, file] : record_.files) text += fetch_file_line(file);
  text += fetch_end_line(record_.session, at);
  if (Status written = write_file_durably(folder_ / kFetchRecordName, text); !written) {
    return fail(written.error());
  }
  record_.complete = true;
  return removed;
}

}  // namespace kernelindex::tools
