// SPDX-License-Identifier: Apache-2.0
#include "tools/source_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "schema/limits.h"
#include "tools/fetch/fetch_record.h"

namespace kernelindex::tools {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> unreadable(const std::string& path, const std::error_code& code) {
  const bool missing =
      code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory;
  return fail(missing ? ErrorKind::not_found : ErrorKind::system,
              missing ? "NO_SUCH_FILE" : "CANNOT_READ", path, code.message());
}

class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  ~FileSource() override { ::close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::size_t> read(std::span<char> buffer) override {
    while (true) {
      const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return unreadable(path_, {errno, std::generic_category()});
    }
  }
  Status rewind() override {
    if (::lseek(descriptor_, 0, SEEK_SET) == 0) return {};
    return unreadable(path_, {errno, std::generic_category()});
  }

 private:
  std::string path_;
  int descriptor_;
};

std::string media_type(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".json") return "application/json";
  if (extension == ".jsonl") return "application/jsonl";
  if (extension == ".zst") return "application/zstd";
  if (extension == ".csv") return "text/csv";
  return "application/octet-stream";
}

ingest::RecordedFile file_at(const fs::path& path, std::string locator) {
  ingest::RecordedFile file;
  file.locator = std::move(locator);
  file.media_type = media_type(path);
  file.open = [path = path.string()] { return open_file(path); };
  return file;
}

Status collect_folder(const fs::path& folder, std::vector<ingest::RecordedFile>& files) {
  std::error_code error;
  std::vector<std::pair<std::string, fs::path>> found;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_regular_file(error)) continue;
    found.emplace_back(it->path().lexically_relative(folder).generic_string(), it->path());
  }
  if (error) return unreadable(folder.string(), error);
  std::ranges::sort(found);
  for (auto& [locator, path] : found) files.push_back(file_at(path, std::move(locator)));
  return {};
}

constexpr std::size_t kMaxFetchRecordBytes = 256 * limits::kMiB;

Result<FetchRecord> read_fetch_record(const ingest::RecordedFile& file) {
  const Result<std::string> text = ingest::read_beginning(file, kMaxFetchRecordBytes + 1);
  if (!text) return fail(text.error());
  if (text->size() > kMaxFetchRecordBytes) {
    return fail(ErrorKind::invalid, "TOO_LARGE", file.locator,
                "the record of the fetch is larger than 256 MiB");
  }
  Result<FetchRecord> record = parse_fetch_record(*text);
  if (!record) return fail_in(file.locator, record.error());
  return record;
}

bool came_over_tls(const FetchedFile& file) {
  constexpr std::string_view kScheme = "https://";
  return file.url.starts_with(kScheme) &&
         (file.answered_by.empty() || file.answered_by.starts_with(kScheme));
}

// What the record of the folder says of its files.
Status apply_fetch_record(SourceFiles& out, std::size_t first, const FetchRecord& record) {
  for (std::size_t i = first; i < out.files.size(); ++i) {
    ingest::RecordedFile& file = out.files[i];
    const auto said = record.files.find(file.locator);
    if (said == record.files.end()) continue;
    const Result<Digest> digest = ingest::digest_of(file);
    if (!digest) return fail(digest.error());
    if (*digest != said->second.digest) {
      out.findings.push_back({ingest::FindingClass::review,
                              file.locator,
                              {},
                              "FETCHED_FILE_CHANGED",
                              "the file is not what was fetched of " + said->second.url +
                                  ", so it counts as supplied"});
      continue;
    }
    if (!came_over_tls(said->second)) {
      out.findings.push_back({ingest::FindingClass::review,
                              file.locator,
                              {},
                              "FETCHED_WITHOUT_TLS",
                              "nothing says that " + said->second.url +
                                  " gave these bytes, so they count as supplied"});
      continue;
    }
    file.locator = said->second.url;
    file.fetched_at = format_utc_micros(said->second.fetched_at);
    file.digest = *digest;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  // Not waiting for a writer, should it be a named pipe: files are read more than once.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return unreadable(path, {errno, std::generic_category()});
  auto file = std::make_unique<FileSource>(path, descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    return unreadable(path, {errno, std::generic_category()});
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::invalid, "NOT_A_FILE", path, "this is no regular file",
                "Save it to a file first");
  }
  return file;
}

Result<std::vector<ingest::RecordedFile>> collect_files(const std::vector<std::string>& paths) {
  std::vector<ingest::RecordedFile> files;
  for (const std::string& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
      return unreadable(path, std::make_error_code(std::errc::no_such_file_or_directory));
    }
    if (error) return unreadable(path, error);
    if (fs::is_directory(status)) {
      if (Status collected = collect_folder(path, files); !collected)
        return fail(collected.error());
      continue;
    }
    // Opened once here, so that a file that cannot be read stops the import before it begins.
    const Result<std::unique_ptr<ByteSource>> opened = open_file(path);
    if (!opened) return fail(opened.error());
    files.push_back(file_at(path, fs::path(path).filename().string()));
  }
  if (files.empty()) {
    return fail(ErrorKind::not_found, "NO_FILES", paths.empty() ? "" : paths.front(),
                "there are no files here");
  }
  return files;
}

Result<SourceFiles> collect_source_files(const std::vector<std::string>& paths) {
  SourceFiles out;
  for (const std::string& path : paths) {
    Result<std::vector<ingest::RecordedFile>> files = collect_files({path});
    if (!files) return fail(files.error());
    const std::size_t first = out.files.size();
    std::optional<FetchRecord> record;
    for (ingest::RecordedFile& file : *files) {
      if (file.locator != kFetchRecordName) {
        out.files.push_back(std::move(file));
        continue;
      }
      Result<FetchRecord> read = read_fetch_record(file);
      if (!read) return fail(read.error());
      record = std::move(*read);
      file.media_type = kFetchRecordMediaType;
      out.fetch_records.push_back(std::move(file));
    }
    if (!record) continue;
    if (Status applied = apply_fetch_record(out, first, *record); !applied) {
      return fail(applied.error());
    }
  }
  if (out.files.empty()) {
    return fail(ErrorKind::not_found, "NO_FILES", paths.front(), "there are no files here");
  }
  return out;
}

}  // namespace kernelindex::tools
