// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/progress.h"
#include "tools/reparser.h"
#include "tools/verbs.h"
#include "verify/audit.h"
#include "verify/bundle_format.h"
#include "verify/status_check.h"

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
    {.name = "--status",
     .value = "FILE",
     .help = "check this status instead, a bundle or an envelope: of each head that it states "
             "wrongly print the entry that disproves it, with its proof",
     .kind = ValueKind::file},
};
constexpr std::string_view kExamples[] = {
    "audit",
    "audit --reimport --json",
    "audit --since checkpoint.txt",
    "audit --status run.bundle.json",
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

// ---- a status statement ----

std::string head_text(const std::optional<std::uint64_t>& index) {
  return index ? "entry " + std::to_string(*index) : "no entry";
}

void print_status_text(Output& out, const StatusReport& report) {
  if (!report.code.empty()) {
    out.write(out.terminal().tinted(report.code, Tone::bad) + "  " + escape_text(report.detail) +
              "\n");
  }
  for (const StatusLie& lie : report.lies) {
    out.write(out.terminal().tinted("FALSE_HEAD", Tone::bad) + "  " + lie.subject.text() +
              ": the status names " + head_text(lie.stated) + ", the log " + head_text(lie.actual) +
              "\n");
    out.write("    index  " + std::to_string(lie.index) + " of " +
              std::to_string(report.stated.size) + "\n    leaf   " + escape_text(lie.leaf) + "\n");
    for (const std::string& hash : proof_texts(lie.proof)) out.write("    proof  " + hash + "\n");
  }
  if (report.notes_stated != report.notes_actual) {
    out.write(out.terminal().tinted("FALSE_NOTES", Tone::bad) + "  the status counts " +
              counted(report.notes_stated, "note") + ", the log has " +
              std::to_string(report.notes_actual) + "\n");
  }
  out.write("status of " + report.run.text() + " at size " + grouped(report.stated.size) +
            ", root " + report.stated.root.text() + "\n");
  out.write(report.ok() ? out.terminal().tinted("OK", Tone::good) + "\n"
                        : out.terminal().tinted("FALSE", Tone::bad) + "\n");
}

void print_status_json(Output& out, const StatusReport& report) {
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> lies;
  for (const StatusLie& lie : report.lies) {
    lies.push_back(json.object()
                       .add("subject", json.digest(lie.subject))
                       .add("stated", json.count(lie.stated))
                       .add("actual", json.count(lie.actual))
                       .add("index", json.count(lie.index))
                       .add("leaf", json.text(lie.leaf))
                       .add("proof", json.texts(proof_texts(lie.proof)))
                       .finish());
  }
  out.document(json.object()
                   .add("ok", json::Value(report.ok()))
                   .add("subject", json.digest(report.run))
                   .add("signer", json.text(report.signer.hex()))
                   .add("size", json.count(report.stated.size))
                   .add("root", json.digest(report.stated.root))
                   .add_if(!report.code.empty(), "code", report.code)
                   .add_if(!report.detail.empty(), "detail", report.detail)
                   .add("lies", json.array(lies))
                   .add("notes", json.object()
                                     .add("stated", json.count(report.notes_stated))
                                     .add("actual", json.count(report.notes_actual))
                                     .finish())
                   .finish());
}

Result<ExitCode> run_status(Session& session, const Arguments& arguments) {
  if (arguments.given("--since") || arguments.given("--reimport")) {
    return fail(ErrorKind::usage, "USAGE", "--status",
                "a status is checked by itself, not together with --since or --reimport");
  }
  const std::string path = arguments.text("--status");
  const Result<std::string> bytes = read_input(path, kBundleBytes);
  if (!bytes) return fail(bytes.error());
  const Result<Envelope> status = read_status(*bytes);
  if (!status) return fail_in(input_name(path), status.error());
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Result<StatusReport> report = check_status((*ledger)->read(), *status);
  if (!report) return fail(report.error());
  if (session.out().for_people()) {
    print_status_text(session.out(), *report);
  } else {
    print_status_json(session.out(), *report);
  }
  return report->ok() ? ExitCode::done : ExitCode::check_failed;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (arguments.given("--status")) return run_status(session, arguments);
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
        "fault names its place with both values. With --status a statement that says too little "
        "is\n"
        "disproved: exit 1.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
