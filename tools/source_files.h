// SPDX-License-Identifier: Apache-2.0
// Paths of a command line as the files of an import.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingest/recorder.h"
#include "schema/byte_source.h"
#include "schema/result.h"

namespace kernelindex::tools {

// Opens a file for reading piece by piece. Errors: NO_SUCH_FILE (not_found), CANNOT_READ (system).
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// Files as they are, folders with all files below them in order of their names. A file's locator is
// its path relative to the argument, or its name; so it does not depend on where the input lies.
Result<std::vector<ingest::RecordedFile>> collect_files(const std::vector<std::string>& paths);

// The files of an import, and what fetched them.
struct SourceFiles {
  std::vector<ingest::RecordedFile> files;
  std::vector<ingest::RecordedFile> fetch_records;
  std::vector<ingest::Finding> findings;
};

// As collect_files(). A folder that `fetch` wrote holds its record: the files that it names are
// fetched ones, with their URL as locator and the time of the answer, when their bytes are those
// that it says; the record itself is no file of the source. Of a file that was changed since a
// finding says so (FETCHED_FILE_CHANGED), and it is supplied like any other; so is one that an
// allowed host gave without TLS (FETCHED_WITHOUT_TLS).
// Errors: those of collect_files() and parse_fetch_record().
Result<SourceFiles> collect_source_files(const std::vector<std::string>& paths);

}  // namespace kernelindex::tools
