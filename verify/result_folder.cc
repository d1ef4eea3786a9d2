// SPDX-License-Identifier: Apache-2.0
#include "verify/result_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "schema/limits.h"
#include "schema/measurement_result.h"

namespace kernelindex {
namespace {

constexpr std::string_view kStatement = "statement.dsse.json";
constexpr std::string_view kDocument = "result.json";
constexpr std::string_view kObjects = "objects";
constexpr std::size_t kStatementBytes = limits::kMiB;

std::unexpected<Error> cannot_write(const std::filesystem::path& path, const std::string& why) {
  return fail(ErrorKind::system, "CANNOT_WRITE", path.string(), "this cannot be written: " + why,
              "name another folder with -o");
}

std::unexpected<Error> cannot_read(const std::filesystem::path& path) {
  return fail(ErrorKind::system, "CANNOT_READ", path.string(),
              "this cannot be read: " + std::string(std::strerror(errno)),
              "the folder must be readable for you");
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return cannot_write(path, std::strerror(errno));
}

std::unexpected<Error> too_large(const std::filesystem::path& path, std::uint64_t limit) {
  return fail(ErrorKind::invalid, "TOO_LARGE", path.string(),
              "this has more than " + std::to_string(limit) + " bytes",
              "a folder that `rerun` wrote holds nothing of that size");
}

// A regular file of a bounded size: nothing that waits, and nothing that leads elsewhere.
class FileSource final : public ByteSource {
 public:
  static Result<std::unique_ptr<FileSource>> open(const std::filesystem::path& path,
                                                  std::uint64_t limit) {
    std::error_code error;
    const std::filesystem::file_type type = std::filesystem::symlink_status(path, error).type();
    if (type == std::filesystem::file_type::not_found) return nullptr;
    if (type != std::filesystem::file_type::regular) {
      return fail(ErrorKind::invalid, "NOT_A_FILE", path.string(), "this is no regular file",
                  "copy the folder again from the machine that measured");
    }
    if (std::filesystem::file_size(path, error) > limit) return too_large(path, limit);
    auto source = std::make_unique<FileSource>(path, limit);
    if (!source->file_) return cannot_read(path);
    return source;
  }
  FileSource(const std::filesystem::path& path, std::uint64_t limit)
      : path_(path), limit_(limit), file_(path, std::ios::binary) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    file_.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    if (file_.bad()) return cannot_read(path_);
    const auto count = static_cast<std::size_t>(file_.gcount());
    read_ += count;
    // A file that grows while it is read ends here.
    if (read_ > limit_) return too_large(path_, limit_);
    return count;
  }
  Status rewind() override {
    file_.clear();
    file_.seekg(0);
    read_ = 0;
    if (!file_) return cannot_read(path_);
    return {};
  }

 private:
  std::filesystem::path path_;
  std::uint64_t limit_;
  std::ifstream file_;
  std::uint64_t read_ = 0;
};

Result<std::string> read_small(const std::filesystem::path& path, std::size_t limit) {
  const Result<std::unique_ptr<FileSource>> source = FileSource::open(path, limit);
  if (!source) return fail(source.error());
  if (*source == nullptr) {
    return fail(ErrorKind::not_found, "NO_RESULT", path.string(), "there is no such file",
                "name the folder that `kernelindex rerun` or `kernelindex calibrate` wrote");
  }
  std::string out;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const Result<std::size_t> count = (*source)->read(buffer);
    if (!count) return fail(count.error());
    if (*count == 0) return out;
    out.append(buffer.data(), *count);
  }
}

}  // namespace

Result<ResultWriter> ResultWriter::make(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return cannot_write(folder, error.message());
  if (!std::filesystem::is_empty(folder, error)) {
    return fail(ErrorKind::usage, "FOLDER_NOT_EMPTY", folder.string(),
                "results are never written over others", "name a folder that is not there yet");
  }
  std::filesystem::create_directory(folder / kObjects, error);
  if (error) return cannot_write(folder, error.message());
  return ResultWriter(folder);
}

Status ResultWriter::object(std::string_view bytes) {
  return write_file(folder_ / kObjects / sha256(bytes).hex(), bytes);
}

Status ResultWriter::document(std::string_view text) {
  return write_file(folder_ / kDocument, text);
}

Status ResultWriter::statement(std::string_view envelope) {
  return write_file(folder_ / kStatement, envelope);
}

Result<ResultFolder> ResultFolder::open(const std::filesystem::path& folder) {
  ResultFolder out(folder);
  Result<std::string> statement = read_small(folder / kStatement, kStatementBytes);
  if (!statement) return fail(statement.error());
  out.statement_ = std::move(*statement);
  Result<std::string> document = read_small(folder / kDocument, kResultDocumentBytes);
  if (!document) return fail(document.error());
  out.document_ = std::move(*document);
  return out;
}

Result<std::unique_ptr<ByteSource>> ResultFolder::object(const Digest& digest) const {
  const std::filesystem::path path = folder_ / kObjects / digest.hex();
  Result<std::unique_ptr<FileSource>> source = FileSource::open(path, kResultObjectBytes);
  if (!source) return fail(source.error());
  if (*source == nullptr) return nullptr;
  Sha256 hash;
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    const Result<std::size_t> count = (*source)->read(buffer);
    if (!count) return fail(count.error());
    if (*count == 0) break;
    hash.update({buffer.data(), *count});
  }
  if (hash.finish() != digest) {
    return fail(ErrorKind::invalid, "OBJECT_DIFFERS", path.string(),
                "the bytes of this file are not those that its name says",
                "copy the folder again from the machine that measured");
  }
  if (Status status = (*source)->rewind(); !status) return fail(status.error());
  return std::unique_ptr<ByteSource>(std::move(*source));
}

}  // namespace kernelindex
