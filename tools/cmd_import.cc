// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "ingest/import.h"
#include "ingest/ledger_files.h"
#include "ingest/recognise.h"
#include "ingest/review.h"
#include "tools/display_text.h"
#include "tools/import_output.h"
#include "tools/input_file.h"
#include "tools/ledger_access.h"
#include "tools/output_file.h"
#include "tools/progress.h"
#include "tools/source_files.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--dry-run", .help = "say what an import would do; write nothing"},
    {.name = "--review",
     .value = "FILE",
     .help = "write down claim by claim what an import would do, for --apply; import nothing",
     .kind = ValueKind::output},
    {.name = "--apply",
     .value = "FILE",
     .help = "import what was reviewed, exactly; refused when a byte of it is different now",
     .kind = ValueKind::file},
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
     .repeated = true},
};
constexpr std::string_view kExamples[] = {
    "import sol-execbench dump/",
    "import sol-execbench dump/ --top 3 --dry-run",
    "import results/",
    "import results/ --review review.json",
    "import --apply review.json",
    "import flashinfer-bench flashinfer-trace/ --revision da915083d4c7c5e61aa3005e3d17ae488e0fc71c",
    "import kernelindex-catalog catalog.jsonl.zst --sha256 0022af0b...",
    "import kernelindex-ledger old.ledger",
};

// What one import is asked to do, by words or by a review.
struct Request {
  std::vector<std::string> paths;
  std::string source;  // word; empty: what the content tells
  std::vector<std::string> operations;
  ingest::ImportOptions options;
  std::string pin;
};

// One source of those among the files, and its files.
struct SourceGroup {
  const ingest::SourceInfo* source = nullptr;
  std::vector<ingest::RecordedFile> files;
};

struct Plan {
  std::vector<SourceGroup> groups;
  // Of the fetch; they go with the first group.
  std::vector<ingest::RecordedFile> fetch_records;
  std::vector<ingest::Finding> findings;
  std::vector<std::string> unclaimed;  // locators of files that no source knows
};

constexpr std::size_t kMaxReviewBytes = 4 * limits::kSourceJsonBytes;

std::unexpected<Error> usage(std::string place, std::string message, std::string remedy) {
  return fail(ErrorKind::usage, "USAGE", std::move(place), std::move(message), std::move(remedy));
}

// Options that a review holds, so that they are not given again.
constexpr std::string_view kReviewed[] = {"--dry-run",    "--review",      "--top",    "--tag",
                                          "--kernel",     "--stack",       "--commit", "--revision",
                                          "--operations", "--observed-at", "--sha256", "SOURCE"};

Result<Request> reviewed_request(const Arguments& arguments, const std::string& review) {
  for (const std::string_view other : kReviewed) {
    if (!arguments.given(other)) continue;
    return usage(std::string(other), "the review says all that --apply does", "leave it out");
  }
  Result<ingest::ReviewRequest> reviewed = ingest::parse_review_request(review);
  if (!reviewed) return fail_in(arguments.text("--apply"), reviewed.error());
  Request request;
  request.paths = arguments.given("PATH") ? arguments.list("PATH") : reviewed->paths;
  request.source = reviewed->named_source;
  request.operations = reviewed->operations;
  request.options = std::move(reviewed->options);
  return request;
}

Result<Request> read_request(const Arguments& arguments) {
  Request request;
  request.paths = arguments.list("PATH");
  if (request.paths.empty()) {
    return usage("PATH", "no files are named", "name files or folders to import");
  }
  // A first word that is neither is more likely a source misspelt than a file that is missing.
  if (!arguments.given("SOURCE") && request.paths.size() > 1 &&
      !std::filesystem::exists(request.paths.front())) {
    return usage("SOURCE",
                 "'" + escape_text(request.paths.front()) + "' is neither a source nor a file",
                 "'kernelindex import --help' lists the sources");
  }
  request.source = arguments.text("SOURCE");
  request.operations = arguments.list("--operations");
  request.pin = arguments.text("--sha256");
  ingest::ImportOptions& options = request.options;
  options.top = arguments.count("--top");
  options.tags = arguments.list("--tag");
  options.kernels = arguments.list("--kernel");
  options.stack = arguments.text("--stack");
  options.commit = arguments.text("--commit");
  options.revision = arguments.text("--revision");
  options.observed_at = arguments.text("--observed-at");
  return request;
}

// Refuses a file whose bytes are not those that were meant.
Status check_pin(const std::string& pin, const std::vector<ingest::RecordedFile>& files) {
  const std::string hex = pin.starts_with("sha256:") ? pin.substr(7) : pin;
  const Result<Digest> expected = Digest::parse_hex(hex);
  if (!expected || files.size() != 1) {
    return usage("",
                 !expected ? "--sha256 takes 64 lower-case hex digits"
                           : "--sha256 pins one file, and there are several",
                 "Try 'kernelindex import --help'");
  }
  const Result<Digest> found = ingest::digest_of(files.front());
  if (!found) return fail(found.error());
  if (*found == *expected) return {};
  return fail(ErrorKind::invalid, "DIGEST_DIFFERS", files.front().locator,
              "expected " + expected->text() + ", found " + found->text());
}

