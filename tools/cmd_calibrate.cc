// SPDX-License-Identifier: Apache-2.0
// calibrate: sessions of the sentinel kernels, signed by the runner.
#include <filesystem>

#include "ledger/dsse.h"
#include "ledger/measurement_predicates.h"
#include "ledger/predicates.h"
#include "schema/measurement_job.h"
#include "schema/sentinel_session.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/runner_program.h"
#include "tools/signing.h"
#include "tools/table.h"
#include "tools/verbs.h"
#include "verify/accept_result.h"

namespace kernelindex::tools {
namespace {

constexpr std::int64_t kSecondsOfSession = 120;

constexpr OptionSpec kOptions[] = {
    kSimulateOption,
    kRunnerProgramOption,
    {.name = "--sessions",
     .value = "N",
     .help = "how many sessions; by default 10, of which three boots make a calibration",
     .kind = ValueKind::count},
    {.name = "--repetitions",
     .value = "N",
     .help = "of each sentinel in a session; by default 200",
     .kind = ValueKind::count},
    {.name = "--clocks",
     .value = "VARIANT",
     .help = "the variant of the protocol; by default unlocked",
     .kind = ValueKind::choice,
     .choices = "unlocked|locked"},
    {.name = "--job",
     .value = "FILE",
     .help = "where there is no ledger: the document of a job, which names one",
     .kind = ValueKind::file},
    {.name = "-o",
     .value = "FOLDER",
     .help = "where the sessions go; by default calibration-<8 digits>",
     .kind = ValueKind::output},
    kKeyOption,
};
constexpr std::string_view kExamples[] = {
    "calibrate --sessions 4",
    "calibrate --job job-9b11c0de.json --key runner.key -o calibration",
};

// The ledger that the sessions are for, and a tree of it that the runner saw.
struct Bound {
  Digest ledger;
  TreeHead seen;
};

Result<Bound> find_ledger(Session& session, const Arguments& arguments) {
  if (arguments.given("--job")) {
    const std::string path = arguments.text("--job");
    const Result<std::string> text = read_input(path, kJobDocumentBytes);
    if (!text) return fail(text.error());
    const Result<JobDocument> job = read_job_document(*text);
    if (!job) return fail_in(input_name(path), job.error());
    return Bound{job->ledger, TreeHead{job->seen_size, job->seen_root}};
  }
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  return Bound{(*ledger)->format().ledger_id, (*ledger)->read().head()};
}

Result<std::string> sign(const Bound& bound, const CalibrationDocument& document,
                         const SigningKey& key) {
  const Digest runner = key.public_key().id();
  const Attestation said{runner, Binding{bound.ledger, runner, bound.seen},
                         Calibration{document.device, document.sessions, document.samples}};
  Result<std::string> payload = said.encode();
  if (!payload) return payload;
  Result<Envelope> envelope = sign_envelope(std::move(*payload), key);
  if (!envelope) return fail(envelope.error());
  return normalised(std::move(*envelope), key.public_key()).encode();
}

void print(Output& out, const CalibrationDocument& document, const std::string& folder) {
  if (out.for_people()) {
    FactList list;
    list.add("calibration", folder, Tone::strong);
    list.add("device", document.product + (document.simulated ? " (SIMULATED)" : ""),
             document.simulated ? Tone::warning : Tone::plain);
    list.add("sessions", std::to_string(document.sessions.size()));
    if (document.simulated) {
      list.add("cannot count", "SIMULATED_DEVICE: nothing was measured, and `accept` refuses it",
               Tone::warning);
    } else {
      list.add("next", "kernelindex accept " + folder);
    }
    out.write(list.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("folder", folder)
                   .add("product", json.text(document.product))
                   .add("device", json.digest(document.device))
                   .add("sessions", json.count(document.sessions.size()))
                   .add("simulated", json::Value(document.simulated))
                   .finish());
}

Result<CalibrationRequest> read_request(const Arguments& arguments, const Digest& ledger) {
  CalibrationRequest request;
  request.ledger = ledger;
  if (arguments.text("--clocks") == "locked") request.clocks = ClockVariant::locked;
  const std::uint64_t sessions = arguments.count("--sessions").value_or(10);
  const std::uint64_t repetitions = arguments.count("--repetitions").value_or(200);
  if (sessions == 0 || sessions > kCalibrationSessions || repetitions == 0 ||
      repetitions > static_cast<std::uint64_t>(kCalibrationSamples)) {
    return fail(ErrorKind::usage, "USAGE", "--sessions, --repetitions",
                "there are 1 to " + std::to_string(kCalibrationSessions) + " sessions of 1 to " +
                    std::to_string(kCalibrationSamples) + " repetitions");
  }
  request.sessions = static_cast<std::int64_t>(sessions);
  request.repetitions = static_cast<std::int64_t>(repetitions);
  return request;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<KeyFile> key = signing_key(session, arguments, Role::runner);
  if (!key) return fail(key.error());
  const Result<Bound> bound = find_ledger(session, arguments);
  if (!bound) return fail(bound.error());
  const Result<CalibrationRequest> request = read_request(arguments, bound->ledger);
  if (!request) return fail(request.error());
  const Result<std::string> work = write_calibration_request(*request);
  if (!work) return fail(work.error());
  Result<RunnerRun> ran =
      start_runner(session, arguments, "calibrate", request->sessions * kSecondsOfSession, *work,
                   "calibration-" + key->key.public_key().id().hex().substr(0, 8));
  if (!ran) return fail(ran.error());
  const Result<CalibrationDocument> document = read_calibration_document(ran->document);
  if (!document) return fail(document.error());
  const Result<std::string> statement = sign(*bound, *document, key->key);
  if (!statement) return fail(statement.error());
  if (Status status = ran->folder.statement(*statement); !status) return fail(status.error());
  print(session.out(), *document, ran->path);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kCalibrateVerb{
    .name = "calibrate",
    .summary = "run sessions of the sentinel kernels, and sign them",
    .details =
        "Results count only on a device whose runner recorded ten sessions over three boots "
        "before,\n"
        "and only while its sentinels stay within the bands of that history. `accept` records "
        "what\n"
        "this wrote.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
