// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <filesystem>
#include <map>

#include "ingest/import.h"
#include "ingest/ledger_files.h"
#include "ingest/recognise.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
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
     .help = "of each kernel, or board and runner, only the N best; by default all (sol-execbench, "
             "gpumode)",
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
     .help = "of the repository that the files were taken from, 40 hex digits (sol-execbench's "
             "local trees, liger)"},
    {.name = "--revision",
     .value = "HEX",
     .help = "of the data set that the files were taken from, 40 hex digits (flashinfer-bench)"},
    {.name = "--operations",
     .value = "DIR",
     .help = "manifests of the operations and suites of its problems (kernelbench)",
     .kind = ValueKind::folder},
    {.name = "--observed-at",
     .value = "TIME",
     .help = "when the results were observed, which the source does not say (kernelbench)"},
    {.name = "--sha256",
     .value = "D",
     .help = "refuse the file unless this is its SHA-256, in hex (one file)"},
    {.name = "SOURCE",
     .help = "whose format it is; by default what the content tells",
     .kind = ValueKind::choice,
     .choices = "sol-execbench|flashinfer-bench|gpumode|liger|mlperf|kernelbench|"
                "kernelindex-catalog|kernelindex-run|kernelindex-ledger"},
    {.name = "PATH",
     .help = "files or folders; of kernelindex-ledger the folder of the other ledger",
     .kind = ValueKind::file,
     .required = true,
     .repeated = true},
};
constexpr std::string_view kExamples[] = {
    "import sol-execbench dump/",
    "import sol-execbench dump/ --top 3 --dry-run",
    "import results/",
    "import flashinfer-bench flashinfer-trace/ --revision da915083d4c7c5e61aa3005e3d17ae488e0fc71c",
    "import kernelindex-catalog catalog.jsonl.zst --sha256 0022af0b...",
    "import kernelindex-ledger old.ledger",
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
  options.observed_at = arguments.text("--observed-at");
  return options;
}

// One source of those among the files, and its files.
struct SourceFiles {
  const ingest::SourceInfo* source = nullptr;
  std::vector<ingest::RecordedFile> files;
};

struct Plan {
  std::vector<SourceFiles> sources;
  std::vector<std::string> unclaimed;  // locators of files that no source knows
};

Result<Plan> plan_of(const Arguments& arguments, std::vector<ingest::RecordedFile> files) {
  Plan plan;
  if (arguments.given("SOURCE")) {
    const ingest::SourceInfo* source = ingest::find_source(arguments.text("SOURCE"));
    assert(source != nullptr);  // the choices of the option are the sources
    plan.sources.push_back({source, std::move(files)});
  } else {
    const Result<ingest::Recognition> recognised = ingest::recognise_files(files);
    if (!recognised) return fail(recognised.error());
    for (const ingest::RecognisedFiles& group : recognised->sources) {
      SourceFiles& of = plan.sources.emplace_back(SourceFiles{group.source, {}});
      for (const std::size_t file : group.files) of.files.push_back(files[file]);
    }
    for (const std::size_t file : recognised->unclaimed) {
      plan.unclaimed.push_back(files[file].locator);
    }
    if (plan.sources.empty()) {
      return fail(ErrorKind::invalid, "UNKNOWN_SOURCE", arguments.list("PATH").front(),
                  "no source knows any of the " + counted(files.size(), "file") + " here",
                  "Name the source, or try 'kernelindex import --help'");
    }
  }
  if (!arguments.given("--operations")) return plan;
  Result<std::vector<ingest::RecordedFile>> manifests =
      collect_files(arguments.list("--operations"));
  if (!manifests) return fail(manifests.error());
  for (SourceFiles& of : plan.sources) {
    if (of.source->importer != ingest::ImporterName::kernelbench) continue;
    of.files.insert(of.files.end(), manifests->begin(), manifests->end());
  }
  return plan;
}

Result<ingest::ImportReport> import_one(Session& session, Ledger& ledger, SourceFiles of,
                                        const Arguments& arguments) {
  ingest::ImportRequest request;
  request.source = of.source;
  request.options = read_options(arguments);
  request.files = std::move(of.files);
  request.dry_run = arguments.given("--dry-run");
  Progress progress("importing " + std::string(of.source->name), session.quiet());
  request.progress = [&](std::uint64_t size) { progress.update(size, 0, "entries in the log"); };
  Result<ingest::ImportReport> report = ingest::import_source(ledger, request);
  progress.clear();
  return report;
}

// One report as it is, with the files that nobody claims; of several a list.
void print_json(Output& out, const std::vector<ingest::ImportReport>& reports,
                const std::vector<std::string>* unclaimed) {
  if (unclaimed == nullptr) return out.write(reports.front().json() + "\n");
  json::Arena arena;
  json::ObjectBuilder document(arena);
  std::vector<json::Value> imports;
  for (const ingest::ImportReport& report : reports) {
    imports.push_back(json::parse(report.json(), arena, {limits::kSourceJsonBytes}).value());
  }
  if (imports.size() == 1) {
    for (const json::Member& member : imports.front().object()) {
      document.add(member.name, member.value);
    }
  } else {
    document.add("imports", arena.array(imports));
  }
  std::vector<json::Value> locators;
  for (const std::string& locator : *unclaimed) locators.push_back(arena.string(locator));
  document.add("unclaimed", arena.array(locators));
  out.write(json::canonical(document.finish()) + "\n");
}