Status recognise(const Request& request, std::vector<ingest::RecordedFile> files, Plan& plan) {
  const Result<ingest::Recognition> recognised = ingest::recognise_files(files);
  if (!recognised) return fail(recognised.error());
  for (const ingest::RecognisedFiles& group : recognised->sources) {
    SourceGroup& of = plan.groups.emplace_back(SourceGroup{group.source, {}});
    for (const std::size_t file : group.files) of.files.push_back(files[file]);
  }
  for (const std::size_t file : recognised->unclaimed) {
    plan.unclaimed.push_back(files[file].locator);
  }
  if (!plan.groups.empty()) return {};
  return fail(ErrorKind::invalid, "UNKNOWN_SOURCE", request.paths.front(),
              "no source knows any of the " + counted(files.size(), "file") + " here",
              "Name the source, or try 'kernelindex import --help'");
}

Result<Plan> make_plan(const Request& request) {
  Result<SourceFiles> gathered = collect_source_files(request.paths);
  if (!gathered) return fail(gathered.error());
  if (!request.pin.empty()) {
    if (Status pinned = check_pin(request.pin, gathered->files); !pinned) {
      return fail(pinned.error());
    }
  }
  Plan plan;
  plan.fetch_records = std::move(gathered->fetch_records);
  plan.findings = std::move(gathered->findings);
  if (request.source.empty()) {
    const Status known = recognise(request, std::move(gathered->files), plan);
    if (!known) return fail(known.error());
  } else {
    const ingest::SourceInfo* source = ingest::find_source(request.source);
    if (source == nullptr) {
      return fail(ErrorKind::invalid, "UNKNOWN_SOURCE", request.source,
                  "this program knows no such source");
    }
    plan.groups.push_back({source, std::move(gathered->files)});
  }
  if (request.operations.empty()) return plan;
  Result<std::vector<ingest::RecordedFile>> manifests = collect_files(request.operations);
  if (!manifests) return fail(manifests.error());
  for (SourceGroup& of : plan.groups) {
    if (of.source->importer != ingest::ImporterName::kernelbench) continue;
    of.files.insert(of.files.end(), manifests->begin(), manifests->end());
  }
  return plan;
}

// From here on other bytes than these are not recorded.
Status pin_all(Plan& plan) {
  for (SourceGroup& of : plan.groups) {
    for (ingest::RecordedFile& file : of.files) {
      const Result<Digest> digest = ingest::digest_of(file);
      if (!digest) return fail(digest.error());
      file.digest = *digest;
    }
  }
  return {};
}

Result<ingest::ImportReport> import_one(Session& session, Ledger& ledger, const Plan& plan,
                                        std::size_t group, const Request& request, bool dry_run) {
  const SourceGroup& of = plan.groups[group];
  ingest::ImportRequest import;
  import.source = of.source;
  import.options = request.options;
  import.files = of.files;
  if (group == 0) {
    import.fetch_records = plan.fetch_records;
    import.findings = plan.findings;
  }
  import.dry_run = dry_run;
  Progress progress("importing " + std::string(of.source->name), session.quiet());
  import.progress = [&](std::uint64_t size) { progress.update(size, 0, "entries in the log");
};
Result<ingest::ImportReport> report = ingest::import_source(ledger, import);
progress.clear();
return report;
}  // namespace

Result<ingest::Review> make_review(Session& session, Ledger& ledger, const Plan& plan,
                                   const Request& request) {
  ingest::Review review;
  review.ledger_id = ledger.read().format().ledger_id;
  review.paths = request.paths;
  review.named_source = request.source;
  review.operations = request.operations;
  review.unclaimed = plan.unclaimed;
  for (std::size_t group = 0; group < plan.groups.size(); ++group) {
    Result<ingest::ImportReport> report = import_one(session, ledger, plan, group, request, true);
    if (!report) return fail(report.error());
    review.imports.push_back(
        {plan.groups[group].source, request.options, plan.groups[group].files, std::move(*report)});
  }
  return review;
}

void print_reports(Output& out, const Plan& plan, const Request& request,
                   const std::vector<ingest::ImportReport>& reports, ImportForm form) {
  const bool recognised = request.source.empty();
  if (!out.for_people()) {
    return out.write(imports_json(reports, recognised ? &plan.unclaimed : nullptr));
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (i > 0) out.write("\n");
    if (recognised) {
      out.write("taken for " + std::string(plan.groups[i].source->title) + ": " +
                counted(plan.groups[i].files.size(), "file") + "\n");
    }
    print_import(out, reports[i], form);
  }
  print_unclaimed(out, plan.unclaimed);
}

ExitCode exit_of(const std::vector<ingest::ImportReport>& reports) {
  const bool quarantined = std::ranges::any_of(
      reports, [](const ingest::ImportReport& report) { return report.quarantined(); });
  return quarantined ? ExitCode::check_failed : ExitCode::done;
}

