// SPDX-License-Identifier: Apache-2.0
// doctor: what this machine and this ledger have, and what they lack.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include "ledger/key_file.h"
#include "ledger/role_keys.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/runner_program.h"
#include "tools/table.h"
#include "tools/units.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::uint64_t kLittleSpace = std::uint64_t{1} << 30;
constexpr std::string_view kExamples[] = {"doctor", "doctor --json"};

enum class State { fine, remark, wrong };

struct Examined {
  std::string_view what;
  State state = State::fine;
  std::string found;
  std::string remedy;  // empty: nothing is to be done
};
using Findings = std::vector<Examined>;

std::string_view state_word(State state) {
  constexpr std::array<std::string_view, 3> kWords = {"ok", "remark", "wrong"};
  return kWords[static_cast<std::size_t>(state)];
}

// Without its remedy, which has a line of its own.
std::string fault_text(const Error& error) {
  return (error.place.empty() ? "" : error.place + ": ") + error.message + " (" + error.code + ")";
}

// ---- the machine ----

void examine_processor(Findings& findings) {
  std::ifstream file("/proc/cpuinfo");
  std::string flags;
  for (std::string line; flags.empty() && std::getline(file, line);) {
    if (line.starts_with("flags")) flags = line + " ";
  }
  const bool sha = flags.find(" sha_ni ") != std::string::npos;
  const std::string count = counted(std::thread::hardware_concurrency(), "processor");
  if (sha) {
    findings.push_back({"processor", State::fine, count + ", SHA-256 in hardware", {}});
    return;
  }
  findings.push_back({"processor", State::remark, count + ", no SHA-256 instructions found",
                      "nothing: digests take some four times as long"});
}

void examine_runner(const Arguments& arguments, const Reader* reader, Findings& findings) {
  const Result<std::filesystem::path> program = runner_program(arguments);
  if (!program) {
    findings.push_back({"runner", State::remark, "no kernelindex-runner is here",
                        "needed to measure alone: build it, or give --runner-program"});
    return;
  }
  const Result<Digest> digest = runner_digest(*program);
  if (!digest) {
    findings.push_back({"runner", State::wrong, digest.error().text(), {}});
    return;
  }
  const bool approved =
      reader != nullptr &&
      reader->state().keys.approved(*digest, DigestApproval::Kind::harness, reader->head().size);
  findings.push_back({"runner", State::fine, program->string() + " " + digest->text(),
                      approved || reader == nullptr
                          ? std::string()
                          : "before it may measure for this ledger: `kernelindex key approve "
                            "harness " +
                                digest->text() + "`"});
}

// ---- the ledger ----

void examine_space(const std::filesystem::path& path, Findings& findings) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(path, error);
  if (error) {
    findings.push_back({"space", State::wrong, error.message(), {}});
    return;
  }
  const bool little = space.available < kLittleSpace;
  findings.push_back({"space", little ? State::remark : State::fine,
                      format_bytes(space.available) + " free",
                      little ? "a catalog import takes some hundred MiB" : ""});
}

void examine_key_files(const Session& session, const Reader& reader, Findings& findings) {
  const std::filesystem::path keys = session.keys_path();
  std::string valid;
  for (const Role role : kRoles) {
    for (const std::filesystem::path& path : role_key_files(keys, role)) {
      const Result<KeyFileLabel> label = read_key_file_label(path);
      if (!label) {
        findings.push_back(
            {"key file", State::wrong, fault_text(label.error()), label.error().remedy});
        continue;
      }
      const KeyRecord* record = reader.state().keys.find(label->public_key.id());
      if (record == nullptr || !record->valid_at(reader.head().size)) continue;
      valid += (valid.empty() ? "" : ", ") + std::string(role_name(role)) +
               (label->encrypted ? " (encrypted)" : "");
    }
  }
  findings.push_back(
      {"key files",
       valid.empty() ? State::remark : State::fine,
       valid.empty() ? "none that is valid: this ledger can only be read here" : valid,
       {}});
  if (std::filesystem::exists(key_file_path(keys, Role::root))) {
    findings.push_back({"root key", State::remark, "it lies on this machine",
                        "move it away: who has it can enrol any key"});
  }
}

