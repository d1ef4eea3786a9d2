// SPDX-License-Identifier: Apache-2.0
#include "ingest/source_documents.h"

#include <utility>

namespace kernelindex::ingest {

Result<SourceDocuments> SourceDocuments::read(std::span<const RecordedFile> files) {
  SourceDocuments out;
  out.bytes_.reserve(files.size());
  for (const RecordedFile& file : files) {
    Result<std::string> bytes = read_whole(file);
    if (!bytes) return fail(std::move(bytes.error()));
    out.bytes_.push_back(std::move(*bytes));
    out.files_.push_back({file.locator, file.media_type, file.fetched_at, {}});
  }
  return out;
}

std::vector<SourceFile> SourceDocuments::files() const {
  std::vector<SourceFile> out = files_;
  for (std::size_t i = 0; i < out.size(); ++i) out[i].bytes = bytes_[i];
  return out;
}

}  // namespace kernelindex::ingest
