// SPDX-License-Identifier: Apache-2.0
// accept: a result enters the log with the verdict on it, whatever it is.
#include "ledger/query.h"
#include "ledger/reader_attempts.h"
#include "tools/attempt_output.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/signing.h"
#include "tools/table.h"
#include "tools/verbs.h"
#include "verify/accept_result.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--accept-provisional",
     .help = "let three sessions stand in for a calibration; named in the acceptance, and counted "
             "only by readers who allow it"},
    kKeyOption,
    {.name = "RESULT",
     .help = "the folder that `rerun` or `calibrate` wrote",
     .kind = ValueKind::folder,
     .required = true},
};
constexpr std::string_view kExamples[] = {"accept result-9b11c0de"};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

void print(Output& out, const AcceptedResult& accepted, const RunView& reported) {
  if (out.for_people()) {
    const bool refused = accepted.judged.verdict == Acceptance::Verdict::refused;
    FactList list;
    list.add("verdict", std::string(verdict_name(accepted.judged.verdict)),
             refused ? Tone::warning : Tone::strong);
    if (!accepted.judged.codes.empty()) list.add("codes", joined(accepted.judged.codes));
    const std::string compared = comparison_text(accepted.judged);
    if (!compared.empty()) list.add("measured", compared);
    list.add("reported run", accepted.reported.text());
    list.add("its level", std::string(level_name(reported.evidence.level)));
    list.add("controlled run", accepted.run.text());
    list.add("result",
             "entry " + std::to_string(accepted.result_index) + ", " + accepted.result.text());
    list.add("acceptance", "entry " + std::to_string(accepted.acceptance_index) +
                               (accepted.existing ? ", recorded before" : ""));
    for (const std::string& digest : accepted.missing) {
      list.add("missing", digest, Tone::warning);
    }
    out.write(list.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("verdict", verdict_name(accepted.judged.verdict))
                   .add("judged", judged_document(json, accepted.judged))
                   .add("job", json.digest(accepted.job))
                   .add("result", json.digest(accepted.result))
                   .add("resultIndex", json.count(accepted.result_index))
                   .add("acceptanceIndex", json.count(accepted.acceptance_index))
                   .add("existing", json::Value(accepted.existing))
                   .add("run", json.digest(accepted.run))
                   .add("reported", json.digest(accepted.reported))
                   .add("level", level_name(reported.evidence.level))
                   .add("missing", json.texts(accepted.missing))
                   .finish());
}

Result<ExitCode> record_sessions(Session& session, Ledger& ledger, const ResultFolder& folder) {
  const Result<RecordedCalibration> recorded = record_calibration(ledger, folder);
  if (!recorded) return fail(recorded.error());
  Output& out = session.out();
  if (out.for_people()) {
    FactList list;
    list.add("calibration", recorded->id.text(), Tone::strong);
    list.add("device", recorded->product);
    list.add("sessions", std::to_string(recorded->sessions));
    list.add("runner", recorded->runner.hex());
    list.add("log", "entry " + std::to_string(recorded->index) +
                        (recorded->existing ? ", recorded before" : ""));
    out.write(list.text(out.terminal()));
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("calibration", json.digest(recorded->id))
                   .add("index", json.count(recorded->index))
                   .add("runner", json.text(recorded->runner.hex()))
                   .add("sessions", json.count(recorded->sessions))
                   .add("existing", json::Value(recorded->existing))
                   .finish());
  return ExitCode::done;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<ResultFolder> folder = ResultFolder::open(arguments.text("RESULT"));
  if (!folder) return fail(folder.error());
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  if (is_calibration(*folder)) return record_sessions(session, **ledger, *folder);
  const Result<KeyFile> key = signing_key(session, arguments, Role::controller);
  if (!key) return fail(key.error());
  std::vector<std::string> allowed;
  if (arguments.given("--accept-provisional")) allowed.emplace_back(kAcceptProvisional);
  const Result<AcceptedResult> accepted = accept_result(**ledger, *folder, key->key, allowed);
  if (!accepted) return fail(accepted.error());
  const Result<RunView> reported = view_run((*ledger)->read(), accepted->reported);
  if (!reported) return fail(reported.error());
  print(session.out(), *accepted, *reported);
  return accepted->judged.verdict == Acceptance::Verdict::refused ? ExitCode::check_failed
                                                                  : ExitCode::done;
}

}  // namespace

constexpr Verb kAcceptVerb{
    .name = "accept",
    .summary = "record a runner's result, its samples, the new run, and the verdict on it",
    .details =
        "Every gate is applied, and whatever comes of it is recorded: a refused result spends its\n"
        "job too. The acceptance is necessary and not sufficient: every reader derives the "
        "verdict\n"
        "again from the kept samples. Exits with 1 when the result is refused.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
