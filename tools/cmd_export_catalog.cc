// SPDX-License-Identifier: Apache-2.0
// export catalog: the ledger's claims as a catalog, in the rows that `import` reads.
#include <optional>

#include "ingest/catalog_export.h"
#include "ingest/zstd_sink.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/run_output.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

using ingest::CatalogExport;
using ingest::CatalogExportReport;

constexpr std::string_view kStandardOutput = "-";
constexpr std::string_view kCompressed = ".zst";

constexpr OptionSpec kOptions[] = {{
    .name = "FILE",
    .help = "the file to write, compressed with zstd when its name ends in .zst; - for standard "
            "output",
    .kind = ValueKind::output,
    .required = true,
}};
constexpr std::string_view kExamples[] = {
    "export catalog catalog.jsonl.zst",
    "export catalog - | jq -c 'select(.table == \"benchmark_runs\") | .row.runDigest'",
};

std::uint64_t rows_of(const CatalogExportReport& report) {
  std::uint64_t all = 0;
  for (const auto& [table, rows] : report.rows) all += rows;
  return all;
}

// Hands all rows to `sink`, a piece at a time.
Result<CatalogExportReport> stream_rows(const Reader& reader, bool quiet, const ByteSink& sink) {
  Progress progress("exporting", quiet);
  Result<CatalogExport> rows = CatalogExport::start(reader);
  if (!rows) return fail(rows.error());
  std::string piece;
  for (bool more = true; more;) {
    piece.clear();
    const Result<bool> follows = rows->next(piece);
    if (!follows) return fail(follows.error());
    more = *follows;
    if (Status taken = sink(piece); !taken) return fail(taken.error());
    progress.update(rows_of(rows->report()), 0, "rows");
  }
  return rows->report();
}

Result<CatalogExportReport> write_file(const Reader& reader, const Session& session,
                                       const std::string& path) {
  OutputFile file(path);
  if (Status opened = file.open(); !opened) return fail(opened.error());
  const ByteSink plain = [&](std::string_view piece) { return file.write(piece); };
  std::optional<ingest::ZstdSink> compressed;
  if (path.ends_with(kCompressed)) compressed.emplace(plain);
  Result<CatalogExportReport> report = stream_rows(
      reader, session.quiet(),
      [&](std::string_view piece) { return compressed ? compressed->write(piece) : plain(piece); });
  if (!report) return report;
  if (compressed) {
    if (Status ended = compressed->finish(); !ended) return fail(ended.error());
  }
  if (Status kept = file.commit(); !kept) return fail(kept.error());
  return report;
}

std::string text_of(const CatalogExportReport& report, const TreeHead& head) {
  std::string text;
  for (const auto& [table, rows] : report.rows) {
    if (rows == 0) continue;
    text += pad_right(ingest::table_name(table), 26) + pad_left(grouped(rows), 9) + "\n";
  }
  text += pad_right("rows", 26) + pad_left(grouped(rows_of(report)), 9) + "\n";
  for (const auto& [reason, count] : report.left_out) {
    text +=
        "left out   " + grouped(count) + " " + std::string(ingest::left_out_name(reason)) + "\n";
  }
  return text + "size " + grouped(head.size) + ", root " + head.root.text() + "\n";
}

void print(Output& out, const CatalogExportReport& report, const TreeHead& head) {
  if (out.for_people()) {
    out.write(text_of(report, head));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder rows = json.object();
  for (const auto& [table, count] : report.rows) {
    rows.add(ingest::table_name(table), json.count(count));
  }
  json::ObjectBuilder left_out = json.object();
  for (const auto& [reason, count] : report.left_out) {
    left_out.add(ingest::left_out_name(reason), json.count(count));
  }
  out.document(json.object()
                   .add("rows", rows.finish())
                   .add("leftOut", left_out.finish())
                   .add("asOf", head_document(json, head))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const std::string path = arguments.text("FILE");
  if (path != kStandardOutput) {
    const Result<CatalogExportReport> report = write_file(reader, session, path);
    if (!report) return fail(report.error());
    print(session.out(), *report, reader.head());
    return ExitCode::done;
  }
  const Result<CatalogExportReport> report =
      stream_rows(reader, true, [&](std::string_view piece) -> Status {
        session.out().write(piece);
        return {};
      });
  if (!report) return fail(report.error());
  // Standard output has the rows and nothing else.
  session.note(text_of(*report, reader.head()));
  return ExitCode::done;
}

}  // namespace

constexpr Verb kExportCatalogVerb{
    .name = "export catalog",
    .summary =
        "write what the ledger claims as a catalog, which `import kernelindex-catalog` reads",
    .details =
        "JSON lines {\"table\": name, \"row\": {...}} in the format of the KernelIndex catalog. A "
        "row's id\n"
        "is the one that a catalog gave it, else a UUIDv8 made of its digest, so that it is the "
        "same\n"
        "wherever it is written. Importing the file gives the same digests and comparison keys. "
        "What\n"
        "cannot have a row is counted by its reason: WITHHELD, NOT_COVERED (no valid import "
        "statement),\n"
        "NOT_REPORTED (a run without an evidence level), REFERENCE_LEFT_OUT, NO_RUN (a protocol or "
        "an\n"
        "environment that no run shows), OTHER_DOCUMENT (a further document of one identity).",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