void print_unclaimed(Output& out, const std::vector<std::string>& unclaimed) {
  constexpr std::size_t kShown = 20;
  if (unclaimed.empty()) return;
  out.write(
      "\n" +
      out.terminal().tinted(counted(unclaimed.size(), "file") + " of no source", Tone::warning) +
      "\n");
  for (std::size_t i = 0; i < std::min(unclaimed.size(), kShown); ++i) {
    out.write("  " + escape_text(unclaimed[i]) + "\n");
  }
  if (unclaimed.size() > kShown) {
    out.write("  and " + counted(unclaimed.size() - kShown, "more", "more") +
              ": --json lists all\n");
  }
}

// Another ledger is a folder that is opened, not files that are read.
Result<ExitCode> take_over(Session& session, const Arguments& arguments) {
  for (const std::string_view other : {"--top", "--tag", "--kernel", "--stack", "--commit",
                                       "--revision", "--observed-at", "--operations", "--sha256"}) {
    if (!arguments.given(other)) continue;
    return fail(ErrorKind::usage, "USAGE", std::string(other), "a ledger is taken as a whole",
                "leave it out");
  }
  const std::vector<std::string>& paths = arguments.list("PATH");
  if (paths.size() != 1) {
    return fail(ErrorKind::usage, "USAGE", "PATH", "one ledger is taken at a time",
                "name one folder");
  }
  const Result<ingest::LedgerFiles> other = ingest::LedgerFiles::open(paths.front());
  if (!other) return fail(other.error());
  const bool dry_run = arguments.given("--dry-run");
  const Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, dry_run ? Access::query : Access::write);
  if (!ledger) return fail(ledger.error());
  Progress progress("importing a ledger", session.quiet());
  const Result<ingest::ImportReport> report = ingest::import_ledger(
      **ledger, *other, dry_run,
      [&](std::uint64_t size) { progress.update(size, 0, "entries in the log"); });
  if (!report) return fail(report.error());
  progress.clear();
  if (session.out().for_people()) {
    print_text(session.out(), *report, dry_run);
  } else {
    session.out().write(report->json() + "\n");
  }
  return report->quarantined() ? ExitCode::check_failed : ExitCode::done;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (arguments.text("SOURCE") == "kernelindex-ledger") return take_over(session, arguments);
  // A first word that is neither is more likely a source misspelt than a file that is missing.
  const std::vector<std::string>& paths = arguments.list("PATH");
  if (!arguments.given("SOURCE") && paths.size() > 1 && !std::filesystem::exists(paths.front())) {
    return fail(ErrorKind::usage, "USAGE", "SOURCE",
                "'" + escape_text(paths.front()) + "' is neither a source nor a file",
                "'kernelindex import --help' lists the sources");
  }
  Result<std::vector<ingest::RecordedFile>> files = collect_files(arguments.list("PATH"));
  if (!files) return fail(files.error());
  if (arguments.given("--sha256")) {
    if (Status pinned = check_pin(arguments.text("--sha256"), *files); !pinned) {
      return fail(pinned.error());
    }
  }
  Result<Plan> plan = plan_of(arguments, std::move(*files));
  if (!plan) return fail(plan.error());
  const bool dry_run = arguments.given("--dry-run");
  const Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, dry_run ? Access::query : Access::write);
  if (!ledger) return fail(ledger.error());
  const bool recognised = !arguments.given("SOURCE");
  Output& out = session.out();
  std::vector<ingest::ImportReport> reports;
  bool quarantined = false;
  for (SourceFiles& of : plan->sources) {
    const std::size_t count = of.files.size();
    const std::string_view title = of.source->title;
    Result<ingest::ImportReport> report = import_one(session, **ledger, std::move(of), arguments);
    if (!report) return fail(report.error());
    quarantined |= report->quarantined();
    if (out.for_people()) {
      if (!reports.empty()) out.write("\n");
      if (recognised) {
        out.write("taken for " + std::string(title) + ": " + counted(count, "file") + "\n");
      }
      print_text(out, *report, dry_run);
    }
    reports.push_back(std::move(*report));
  }
  if (out.for_people()) {
    print_unclaimed(out, plan->unclaimed);
  } else {
    print_json(out, reports, recognised ? &plan->unclaimed : nullptr);
  }
  return quarantined ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace

constexpr Verb kImportVerb{
    .name = "import",
    .summary = "record what a source's files say",
    .details =
        "The files are kept as snapshots, and each item becomes claims that name their place in\n"
        "them. An item that cannot be read is set aside with its reason, the rest is recorded, "
        "and\n"
        "the exit status is 1. Importing the same files again adds nothing.\n\n"
        "Without a SOURCE the content tells which it is, and several sources in one tree are\n"
        "imported one after the other; files of none are listed.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