Result<ExitCode> write_review(Session& session, Ledger& ledger, const Request& request,
                              const Plan& plan, const std::string& path) {
  Result<ingest::Review> review = make_review(session, ledger, plan, request);
  if (!review) return fail(review.error());
  const std::string text = ingest::review_json(*review) + "\n";
  OutputFile file(path);
  if (Status opened = file.open(); !opened) return fail(opened.error());
  if (Status written = file.write(text); !written) return fail(written.error());
  if (Status kept = file.commit(); !kept) return fail(kept.error());
  std::vector<ingest::ImportReport> reports;
  for (ingest::ReviewedImport& import : review->imports) {
    reports.push_back(std::move(import.report));
  }
  if (session.out().for_people()) {
    print_reports(session.out(), plan, request, reports, ImportForm::review);
  } else {
    session.out().write(text);
  }
  return exit_of(reports);
}

// Several imports of one call are reviewed against the ledger as it is before the first of them.
Status check_review(Session& session, Ledger& ledger, const Request& request, const Plan& plan,
                    const std::string& reviewed) {
  const Result<ingest::Review> now = make_review(session, ledger, plan, request);
  if (!now) return fail(now.error());
  const Result<std::string> difference =
      ingest::review_difference(reviewed, ingest::review_json(*now));
  if (!difference) return fail(difference.error());
  if (difference->empty()) return {};
  return fail(ErrorKind::refused, "REVIEW_DIFFERS", "",
              "this is not what was reviewed: " + *difference, "Review it again");
}

Result<ExitCode> import_files(Session& session, const Request& request, const Arguments& arguments,
                              const std::string& reviewed) {
  Result<Plan> plan = make_plan(request);
  if (!plan) return fail(plan.error());
  const bool review = arguments.given("--review");
  const bool writes = !arguments.given("--dry-run") && !review;
  if (review || !reviewed.empty()) {
    if (Status pinned = pin_all(*plan); !pinned) return fail(pinned.error());
  }
  const Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, writes ? Access::write : Access::query);
  if (!ledger) return fail(ledger.error());
  if (review) {
    return write_review(session, **ledger, request, *plan, arguments.text("--review"));
  }
  if (!reviewed.empty()) {
    const Status same = check_review(session, **ledger, request, *plan, reviewed);
    if (!same) return fail(same.error());
  }
  std::vector<ingest::ImportReport> reports;
  for (std::size_t group = 0; group < plan->groups.size(); ++group) {
    Result<ingest::ImportReport> report =
        import_one(session, **ledger, *plan, group, request, !writes);
    if (!report) return fail(report.error());
    reports.push_back(std::move(*report));
  }
  print_reports(session.out(), *plan, request, reports,
                writes ? ImportForm::recorded : ImportForm::dry_run);
  return exit_of(reports);
}

// Another ledger is a folder that is opened, not files that are read.
Result<ExitCode> take_over(Session& session, const Arguments& arguments) {
  for (const std::string_view other :
       {"--top", "--tag", "--kernel", "--stack", "--commit", "--revision", "--observed-at",
        "--operations", "--sha256", "--review"}) {
    if (!arguments.given(other)) continue;
    return usage(std::string(other), "a ledger is taken as a whole", "leave it out");
  }
  const std::vector<std::string>& paths = arguments.list("PATH");
  if (paths.size() != 1) {
    return usage("PATH", "one ledger is taken at a time", "name one folder");
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
    print_import(session.out(), *report, dry_run ? ImportForm::dry_run : ImportForm::recorded);
  } else {
    session.out().write(report->json() + "\n");
  }
  return report->quarantined() ? ExitCode::check_failed : ExitCode::done;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (arguments.given("--apply")) {
    const Result<std::string> review = read_input(arguments.text("--apply"), kMaxReviewBytes);
    if (!review) return fail(review.error());
    const Result<Request> request = reviewed_request(arguments, *review);
    if (!request) return fail(request.error());
    return import_files(session, *request, arguments, *review);
  }
  if (arguments.text("SOURCE") == "kernelindex-ledger") return take_over(session, arguments);
  const Result<Request> request = read_request(arguments);
  if (!request) return fail(request.error());
  return import_files(session, *request, arguments, {});
}

}  // namespace kernelindex::tools

constexpr Verb kImportVerb{
    .name = "import",
    .summary = "record what a source's files say",
    .details =
        "The files are kept as snapshots, and each item becomes claims that name their place in\n"
        "them. An item that cannot be read is set aside with its reason, the rest is recorded, "
        "and\n"
        "the exit status is 1. Importing the same files again adds nothing.\n\n"
        "Without a SOURCE the content tells which it is, and several sources in one tree are\n"
        "imported one after the other; files of none are listed.\n\n"
        "Files that `fetch` wrote are recorded as fetched, with their URL and time; all others as\n"
        "supplied. --review says before what would be recorded, and --apply does that and nothing\n"
        "else.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
