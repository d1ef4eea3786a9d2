// SPDX-License-Identifier: Apache-2.0
#include "ingest/import.h"

#include "ingest/kernelindex_catalog.h"
#include "ingest/kernelindex_run_page.h"
#include "ingest/pipeline.h"
#include "ingest/sol_execbench.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

Result<std::string> read_whole(const RecordedFile& file) {
  std::string out;
  std::string buffer(limits::kMiB, '\0');
  Result<std::unique_ptr<ByteSource>> bytes = file.open();
  if (!bytes) return fail_in(file.locator, bytes.error());
  while (true) {
    const Result<std::size_t> count = (*bytes)->read(buffer);
    if (!count) return fail_in(file.locator, count.error());
    if (*count == 0) return out;
    if (out.size() + *count > limits::kSourceJsonBytes) {
      return fail(ErrorKind::invalid, "TOO_LARGE", file.locator,
                  "the file is larger than the limit of 64 MiB for one document");
    }
    out.append(buffer, 0, *count);
  }
}

// Files as importers of whole documents take them; `contents` owns their bytes.
Result<std::vector<SourceFile>> load(std::span<const RecordedFile> files,
                                     std::vector<std::string>& contents) {
  contents.reserve(files.size());
  std::vector<SourceFile> out;
  for (const RecordedFile& file : files) {
    Result<std::string> bytes = read_whole(file);
    if (!bytes) return fail(bytes.error());
    contents.push_back(std::move(*bytes));
    out.push_back({file.locator, file.media_type, file.fetched_at, contents.back()});
  }
  return out;
}

std::unexpected<Error> bad_options(std::string_view text) {
  return fail(ErrorKind::invalid, "BAD_OPTIONS", std::string(text),
              "these are no options of an import that this program knows");
}

Value text_list(Arena& arena, const std::vector<std::string>& texts) {
  std::vector<Value> out;
  for (const std::string& text : texts) out.push_back(arena.string(text));
  return arena.array(out);
}

}  // namespace

std::string ImportOptions::json() const {
  Arena arena;
  ObjectBuilder out(arena);
  if (top) out.add("top", Value(static_cast<double>(*top)));
  if (!tags.empty()) out.add("tags", text_list(arena, tags));
  if (!kernels.empty()) out.add("kernels", text_list(arena, kernels));
  out.add_if(!stack.empty(), "stack", stack);
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
  if (out.json() != text) return bad_options(text);
  return out;
}

Status run_importer(const SourceInfo& source, const ImportOptions& options,
                    std::span<const RecordedFile> files, DraftSink& sink) {
  if (source.name == "kernelindex-catalog") {
    if (files.size() != 1) {
      return fail(ErrorKind::usage, "ONE_FILE", {}, "a catalog export is one file",
                  "import several one after the other");
    }
    Result<std::unique_ptr<ByteSource>> bytes = files.front().open();
    if (!bytes) return fail_in(files.front().locator, bytes.error());
    return import_kernelindex_catalog(**bytes, files.front().locator, {}, sink);
  }
  std::vector<std::string> contents;
  Result<std::vector<SourceFile>> loaded = load(files, contents);
  if (!loaded) return fail(loaded.error());
  if (source.name == "kernelindex-run") return import_kernelindex_run(*loaded, sink);
  return import_sol_execbench(*loaded, {options.top, options.tags, options.kernels, options.stack},
                              sink);
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
  Recorder recorder(ledger, appender.get(), std::string(source.name), request.files);
  const Status status = run_pipelined(
      [&](DraftSink& sink) { return run_importer(source, request.options, request.files, sink); },
      recorder);
  if (!status) return fail(status.error());
  return recorder.finish();
}

}  // namespace kernelindex::ingest
