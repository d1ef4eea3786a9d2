// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/ledger_access.h"
#include "tools/progress.h"
#include "tools/reparser.h"
#include "tools/verbs.h"
#include "verify/audit.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--reimport",
     .help = "also run the parsers again over the kept snapshots, and expect the same documents"},
    {.name = "--since",
     .value = "FILE",
     .help = "a checkpoint that you kept: the log must continue it, and of older entries only the "
             "log itself is checked",
     .kind = ValueKind::file},
};
constexpr std::string_view kExamples[] = {
    "audit",
    "audit --reimport --json",
    "audit --since checkpoint.txt",
};

Result<AuditReport> audit(Session& session, const Arguments& arguments) {
  Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  AuditOptions audit;
  audit.threads = std::max(1u, std::thread::hardware_concurrency());
  if (arguments.given("--since")) {
    const std::string path = arguments.text("--since");
    const Result<std::string> bytes = read_input(path, limits::kNoteBytes);
    if (!bytes) return fail(bytes.error());
    Result<SignedCheckpoint> since = parse_checkpoint(*bytes);
    if (!since) return fail_in(input_name(path), since.error());
    audit.since = std::move(*since);
  }
  Progress progress("auditing", session.quiet());
  audit.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total, "steps");
  };
  Result<AuditReport> report = audit_directory(*options, audit);
  if (!report || !arguments.given("--reimport")) return report;

  options->read_only = true;
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::open(*options);
  if (!ledger) {  // the audit said why; without a reader nothing can be parsed again
    if (report->ok()) return fail(ledger.error());
    return report;
  }
  ImporterReparser reparser;
  audit_reimport((*ledger)->read(), reparser, audit.faults_max).add_to(*report, audit.faults_max);
  return report;
}

void print_fault(Output& out, const Fault& fault) {
  std::string place = fault.index ? "entry " + std::to_string(*fault.index) : "";
  if (fault.digest) place += (place.empty() ? "" : ", ") + fault.digest->text();
  out.write(out.terminal().tinted(fault.code, Tone::bad) + "  " +
            escape_text(place + (place.empty() ? "" : ": ") + fault.what) + "\n");
  if (!fault.expected.empty()) out.write("    expected  " + escape_text(fault.expected) + "\n");
  if (!fault.found.empty()) out.write("    found     " + escape_text(fault.found) + "\n");
}

void print_text(Output& out, const AuditReport& report) {
  for (const Fault& fault : report.faults) print_fault(out, fault);
  if (report.faults_left_out != 0) {
    out.write("and " + counted(report.faults_left_out, "more", "more") + "\n");
  }
  const AuditCounts& checked = report.checked;
  out.write("checked " + counted(checked.leaves, "leaf", "leaves") + ", " +
            counted(checked.objects, "object") + ", " +
            counted(checked.identities, "identity", "identities") + ", " +
            counted(checked.comparison_keys, "comparison key") + ", " +
            counted(checked.signatures, "signature") + ", " + counted(checked.rows, "row") + "\n");
  out.write("size " + grouped(report.size) + ", root " + report.root.text() + "\n");
  if (report.ok()) {
    out.write(out.terminal().tinted("OK", Tone::good) + "\n");
    return;
  }
  const std::uint64_t faults = report.faults.size() + report.faults_left_out;
  out.write(
      out.terminal().tinted(counted(faults, "fault"), Tone::bad) +
      (report.derived_only() ? ", all in derived data: 'kernelindex reindex' cures them\n" : "\n"));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<AuditReport> report = audit(session, arguments);
  if (!report) return fail(report.error());
  if (session.out().for_people()) {
    print_text(session.out(), *report);
  } else {
    session.out().write(report->json() + "\n");
  }
  return report->ok() ? ExitCode::done : ExitCode::corrupt;
}

}  // namespace

constexpr Verb kAuditVerb{
    .name = "audit",
    .summary = "recompute everything in the ledger, and compare",
    .details =
        "Every leaf, tile, root and object digest, every identity and comparison key, every\n"
        "signature, row and index, and the released marks. Exit 4 when something disagrees; each\n"
        "fault names its place with both values.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
