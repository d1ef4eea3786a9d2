// SPDX-License-Identifier: Apache-2.0
// Which source each of some files is of, from their content: what `import PATH` takes them for.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ingest/recorded_file.h"
#include "ingest/sources.h"
#include "schema/result.h"

namespace kernelindex::ingest {

struct RecognisedFiles {
  const SourceInfo* source = nullptr;
  std::vector<std::size_t> files;  // their indexes, in order
};

struct Recognition {
  std::vector<RecognisedFiles> sources;  // by the first file of each
  std::vector<std::size_t> unclaimed;    // that no source knows
};

// Reads the beginning of each file. Definitions, solutions and traces look alike in two sources. A
// solution tells by its content (FlashInfer-Bench has `language`, SOL-ExecBench `languages`), and
// what stands beside it goes with it; then folders tell that are called as in FlashInfer-Bench, and
// files as in SOL-ExecBench; then the nearest solution. A catalog export is one file, so that
// several are several imports.
Result<Recognition> recognise_files(std::span<const RecordedFile> files);

}  // namespace kernelindex::ingest
