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

}  // namespace kernelindex::tools
