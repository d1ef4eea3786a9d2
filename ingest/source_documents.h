// SPDX-License-Identifier: Apache-2.0
// Files of which each is one document, read into memory for an importer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"
#include "schema/result.h"

namespace kernelindex::ingest {

class SourceDocuments {
 public:
  // At most 64 MiB each (TOO_LARGE).
  static Result<SourceDocuments> read(std::span<const RecordedFile> files);

  // Views into this object, which stays where it is meanwhile.
  std::vector<SourceFile> files() const;

 private:
  std::vector<SourceFile> files_;  // without bytes
  std::vector<std::string> bytes_;
};

}  // namespace kernelindex::ingest
