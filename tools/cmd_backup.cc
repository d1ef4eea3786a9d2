// SPDX-License-Identifier: Apache-2.0
// backup, restore.
#include "ledger/backup.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/table.h"
#include "tools/units.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kBackupOptions[] = {
    {.name = "DIR",
     .help = "a new folder for the backup",
     .kind = ValueKind::output,
     .required = true},
};
constexpr std::string_view kBackupExamples[] = {"backup /mnt/backup/2026-11-30"};

constexpr OptionSpec kRestoreOptions[] = {
    {.name = "DIR",
     .help = "a folder that `backup` made",
     .kind = ValueKind::file,
     .required = true},
};
constexpr std::string_view kRestoreExamples[] = {
    "restore /mnt/backup/2026-11-30 --ledger restored.ledger"};

std::uint64_t total_bytes(const BackupInfo& info) {
  std::uint64_t total = 0;
  for (const BackupFile& file : info.files) total += file.size;
  return total;
}

void print(Session& session, std::string_view what, const std::filesystem::path& place,
           const BackupInfo& info, const std::optional<ReadOnlyReason>& read_only) {
  Output& out = session.out();
  if (out.for_people()) {
    FactList facts;
    facts.add(std::string(what), place.string(), Tone::strong);
    facts.add("ledger id", info.ledger_id.text());
    facts.add("origin", info.origin);
    facts.add("taken", format_utc_micros(info.taken_at));
    facts.add("size", counted(info.head.size, "entry", "entries"));
    facts.add("root", info.head.root.text());
    facts.add("files", std::to_string(info.files.size()) + ", " +
                           std::to_string(total_bytes(info)) + " bytes");
    if (read_only) {
      facts.add("read only", read_only->message + " (" + read_only->code + ")", Tone::bad);
    }
    out.write(facts.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder document = json.object();
  document.add(what, json.text(place.native()))
      .add("ledgerId", json.digest(info.ledger_id))
      .add("origin", info.origin)
      .add("takenAt", json.text(format_utc_micros(info.taken_at)))
      .add("size", json.count(info.head.size))
      .add("root", json.digest(info.head.root))
      .add("files", json.count(info.files.size()))
      .add("bytes", json.count(total_bytes(info)));
  if (read_only) {
    document.add("readOnly", json.object()
                                 .add("code", read_only->code)
                                 .add("message", read_only->message)
                                 .add("size", json.count(read_only->size))
                                 .add("released", json.count(read_only->released))
                                 .finish());
  }
  out.document(document.finish());
}

// For writing where that can be had, since then the files are copied as they are; beside a writer,
// or where we may only read, what is read is copied.
Result<std::unique_ptr<Ledger>> open_for_copy(const Session& session) {
  Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  Result<std::unique_ptr<Ledger>> ledger = Ledger::open(*options);
  if (ledger || (ledger.error().code != "LOCK_HELD" && ledger.error().code != "PERMISSION")) {
    return ledger;
  }
  options->read_only = true;
  return Ledger::open(*options);
}

Result<ExitCode> run_backup(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_for_copy(session);
  if (!ledger) return fail(ledger.error());
  const std::filesystem::path directory = arguments.text("DIR");
  const Result<BackupInfo> info = backup(**ledger, directory);
  if (!info) return fail(info.error());
  print(session, "backup", directory, *info, std::nullopt);
  session.note(
      "\nNo private key is in it: keep copies of the key files elsewhere, and of "
      "log.key.released with the log key.");
  return ExitCode::done;
}

Result<ExitCode> run_restore(Session& session, const Arguments& arguments) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  const Result<Restored> restored = restore(arguments.text("DIR"), *options);
  if (!restored) return fail(restored.error());
  print(session, "ledger", options->directory, restored->info, restored->read_only);
  if (restored->read_only) {
    session.note(
        "\nA later state of this ledger was released, so nothing can be signed here: "
        "restore a newer backup,\nor found a new ledger and take this one over with "
        "`kernelindex import kernelindex-ledger " +
        escape_text(options->directory.string()) + "`.");
  } else {
    session.note("\n`kernelindex audit` checks what came back.");
  }
  return ExitCode::done;
}

}  // namespace

constexpr Verb kBackupVerb{
    .name = "backup",
    .summary = "copy the ledger as it stands, without keys, also while it is written",
    .details =
        "Each file is kept with its digest. A backup can be read where it lies (--ledger\n"
        "DIR), and is never written to. It holds what `withhold` removes later: delete\n"
        "older backups then.",
    .options = kBackupOptions,
    .examples = kBackupExamples,
    .run = run_backup,
};

constexpr Verb kRestoreVerb{
    .name = "restore",
    .summary = "bring a backup back as a ledger",
    .details =
        "Overwrites nothing, and checks every file against its digest. When a later state\n"
        "was released since, which a checkpoint in the ledger's folder, beside the log key\n"
        "or in the user's state folder shows, the ledger opens read-only: signing past the\n"
        "lost entries would fork the log.",
    .options = kRestoreOptions,
    .examples = kRestoreExamples,
    .run = run_restore,
};

}  // namespace kernelindex::tools
