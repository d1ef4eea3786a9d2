// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_files.h"

#include <string>
#include <utility>
#include <vector>

#include "ingest/benchmark_tree.h"
#include "ingest/file_subset.h"
#include "ingest/json_items.h"
#include "ingest/source_documents.h"

namespace kernelindex::ingest {
namespace {

Status import_dump(std::span<const RecordedFile> files, const SolExecbenchOptions& options,
                   DraftSink& sink) {
  const Result<SourceDocuments> documents = SourceDocuments::read(files);
  if (!documents) return fail(documents.error());
  return import_sol_execbench(documents->files(), options, sink);
}

}  // namespace

bool begins_sol_dump(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || beginning[start] != '{') return false;
  const auto names = [&](std::string_view name) { return beginning.find(name) != beginning.npos; };
  if (names("\"kernels\"") || names("\"submissions\"")) return true;
  return names("\"axes\"") && names("\"inputs\"") && names("\"name\"") &&
         (names("\"workloads\"") || names("\"id\""));
}

Status import_sol_files(std::span<const RecordedFile> files, const SolExecbenchOptions& dump,
                        const SolLocalOptions& local, DraftSink& sink) {
  std::vector<std::size_t> saved;
  std::vector<std::size_t> tree;
  std::vector<std::size_t> unknown;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const Result<std::string> beginning = read_beginning(files[file], kBeginningBytes);
    if (!beginning) return fail(beginning.error());
    if (begins_benchmark_tree(*beginning, files[file].locator)) {
      tree.push_back(file);
    } else {
      (begins_sol_dump(*beginning) ? saved : unknown).push_back(file);
    }
  }
  if (tree.empty()) return import_dump(files, dump, sink);
  if (saved.empty()) return import_sol_local(files, local, sink);
  saved.insert(saved.end(), unknown.begin(), unknown.end());
  FileSubset of_dump(saved, sink);
  if (Status done = import_dump(of_dump.files_of(files), dump, of_dump); !done) return done;
  FileSubset of_tree(tree, sink);
  return import_sol_local(of_tree.files_of(files), local, of_tree);
}

}  // namespace kernelindex::ingest
