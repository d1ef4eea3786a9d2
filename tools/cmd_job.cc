// SPDX-License-Identifier: Apache-2.0
// job new, list, show: what may be measured, by whom, and what became of it.
#include <algorithm>
#include <filesystem>
#include <set>

#include "ledger/identify.h"
#include "ledger/reader_attempts.h"
#include "tools/attempt_output.h"
#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/key_names.h"
#include "tools/ledger_access.h"
#include "tools/local_manifest.h"
#include "tools/output_file.h"
#include "tools/runner_program.h"
#include "tools/signing.h"
#include "tools/solution_sources.h"
#include "tools/table.h"
#include "tools/verbs.h"
#include "verify/issue_job.h"

namespace kernelindex::tools {
namespace {

constexpr std::uint64_t kMostHours = 24;  // PROTOCOL section 2

constexpr OptionSpec kNewOptions[] = {
    {.name = "--solution",
     .value = "FILE",
     .help = "take sources and recipe from a solution of SOL-ExecBench or FlashInfer-Bench",
     .kind = ValueKind::file},
    {.name = "--source",
     .value = "[PATH=]FILE",
     .help = "a file to compile, under its name or PATH; by default those that the ledger holds",
     .repeated = true},
    {.name = "--recipe",
     .value = "FILE",
     .help = "how to build them: a document of `kernelindex schema kernelindex.build`",
     .kind = ValueKind::file},
    {.name = "--runner",
     .value = "ID",
     .help = "the only runner key whose result counts; by default the one that is enrolled"},
    {.name = "--harness",
     .value = "DIGEST",
     .help = "SHA-256 of the runner program; by default of the one that `rerun` would start"},
    kRunnerProgramOption,
    {.name = "--clocks",
     .value = "VARIANT",
     .help = "the variant of the protocol; by default unlocked",
     .kind = ValueKind::choice,
     .choices = "unlocked|locked"},
    {.name = "--source-reviewed",
     .help = "a person read the sources: without it host code of others never counts"},
    {.name = "--product", .value = "TEXT", .help = "the hardware; by default what the run claims"},
    {.name = "--architecture",
     .value = "TOKEN",
     .help = "with --product: the architecture, as sm_90"},
    {.name = "--hours",
     .value = "N",
     .help = "how long it stands, 1 to 24; by default 24",
     .kind = ValueKind::count},
    {.name = "-o",
     .value = "FILE",
     .help = "where the document goes; by default job-<8 digits>.json",
     .kind = ValueKind::output},
    kKeyOption,
    {.name = "RUN",
     .help = "the reported run: a digest or its beginning, or an external id",
     .required = true},
};
constexpr std::string_view kNewExamples[] = {
    "job new 3f2a90c1 --solution solution.json --source-reviewed",
    "job new 3f2a90c1 --source kernel.cu --recipe kernelindex.build.json -o job.json",
};
constexpr OptionSpec kListOptions[] = {
    {.name = "RUN", .help = "only those about this run"},
};
constexpr std::string_view kListExamples[] = {"job list", "job list 3f2a90c1 --json"};
constexpr OptionSpec kShowOptions[] = {
    {.name = "-o",
     .value = "FILE",
     .help = "write the document again, as a runner is handed it",
     .kind = ValueKind::output},
    {.name = "ID", .help = "a job: its attestation id or the beginning of it", .required = true},
};
constexpr std::string_view kShowExamples[] = {"job show 9b11c0de", "job show 9b11c0de -o job.json"};

Result<std::string> write_document(const std::string& path, const JobDocument& job) {
  Result<std::string> text = write_job_document(job);
  if (!text) return text;
  OutputFile file(path);
  if (Status status = file.open(); !status) return fail(status.error());
  if (Status status = file.write(*text); !status) return fail(status.error());
  if (Status status = file.commit(); !status) return fail(status.error());
  return path;
}

// "kernel.cu=work/k.cu" or "work/kernel.cu".
Status add_source(const std::string& text, std::vector<JobSourceFile>& files) {
  const std::size_t equals = text.find('=');
  const std::string file = equals == std::string::npos ? text : text.substr(equals + 1);
  const std::string path = equals == std::string::npos
                               ? std::filesystem::path(text).filename().string()
                               : text.substr(0, equals);
  if (!is_source_path(path)) {
    return fail(ErrorKind::usage, "BAD_SOURCE_PATH", "--source",
                "the path of a source is relative, in one spelling: " + path);
  }
  Result<std::string> bytes = read_input(file, kJobSourceBytes);
  if (!bytes) return fail(bytes.error());
  put_source(files, path, std::move(*bytes));
  return {};
}

Result<std::vector<JobSourceFile>> gather_files(const Reader& reader, const Digest& run,
                                                const Arguments& arguments) {
  std::vector<JobSourceFile> files;
  if (arguments.given("--solution")) {
    const std::string path = arguments.text("--solution");
    const Result<std::string> text = read_input(path, kJobDocumentBytes);
    if (!text) return fail(text.error());
    Result<std::vector<JobSourceFile>> sources = solution_sources(*text);
    if (!sources) return fail_in(input_name(path), sources.error());
    files = std::move(*sources);
  } else if (!arguments.given("--source")) {
    Result<std::vector<JobSourceFile>> kept = kept_sources(reader, run);
    if (!kept) return kept;
    files = std::move(*kept);
  }
  for (const std::string& text : arguments.list("--source")) {
    if (Status status = add_source(text, files); !status) return fail(status.error());
  }
  if (arguments.given("--recipe")) {
    const std::string path = arguments.text("--recipe");
    Result<std::string> recipe = read_input(path, limits::kMiB);
    if (!recipe) return fail(recipe.error());
    if (const Result<BuildRecipe> read = read_build_recipe(*recipe); !read) {
      return fail_in(input_name(path), read.error());
    }
    put_source(files, std::string(kRecipePath), std::move(*recipe));
  }
  return files;
}

// The one that is asked for, else the one that is there.
Result<Digest> choose_runner(const Reader& reader, const Arguments& arguments) {
  const KeyBook& keys = reader.state().keys;
  if (arguments.given("--runner")) return find_in_key_book(keys, arguments.text("--runner"));
  const std::vector<const KeyRecord*> valid = keys.valid(Role::runner, reader.head().size);
  if (valid.size() == 1) return valid.front()->key.id();
  return fail(ErrorKind::usage, valid.empty() ? "RUNNER_NOT_ENROLLED" : "USAGE", "--runner",
              valid.empty() ? "no runner key is enrolled"
                            : "several runner keys are enrolled: a job is for one",
              valid.empty() ? "`kernelindex key new runner`, then `kernelindex key enrol runner`"
                            : "give --runner ID; `kernelindex key list` shows them");
}

// The digest that is given, else that of the runner that `rerun` would start.
Result<Digest> choose_harness(const Arguments& arguments) {
  if (arguments.given("--harness")) {
    Result<Digest> harness = Digest::parse(arguments.text("--harness"));
    if (!harness) return fail_in("--harness", harness.error());
    return harness;
  }
  const Result<std::filesystem::path> program = runner_program(arguments);
  if (!program) return fail(program.error());
  return runner_digest(*program);
}

Result<JobOrder> read_order(const Session& session, const Reader& reader,
                            const Arguments& arguments) {
  const Result<Candidate> run =
      identify(reader, arguments.text("RUN"), {Named::manifest}, ManifestKind::benchmark_run);
  if (!run) return fail(run.error());
  JobOrder order;
  order.run = run->digest;
  Result<std::vector<JobSourceFile>> files = gather_files(reader, order.run, arguments);
  if (!files) return fail(files.error());
  if (Status status = check_sources(order.run, *files); !status) return fail(status.error());
  order.files = std::move(*files);
  const Result<Digest> runner = choose_runner(reader, arguments);
  if (!runner) return fail(runner.error());
  order.runner = *runner;
  const Result<Digest> harness = choose_harness(arguments);
  if (!harness) return fail(harness.error());
  order.harness = *harness;
  if (arguments.text("--clocks") == "locked") order.clocks = ClockVariant::locked;
  order.source_reviewed = arguments.given("--source-reviewed");
  const std::uint64_t hours = arguments.count("--hours").value_or(kMostHours);
  if (hours == 0 || hours > kMostHours) {
    return fail(ErrorKind::usage, "USAGE", "--hours", "a job stands for 1 to 24 hours");
  }
  order.expires_at = session.now() + static_cast<UtcMicros>(hours) * 3'600'000'000;
  if (arguments.given("--product")) {
    order.device = JobDevice{arguments.text("--product"), arguments.text("--architecture"),
                             std::nullopt, "", 1};
  } else if (arguments.given("--architecture")) {
    return fail(ErrorKind::usage, "USAGE", "--architecture", "it goes with --product");
  }
  return order;
}

void print_issued(Session& session, const IssuedJob& issued, const std::string& path) {
  Output& out = session.out();
  const JobDocument& job = issued.document;
  if (out.for_people()) {
    FactList list;
    list.add("job", job.job.text(), Tone::strong);
    list.add("about", job.run.text());
    list.add("runner", job.runner.hex());
    list.add("device", job.device.product);
    list.add("expires", format_utc_micros(job.expires_at));
    list.add("log", "entry " + std::to_string(issued.index));
    list.add("file", path);
    if (!job.source_reviewed && job.recipe.trust() == TrustMode::native_host) {
      list.add("beware", "HOST_CODE_UNREVIEWED: without --source-reviewed its result cannot count",
               Tone::warning);
    }
    for (const std::string& file : issued.uncovered) {
      list.add("beware", "SOURCE_PARTIAL: no digest of the implementation covers " + file,
               Tone::warning);
    }
    list.add("next", "kernelindex rerun " + path);
    out.write(list.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("job", json.digest(job.job))
                   .add("index", json.count(issued.index))
                   .add("run", json.digest(job.run))
                   .add("runner", json.text(job.runner.hex()))
                   .add("protocol", json.digest(job.protocol))
                   .add("harness", json.digest(job.harness))
                   .add("expiresAt", json.text(format_utc_micros(job.expires_at)))
                   .add("uncovered", json.texts(issued.uncovered))
                   .add("file", path)
                   .finish());
}

Result<ExitCode> run_new(Session& session, const Arguments& arguments) {
  const Result<KeyFile> key = signing_key(session, arguments, Role::controller);
  if (!key) return fail(key.error());
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  const Result<JobOrder> order = read_order(session, (*ledger)->read(), arguments);
  if (!order) return fail(order.error());
  const Result<IssuedJob> issued = issue_job(
      **ledger, *order, key->key, {std::string(kAddParser), std::string(kAddParserVersion)});
  if (!issued) return fail(issued.error());
  const std::string path = arguments.given("-o")
                               ? arguments.text("-o")
                               : "job-" + issued->document.job.hex().substr(0, 8) + ".json";
  const Result<std::string> written = write_document(path, issued->document);
  if (!written) {
    Error error = written.error();
    error.remedy = "the job is recorded: `kernelindex job show " + issued->document.job.hex() +
                   " -o FILE` writes its document";
    return fail(std::move(error));
  }
  print_issued(session, *issued, path);
  return ExitCode::done;
}

// Runs that jobs are about, in the order of their first job.
Result<std::vector<Digest>> runs_with_jobs(const Reader& reader) {
  std::vector<Digest> runs;
  std::set<Digest> seen;
  for (const ChainFact& fact : *reader.state().chain_facts) {
    if (fact.kind != ChainFact::Kind::measurement || !seen.insert(fact.subject).second) continue;
    const Result<std::optional<SubjectRow>> row = reader.subject(fact.subject);
    if (!row) return fail(row.error());
    if (*row) runs.push_back(fact.subject);
  }
  return runs;
}

Result<ExitCode> run_list(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  std::vector<Digest> runs;
  if (arguments.given("RUN")) {
    const Result<Candidate> run = identify(reader, arguments.text("RUN"), {Named::manifest});
    if (!run) return fail(run.error());
    runs = {run->digest};
  } else {
    Result<std::vector<Digest>> all = runs_with_jobs(reader);
    if (!all) return fail(all.error());
    runs = std::move(*all);
  }
  std::vector<ControlledJob> jobs;
  for (const Digest& run : runs) {
    Result<std::vector<ControlledJob>> some = controlled_jobs(reader, run, reader.head().size);
    if (!some) return fail(some.error());
    std::ranges::move(*some, std::back_inserter(jobs));
  }
  std::ranges::sort(jobs, {}, [](const ControlledJob& job) { return job.job.index; });
  Output& out = session.out();
  if (!out.for_people()) {
    json::Arena arena;
    const JsonOutput json(arena);
    out.document(json.object().add("jobs", jobs_value(json, jobs)).finish());
    return ExitCode::done;
  }
  if (jobs.empty()) out.write("no jobs\n");
  for (const ControlledJob& job : jobs) {
    std::string_view indent;
    for (const std::string& line : job_lines(job)) {
      out.write(std::string(indent) + escape_text(line) + "\n");
      indent = "    ";
    }
  }
  return ExitCode::done;
}

Result<ExitCode> run_show(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Candidate> found = identify(reader, arguments.text("ID"), {Named::attestation});
  if (!found) return fail(found.error());
  if (arguments.given("-o")) {
    const Result<JobDocument> job = job_document(reader, found->digest);
    if (!job) return fail(job.error());
    const Result<std::string> written = write_document(arguments.text("-o"), *job);
    if (!written) return fail(written.error());
  }
  ReaderAttempts source(reader, reader.head().size);
  const Result<std::optional<SaidAt>> said = source.attestation(found->digest);
  if (!said) return fail(said.error());
  const auto* asked = *said ? std::get_if<MeasurementJob>(&(*said)->said.predicate) : nullptr;
  if (asked == nullptr) {
    return fail(ErrorKind::not_found, "NO_SUCH_JOB", found->digest.text(),
                "this is no measurement job", "`kernelindex job list`");
  }
  const Result<std::vector<ControlledJob>> jobs =
      controlled_jobs(reader, asked->run, reader.head().size);
  if (!jobs) return fail(jobs.error());
  const auto job =
      std::ranges::find(*jobs, found->digest, [](const ControlledJob& one) { return one.job.id; });
  if (job == jobs->end()) {
    return fail(ErrorKind::refused, "JOB_NOT_SIGNED", found->digest.text(),
                "this job does not count: its signer is no controller",
                "`kernelindex key list` shows who is one");
  }
  Output& out = session.out();
  if (!out.for_people()) {
    json::Arena arena;
    out.document(job_value(JsonOutput(arena), *job));
    return ExitCode::done;
  }
  for (const std::string& line : job_lines(*job)) out.write(escape_text(line) + "\n");
  FactList list;
  list.add("about", asked->run.text());
  list.add("protocol", asked->protocol.text());
  list.add("harness", asked->harness.text());
  list.add("runner", asked->runner.hex());
  list.add("expires", format_utc_micros(asked->expires_at));
  for (const MeasurementJob::Source& file : asked->sources) {
    list.add("source", file.path + " " + file.digest.text());
  }
  out.write(list.text(out.terminal()));
  return ExitCode::done;
}

}  // namespace

constexpr Verb kJobNewVerb{
    .name = "job new",
    .summary = "sign a measurement job about a reported run, and record it",
    .details =
        "The job is in the log before anyone gets it. It names one runner key and every file to\n"
        "compile by digest, and is spent by the first result that this runner signs. A job that\n"
        "nobody answers counts against the run, as do results that do not confirm.",
    .options = kNewOptions,
    .examples = kNewExamples,
    .run = run_new,
};

constexpr Verb kJobListVerb{
    .name = "job list",
    .summary = "list measurement jobs and what became of them",
    .details = "Each verdict is derived again from the log and the kept samples.",
    .options = kListOptions,
    .examples = kListExamples,
    .run = run_list,
};

constexpr Verb kJobShowVerb{
    .name = "job show",
    .summary = "show one measurement job, or write its document again",
    .details = "With -o the document appears as a runner is handed it, made from the log.",
    .options = kShowOptions,
    .examples = kShowExamples,
    .run = run_show,
};

}  // namespace kernelindex::tools
