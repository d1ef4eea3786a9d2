// SPDX-License-Identifier: Apache-2.0
// export tiles: the log and its objects as static files.
#include "ledger/entry.h"
#include "ledger/tile_export.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/log_identity.h"
#include "tools/progress.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {{
    .name = "DIR",
    .help = "the folder to write into; made when it is not there",
    .kind = ValueKind::folder,
    .required = true,
}};
constexpr std::string_view kExamples[] = {"export tiles public/log"};

// A checkpoint that was released, so that an export can be made while somebody writes.
struct Source {
  std::unique_ptr<Ledger> ledger;
  SignedCheckpoint checkpoint;
};

Result<Source> open_source(const Session& session) {
  // A writer may release a newer one between two looks; then the ledger is opened again.
  constexpr int kLooks = 3;
  for (int look = 0; look < kLooks; ++look) {
    Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::log);
    if (!ledger) return fail(ledger.error());
    std::optional<SignedCheckpoint> kept = released_checkpoint(**ledger, (*ledger)->read());
    if (kept) return Source{std::move(*ledger), std::move(*kept)};
  }
  // None is there: a new one has to be signed, by the one who may write.
  Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  Result<SignedCheckpoint> checkpoint = (*ledger)->checkpoint();
  if (!checkpoint) return fail(checkpoint.error());
  return Source{std::move(*ledger), std::move(*checkpoint)};
}

Result<std::vector<Digest>> objects_of(std::string_view leaf) {
  const Result<Entry> entry = decode_entry(leaf);
  if (!entry) return fail(entry.error());
  return std::vector{entry->content.digest};
}

json::Value counts_of(const JsonOutput& json, const TileExportReport::Counts& counts) {
  return json.object()
      .add("tiles", json.count(counts.tiles))
      .add("bundles", json.count(counts.bundles))
      .add("objects", json.count(counts.objects))
      .finish();
}

std::string text_of(const TileExportReport::Counts& counts) {
  return counted(counts.tiles, "tile") + ", " + counted(counts.bundles, "bundle") + ", " +
         counted(counts.objects, "object") + "\n";
}

void print(Output& out, const SignedCheckpoint& checkpoint, const TileExportReport& report) {
  const TreeHead& head = checkpoint.checkpoint.head;
  if (out.for_people()) {
    out.write("written  " + text_of(report.written));
    out.write("kept     " + text_of(report.kept));
    if (report.objects_absent != 0) {
      out.write("absent   " + counted(report.objects_absent, "object") + " that are not held\n");
    }
    out.write("size " + grouped(head.size) + ", root " + head.root.text() + "\n");
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("origin", json.text(checkpoint.checkpoint.origin))
                   .add("size", json.count(head.size))
                   .add("root", json.digest(head.root))
                   .add("written", counts_of(json, report.written))
                   .add("kept", counts_of(json, report.kept))
                   .add("objectsAbsent", json.count(report.objects_absent))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<Source> source = open_source(session);
  if (!source) return fail(source.error());
  const Reader reader = source->ledger->read();
  TileExport log;
  log.checkpoint = source->checkpoint;
  log.tiles = reader.tiles();
  log.leaf = [&](std::uint64_t index) { return reader.leaf(index); };
  log.objects = objects_of;
  log.object = [&](const Digest& digest, const ByteSink& sink) {
    return reader.stream_object(digest, sink);
  };
  Result<TileExportReport> report = TileExportReport{};
  {
    Progress progress("exporting", session.quiet());
    log.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total, "entries");
    };
    report = export_tiles(log, arguments.text("DIR"));
  }
  if (!report) return fail(report.error());
  print(session.out(), source->checkpoint, *report);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kExportTilesVerb{
    .name = "export tiles",
    .summary = "write the log and its objects as files that any static host can serve",
    .details =
        "C2SP tlog-tiles: 'checkpoint', 'tile/<L>/<N>', 'tile/entries/<N>', and each object at\n"
        "'object/<2 hex>/<62 hex>'. Files that are there and right are kept, so an export that "
        "was\n"
        "broken off goes on, and a grown log adds to its folder. The checkpoint comes last. "
        "Strangers\n"
        "judge the folder with 'verify tiles DIR --key VKEY'.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
