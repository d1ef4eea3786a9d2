// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <map>

#include "ingest/import.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/progress.h"
#include "tools/source_files.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--dry-run", .help = "say what an import would do; write nothing"},
    {.name = "--top",
     .value = "N",
     .help = "of each kernel only the N best submissions; by default all (sol-execbench)",
     .kind = ValueKind::count},
    {.name = "--tag",
     .value = "T",
     .help = "only kernels with this tag (sol-execbench)",
     .repeated = true},
    {.name = "--kernel",
     .value = "K",
     .help = "only this kernel, by name or slug (sol-execbench)",
     .repeated = true},
    {.name = "--stack",
     .value = "V",
     .help = "only this version of the evaluation stack (sol-execbench)"},
    {.name = "--commit",
     .value = "HEX",
     .help = "of the repository that a local tree was taken from, 40 hex digits (sol-execbench)"},
    {.name = "--revision",
     .value = "HEX",
     .help = "of the data set that the files were taken from, 40 hex digits (flashinfer-bench)"},
    {.name = "--sha256",
     .value = "D",
     .help = "refuse the file unless this is its SHA-256, in hex (one file)"},
    {.name = "SOURCE",
     .help = "whose format it is",
     .kind = ValueKind::choice,
     .choices = "sol-execbench|flashinfer-bench|kernelindex-catalog|kernelindex-run",
     .required = true},
    {.name = "PATH",
     .help = "files or folders",
     .kind = ValueKind::file,
     .required = true,
     .repeated = true},
};
constexpr std::string_view kExamples[] = {
    "import sol-execbench dump/",
    "import sol-execbench dump/ --top 3 --dry-run",
    "import kernelindex-catalog catalog.jsonl.zst --sha256 0022af0b...",
};

// Refuses a file whose bytes are not those that were meant.
Status check_pin(const std::string& pin, const std::vector<ingest::RecordedFile>& files) {
  const std::string hex = pin.starts_with("sha256:") ? pin.substr(7) : pin;
  const Result<Digest> expected = Digest::parse_hex(hex);
  if (!expected || files.size() != 1) {
    return fail(ErrorKind::usage, "USAGE", "",
                !expected ? "--sha256 takes 64 lower-case hex digits"
                          : "--sha256 pins one file, and there are several",
                "Try 'kernelindex import --help'");
  }
  const ingest::RecordedFile& file = files.front();
  Result<std::unique_ptr<ByteSource>> bytes = file.open();
  if (!bytes) return fail(bytes.error());
  Sha256 hash;
  std::string buffer(limits::kMiB, '\0');
  while (true) {
    const Result<std::size_t> count = (*bytes)->read(buffer);
    if (!count) return fail(count.error());
    if (*count == 0) break;
    hash.update(std::string_view(buffer).substr(0, *count));
  }
  const Digest found = hash.finish();
  if (found == *expected) return {};
  return fail(ErrorKind::invalid, "DIGEST_DIFFERS", file.locator,
              "expected " + expected->text() + ", found " + found.text());
}

std::string counts_text(const AppendCounts& counts) {
  return counted(counts.manifests, "manifest") + ", " + counted(counts.snapshots, "snapshot") +
         ", " + counted(counts.artifacts, "artifact") + ", " +
         counted(counts.attestations, "attestation");
}

std::string map_text(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts) {
    out += (out.empty() ? "" : ", ") + grouped(count) + " " + name;
  }
  return out;
}

void print_findings(Output& out, const ingest::ImportReport& report, ingest::FindingClass kind,
                    std::string_view title, Tone tone) {
  constexpr std::size_t kShown = 20;
  std::size_t number = 0;
  std::string lines;
  for (const ingest::Finding& finding : report.findings) {
    if (finding.kind != kind) continue;
    if (++number > kShown) continue;
    lines += "  " +
             escape_text(finding.code + "  " + finding.locator +
                         (finding.item.empty() ? "" : " " + finding.item) + ": " + finding.reason) +
             "\n";
  }
  if (number == 0) return;
  out.write("\n" + out.terminal().tinted(counted(number, "item") + " " + std::string(title), tone) +
            "\n" + lines);
  if (number > kShown) {
    out.write("  and " + counted(number - kShown, "more", "more") + ": --json lists all\n");
  }
}

void print_text(Output& out, const ingest::ImportReport& report, bool dry_run) {
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) {
      out.write(out.terminal().tinted(pad_right(name, 10), Tone::dim) + escape_text(text) + "\n");
    }
  };
  if (dry_run) out.write("dry run: nothing was written\n");
  line("source", report.source);
  line("selected", counted(report.selected, "item"));
  line("skipped", map_text(report.skipped));
  line("noted", map_text(report.counted));
  line("claims", map_text(report.claims));
  line(dry_run ? "would add" : "recorded", counts_text(report.recorded));
  line("known", counts_text(report.existing));
  line("log", "size " + grouped(report.head.size) + ", root " + report.head.root.text());
  print_findings(out, report, ingest::FindingClass::quarantined, "set aside, not recorded",
                 Tone::bad);
  print_findings(out, report, ingest::FindingClass::review, "to review", Tone::warning);
  print_findings(out, report, ingest::FindingClass::drift, "with members we do not know",
                 Tone::warning);
}

ingest::ImportOptions read_options(const Arguments& arguments) {
  ingest::ImportOptions options;
  options.top = arguments.count("--top");
  options.tags = arguments.list("--tag");
  options.kernels = arguments.list("--kernel");
  options.stack = arguments.text("--stack");
  options.commit = arguments.text("--commit");
  options.revision = arguments.text("--revision");
  return options;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  ingest::ImportRequest request;
  request.source = ingest::find_source(arguments.text("SOURCE"));
  assert(request.source != nullptr);  // the choices of the option are the sources
  request.options = read_options(arguments);
  request.dry_run = arguments.given("--dry-run");
  Result<std::vector<ingest::RecordedFile>> files = collect_files(arguments.list("PATH"));
  if (!files) return fail(files.error());
  request.files = std::move(*files);
  if (arguments.given("--sha256")) {
    if (Status pinned = check_pin(arguments.text("--sha256"), request.files); !pinned) {
      return fail(pinned.error());
    }
  }
  const Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, request.dry_run ? Access::query : Access::write);
  if (!ledger) return fail(ledger.error());
  Progress progress("importing " + std::string(request.source->name), session.quiet());
  request.progress = [&](std::uint64_t size) { progress.update(size, 0, "entries in the log"); };
  const Result<ingest::ImportReport> report = ingest::import_source(**ledger, request);
  if (!report) return fail(report.error());
  progress.clear();
  if (session.out().for_people()) {
    print_text(session.out(), *report, request.dry_run);
  } else {
    session.out().write(report->json() + "\n");
  }
  return report->quarantined() ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace

constexpr Verb kImportVerb{
    .name = "import",
    .summary = "record what a source's files say",
    .details =
        "The files are kept as snapshots, and each item becomes claims that name their place in\n"
        "them. An item that cannot be read is set aside with its reason, the rest is recorded, "
        "and\n"
        "the exit status is 1. Importing the same files again adds nothing.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
