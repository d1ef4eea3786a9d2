// SPDX-License-Identifier: Apache-2.0
// rerun: start the runner for a job, and sign what comes back.
#include <filesystem>

#include "ledger/identify.h"
#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/runner_program.h"
#include "tools/signing.h"
#include "tools/table.h"
#include "tools/verbs.h"
#include "verify/accept_result.h"
#include "verify/issue_job.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    kSimulateOption,
    kRunnerProgramOption,
    {.name = "-o",
     .value = "FOLDER",
     .help = "where the result goes; by default result-<8 digits>",
     .kind = ValueKind::output},
    kKeyOption,
    {.name = "JOB",
     .help = "the document of a job, or a job of this ledger by its id",
     .required = true},
};
constexpr std::string_view kExamples[] = {
    "rerun job-9b11c0de.json --key runner.key",
    "rerun 9b11c0de --simulate",
};

// A file by that name, else a job of the ledger: the machine that measures needs no ledger.
Result<JobDocument> read_job(Session& session, const std::string& name) {
  if (std::filesystem::is_regular_file(name)) {
    const Result<std::string> text = read_input(name, kJobDocumentBytes);
    if (!text) return fail(text.error());
    Result<JobDocument> job = read_job_document(*text);
    if (!job) return fail_in(input_name(name), job.error());
    return job;
  }
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Candidate> found = identify(reader, name, {Named::attestation});
  if (!found) return fail(found.error());
  return job_document(reader, found->digest);
}

// What would spend the job for nothing.
Status check_ready(const Session& session, const Arguments& arguments, const JobDocument& job) {
  if (session.now() > job.expires_at) {
    return fail(ErrorKind::refused, "JOB_EXPIRED", job.job.text(),
                "the job ended at " + format_utc_micros(job.expires_at),
                "ask for another: `kernelindex job new`");
  }
  const Result<std::filesystem::path> program = runner_program(arguments);
  if (!program) return fail(program.error());
  const Result<Digest> digest = runner_digest(*program);
  if (!digest) return fail(digest.error());
  if (*digest == job.harness || arguments.given("--simulate")) return {};
  return fail(ErrorKind::refused, "HARNESS_UNKNOWN", program->string(),
              "the job is for a runner of digest " + job.harness.text() + ", this one has " +
                  digest->text(),
              "give that runner with --runner-program, or ask for another job");
}

void print(Output& out, const MeasurementResult& result, const std::string& folder) {
  const bool simulated = result.device.kind == MeasuredDevice::Kind::simulated;
  if (out.for_people()) {
    FactList list;
    list.add("result", folder, Tone::strong);
    list.add("device", result.device.product + (simulated ? " (SIMULATED)" : ""),
             simulated ? Tone::warning : Tone::plain);
    list.add("status", std::string(run_status_name(result.status)));
    std::string reasons;
    for (const std::string& reason : result.uncountable_reasons) reasons += " " + reason;
    if (!reasons.empty()) list.add("cannot count", reasons.substr(1), Tone::warning);
    list.add("next", "kernelindex accept " + folder);
    out.write(list.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("folder", folder)
                   .add("job", json.digest(result.job))
                   .add("device", json.text(result.device.product))
                   .add("simulated", json::Value(simulated))
                   .add("status", run_status_name(result.status))
                   .add("countable", json::Value(result.countable))
                   .add("reasons", json.texts(result.uncountable_reasons))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<KeyFile> key = signing_key(session, arguments, Role::runner);
  if (!key) return fail(key.error());
  const Result<JobDocument> job = read_job(session, arguments.text("JOB"));
  if (!job) return fail(job.error());
  if (key->key.public_key().id() != job->runner) {
    return fail(ErrorKind::refused, "KEY_NOT_THE_RUNNER", key->key.public_key().id().hex(),
                "the job is for the runner " + job->runner.hex() + " alone",
                "give that key with --key");
  }
  if (Status status = check_ready(session, arguments, *job); !status) return fail(status.error());
  const Result<std::string> work = write_job_document(*job);
  if (!work) return fail(work.error());
  Result<RunnerRun> ran = start_runner(session, arguments, "measure",
                                       job->limits.wall_seconds + job->limits.build_seconds, *work,
                                       "result-" + job->job.hex().substr(0, 8));
  if (!ran) return fail(ran.error());
  const Result<std::string> statement = sign_result(*job, ran->document, key->key);
  if (!statement) return fail(statement.error());
  if (Status status = ran->folder.statement(*statement); !status) return fail(status.error());
  const Result<MeasurementResult> result = read_measurement_result(ran->document);
  if (!result) return fail(result.error());
  print(session.out(), *result, ran->path);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kRerunVerb{
    .name = "rerun",
    .summary = "measure a job with the runner, and sign the result",
    .details =
        "The runner is a process of its own that gets neither key nor ledger. What it measured is\n"
        "written to a folder with the signed statement, for `accept` where the ledger is. The\n"
        "machine that measures needs the job's document and a runner key, and no ledger.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
