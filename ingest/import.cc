// SPDX-License-Identifier: Apache-2.0
#include "ingest/import.h"

#include <utility>

#include "ingest/flashinfer_bench.h"
#include "ingest/gpumode_kernelbot.h"
#include "ingest/kernelbench.h"
#include "ingest/kernelindex_catalog.h"
#include "ingest/kernelindex_ledger.h"
#include "ingest/kernelindex_run_page.h"
#include "ingest/liger_kernel_bench.h"
#include "ingest/mlperf_inference.h"
#include "ingest/pipeline.h"
#include "ingest/sol_files.h"
#include "ingest/source_documents.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

std::unexpected<Error> bad_options(std::string_view text) {
  return fail(ErrorKind::invalid, "BAD_OPTIONS", std::string(text),
              "these are no options of an import that this program knows");
}

Value text_list(Arena& arena, const std::vector<std::string>& texts) {
  std::vector<Value> out;
  for (const std::string& text : texts) out.push_back(arena.string(text));
  return arena.array(out);
}

Status import_catalog(std::span<const RecordedFile> files, DraftSink& sink) {
  if (files.size() != 1) {
    return fail(ErrorKind::usage, "ONE_FILE", {}, "a catalog export is one file",
                "import several one after the other");
  }
  Result<std::unique_ptr<ByteSource>> bytes = files.front().open();
  if (!bytes) return fail_in(files.front().locator, std::move(bytes.error()));
  return import_kernelindex_catalog(**bytes, files.front().locator, {}, sink);
}

Status import_run_pages(std::span<const RecordedFile> files, DraftSink& sink) {
  const Result<SourceDocuments> documents = SourceDocuments::read(files);
  if (!documents) return fail(documents.error());
  return import_kernelindex_run(documents->files(), sink);
}

// Beside the stream lie the snapshots that the other ledger kept, which are kept and not read.
Status import_ledger_streams(std::span<const RecordedFile> files, DraftSink& sink) {
  for (std::size_t file = 0; file < files.size(); ++file) {
    const Result<std::string> beginning = read_beginning(files[file], limits::kKiB);
    if (!beginning) return fail(beginning.error());
    if (!is_ledger_stream(*beginning)) continue;
    Result<std::unique_ptr<ByteSource>> bytes = files[file].open();
    if (!bytes) return fail_in(files[file].locator, bytes.error());
    Status status = import_kernelindex_ledger(**bytes, files[file].locator, file, sink);
    if (!status) return status;
  }
  return {};
}

}  // namespace

std::string ImportOptions::json() const {
  Arena arena;
  ObjectBuilder out(arena);
  if (top) out.add("top", Value(static_cast<double>(*top)));
  if (!tags.empty()) out.add("tags", text_list(arena, tags));
  if (!kernels.empty()) out.add("kernels", text_list(arena, kernels));
  out.add_if(!stack.empty(), "stack", stack);
  out.add_if(!commit.empty(), "commit", commit);
  out.add_if(!revision.empty(), "revision", revision);
  out.add_if(!observed_at.empty(), "observedAt", observed_at);
  return json::canonical(out.finish());
}

Result<ImportOptions> ImportOptions::parse(std::string_view text) {
  Arena arena;
  const Result<Value> value = json::parse(text, arena);
  if (!value || !value->is_object()) return bad_options(text);
  ImportOptions out;
  const auto texts = [](const Value* list) {
    std::vector<std::string> items;
    if (list == nullptr || !list->is_array()) return items;
    for (const Value& item : list->array()) {
      if (item.is_string()) items.emplace_back(item.string());
    }
    return items;
  };
  if (const Value* top = value->find("top"); top != nullptr && top->is_number()) {
    out.top = static_cast<std::size_t>(top->number());
  }
  out.tags = texts(value->find("tags"));
  out.kernels = texts(value->find("kernels"));
  out.stack = value->text("stack");
  out.commit = value->text("commit");
  out.revision = value->text("revision");
  out.observed_at = value->text("observedAt");
  if (out.json() != text) return bad_options(text);
  return out;
}

Status run_importer(const SourceInfo& source, const ImportOptions& options,
                    std::span<const RecordedFile> files, DraftSink& sink) {
  switch (source.importer) {
    case ImporterName::kernelindex_catalog:
      return import_catalog(files, sink);
    case ImporterName::kernelindex_run:
      return import_run_pages(files, sink);
    case ImporterName::sol_execbench:
      return import_sol_files(files, {options.top, options.tags, options.kernels, options.stack},
                              {options.commit}, sink);
    case ImporterName::flashinfer_bench:
      return import_flashinfer_bench(files, {options.revision}, sink);
    case ImporterName::gpumode_kernelbot:
      return import_gpumode_kernelbot(files, {options.top}, sink);
    case ImporterName::liger_kernel_bench:
      return import_liger_kernel_bench(files, {options.commit}, sink);
    case ImporterName::mlperf_inference:
      return import_mlperf_inference(files, sink);
    case ImporterName::kernelbench:
      return import_kernelbench(files, {options.observed_at}, sink);
    case ImporterName::kernelindex_ledger:
      return import_ledger_streams(files, sink);
  }
  std::unreachable();
}

Result<ImportReport> import_source(Ledger& ledger, const ImportRequest& request) {
  const SourceInfo& source = *request.source;
  std::unique_ptr<Appender> appender;
  if (!request.dry_run) {
    Result<std::unique_ptr<Appender>> opened = ledger.append(
        {std::string(source.parser), std::string(source.parser_version), request.options.json()});
    if (!opened) return fail(opened.error());
    appender = std::move(*opened);
    if (request.progress) appender->on_commit(request.progress);
  }
  Recorder recorder(ledger, appender.get(), std::string(source.name), request.files,
                    source.reads_locators);
  for (const Finding& finding : request.findings) recorder.finding(finding);
  const bool keeps = !request.artifacts.empty() || !request.fetch_records.empty();
  if (keeps && !request.files.empty()) {
    if (Status status = recorder.begin_file(0); !status) return fail(status.error());
  }
  for (const RecordedFile& artifact : request.artifacts) {
    if (Status status = recorder.keep(artifact); !status) return fail(status.error());
  }
  for (const RecordedFile& record : request.fetch_records) {
    if (Status status = recorder.keep_fetch_record(record); !status) return fail(status.error());
  }
  const Status status = run_pipelined(
      [&](DraftSink& sink) { return run_importer(source, request.options, request.files, sink); },
      recorder);
  if (!status) return fail(status.error());
  return recorder.finish();
}

}  // namespace kernelindex::ingest