void examine_marks(const Ledger& ledger, Findings& findings) {
  const LedgerOptions& options = ledger.options();
  const std::filesystem::path state =
      options.state.empty() ? user_state_directory() : options.state;
  const std::filesystem::path keys =
      options.keys.empty() ? options.directory / "keys" : options.keys;
  const std::vector<ReleasedMark> marks =
      read_marks({options.directory, keys, state}, ledger.format().ledger_id);
  const auto read = std::ranges::count_if(
      marks, [](const ReleasedMark& mark) { return mark.checkpoint.has_value(); });
  if (read > 1) {
    findings.push_back({"released marks", State::fine, std::to_string(read) + " places", {}});
    return;
  }
  findings.push_back({"released marks", State::remark,
                      read == 0 ? "none: a cut-off end of the log would not show here"
                                : "one place: who can change it can hide a cut-off end",
                      "`kernelindex checkpoint` writes them"});
}

void examine_ledger(const Session& session, const Ledger& ledger, Findings& findings) {
  const Reader reader = ledger.read();
  findings.push_back({"ledger",
                      State::fine,
                      session.ledger_path().string() + ", " +
                          counted(reader.head().size, "entry", "entries") + ", " +
                          reader.format().origin,
                      {}});
  if (const auto& reason = ledger.read_only_reason()) {
    findings.push_back({"log", State::wrong, reason->message + " (" + reason->code + ")",
                        "compare with a checkpoint that you kept: `kernelindex audit --since`"});
  }
  if (const auto& fault = ledger.derived_fault()) {
    findings.push_back({"derived data", State::wrong, fault_text(*fault), "`kernelindex reindex`"});
  }
  const Result<Entry> last = reader.entry(reader.head().size - 1);
  if (last && last->recorded_at > session.now()) {
    findings.push_back({"clock", State::wrong,
                        "this machine's clock is behind the newest entry, recorded " +
                            format_utc_micros(last->recorded_at),
                        "set the clock: what is recorded now would be misdated"});
  }
  examine_key_files(session, reader, findings);
  examine_marks(ledger, findings);
}

// ---- output ----

void print(Output& out, const Findings& findings) {
  if (out.for_people()) {
    FactList list;
    for (const Examined& one : findings) {
      const Tone tone = one.state == State::fine     ? Tone::plain
                        : one.state == State::remark ? Tone::warning
                                                     : Tone::bad;
      list.add(std::string(one.what), std::string(state_word(one.state)) + ": " + one.found, tone);
      if (!one.remedy.empty()) list.add("", one.remedy);
    }
    out.write(list.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> values;
  for (const Examined& one : findings) {
    values.push_back(json.object()
                         .add("what", one.what)
                         .add("state", state_word(one.state))
                         .add("found", json.text(one.found))
                         .add_if(!one.remedy.empty(), "remedy", json.text(one.remedy).string())
                         .finish());
  }
  out.document(json.object()
                   .add("version", KERNELINDEX_VERSION)
                   .add("examined", json.array(values))
                   .finish());
}

constexpr OptionSpec kOptions[] = {kRunnerProgramOption};

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  Findings findings;
  findings.push_back({"program", State::fine, "kernelindex " KERNELINDEX_VERSION, {}});
  examine_processor(findings);
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::log);
  if (ledger) {
    examine_space(session.ledger_path(), findings);
    examine_ledger(session, **ledger, findings);
    const Reader reader = (*ledger)->read();
    examine_runner(arguments, &reader, findings);
  } else {
    const bool absent = ledger.error().code == "NO_LEDGER";
    findings.push_back({"ledger", absent ? State::remark : State::wrong, fault_text(ledger.error()),
                        absent ? "`kernelindex init` makes one" : ledger.error().remedy});
    examine_runner(arguments, nullptr, findings);
  }
  print(session.out(), findings);
  const bool wrong =
      std::ranges::any_of(findings, [](const Examined& one) { return one.state == State::wrong; });
  return wrong ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace

constexpr Verb kDoctorVerb{
    .name = "doctor",
    .summary = "look this machine and this ledger over, and say what is lacking",
    .details =
        "Reads only. It looks at what lies around the ledger: key files and who can read them, "
        "the\n"
        "marks that show a cut-off log, space, clock, and the runner. Whether the log itself is "
        "sound\n"
        "is for `audit`. Exits with 1 when something is wrong.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
