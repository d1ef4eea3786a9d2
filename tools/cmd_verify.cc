// SPDX-License-Identifier: Apache-2.0
// verify: judge an evidence bundle, with no ledger and no trust in whoever gave it.
#include <charconv>
#include <limits>

#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/session.h"
#include "tools/verbs.h"
#include "verify/bundle.h"
#include "verify/bundle_format.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--ledger-id",
     .value = "ID",
     .help = "the ledger it must come from: the id that 'init' and 'status' print, from somewhere "
             "else than the file"},
    {.name = "--key",
     .value = "VKEY",
     .help = "the log's key, name+hex+base64: weaker, whoever holds it can found another ledger"},
    {.name = "--policy",
     .value = "FILE",
     .help = "whose runners count, as JSON {v, keys, owners, allow}; without one nobody's do",
     .kind = ValueKind::file},
    {.name = "--witness-policy",
     .value = "FILE",
     .help = "whose cosignatures are needed, as the text of a tlog-policy",
     .kind = ValueKind::file},
    {.name = "--max-age",
     .value = "D",
     .help = "the quorum of witnesses saw the checkpoint at most that long ago: 90s, 15m, 36h, 7d"},
    {.name = "--expect-at-least",
     .value = "N",
     .help = "the log has at least this many entries",
     .kind = ValueKind::count},
    {.name = "--allow-unknown-currency",
     .help = "take a file without a status, from which a retraction could be left out"},
    {.name = "FILE", .help = "the bundle", .kind = ValueKind::file, .required = true},
    {.name = "ID", .help = "the run that it must be about: a whole digest"},
};
constexpr std::string_view kExamples[] = {
    "verify run.bundle.json --ledger-id \"$(cat ledger.id)\"",
    "verify run.bundle.json --ledger-id \"$(cat ledger.id)\" --witness-policy witnesses.txt "
    "--max-age 7d",
    "verify run.bundle.json --key \"$(cat log.vkey)\" --json",
};

Result<Digest> whole_digest(const std::string& text, const std::string& place) {
  Result<Digest> digest =
      text.starts_with("sha256:") ? Digest::parse(text) : Digest::parse_hex(text);
  if (!digest) return fail_in(place, digest.error());
  return digest;
}

// "36h" to seconds.
Result<std::uint64_t> parse_duration(const std::string& text) {
  std::uint64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  std::uint64_t unit = 0;
  if (error == std::errc() && end - stop == 1) {
    switch (*stop) {
      case 's':
        unit = 1;
        break;
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 60 * 60;
        break;
      case 'd':
        unit = 24 * 60 * 60;
        break;
      default:
        break;
    }
  }
  if (unit == 0 || count > std::numeric_limits<std::uint64_t>::max() / unit) {
    return fail(ErrorKind::usage, "USAGE", "--max-age",
                "this takes a number and one of s, m, h and d: 36h");
  }
  return count * unit;
}

Status read_anchor(const Arguments& arguments, VerifyOptions& options) {
  if (!arguments.given("--ledger-id") && !arguments.given("--key")) {
    return fail(ErrorKind::usage, "USAGE", "", "verify: --ledger-id or --key is required",
                "Take it from where you trust it, never from the file: without one the file proves "
                "nothing");
  }
  if (arguments.given("--ledger-id")) {
    const Result<Digest> id = whole_digest(arguments.text("--ledger-id"), "--ledger-id");
    if (!id) return fail(id.error());
    options.ledger_id = *id;
  }
  if (arguments.given("--key")) {
    const Result<VerifierKey> key = parse_vkey(arguments.text("--key"));
    if (!key) return fail_in("--key", key.error());
    if (key->algorithm != NoteAlgorithm::ed25519) {
      return fail(ErrorKind::usage, "USAGE", "--key", "this is the key of a witness, not of a log");
    }
    options.log_key = *key;
  }
  return {};
}

Status read_policies(const Arguments& arguments, VerifyOptions& options) {
  if (arguments.given("--policy")) {
    const std::string path = arguments.text("--policy");
    const Result<std::string> bytes = read_input(path, kReaderPolicyBytes);
    if (!bytes) return fail(bytes.error());
    Result<ReaderPolicy> policy = parse_reader_policy(*bytes);
    if (!policy) return fail_in(input_name(path), policy.error());
    options.policy = std::move(*policy);
  }
  if (arguments.given("--witness-policy")) {
    const std::string path = arguments.text("--witness-policy");
    const Result<std::string> bytes = read_input(path, kPolicyBytes);
    if (!bytes) return fail(bytes.error());
    Result<WitnessPolicy> policy = WitnessPolicy::parse(*bytes);
    if (!policy) return fail_in(input_name(path), policy.error());
    options.witness_policy = std::move(*policy);
  }
  return {};
}

Result<VerifyOptions> verify_options(const Session& session, const Arguments& arguments) {
  VerifyOptions options;
  if (Status status = read_anchor(arguments, options); !status) return fail(status.error());
  if (arguments.given("ID")) {
    const Result<Digest> id = whole_digest(arguments.text("ID"), "ID");
    if (!id) return fail(id.error());
    options.subject = *id;
  }
  if (arguments.given("--max-age")) {
    const Result<std::uint64_t> age = parse_duration(arguments.text("--max-age"));
    if (!age) return fail(age.error());
    options.max_age = *age;
  }
  options.expect_at_least = arguments.count("--expect-at-least");
  options.allow_unknown_currency = arguments.given("--allow-unknown-currency");
  options.now = session.now();
  if (Status status = read_policies(arguments, options); !status) return fail(status.error());
  return options;
}

void print_text(Output& out, const BundleVerdict& verdict) {
  for (const BundleCheck& check : verdict.checks) {
    const Tone tone = !check.ok ? Tone::bad : check.code.empty() ? Tone::good : Tone::warning;
    const std::string word = !check.ok ? "FAIL" : "ok";
    out.write(out.terminal().tinted(pad_right(word, 4), tone) + "  " + pad_right(check.check, 12) +
              "  " + escape_text(check.detail) +
              (check.code.empty() ? "" : " (" + check.code + ")") + "\n");
  }
  out.write(verdict.subject.text() + "\n");
  out.write(out.terminal().tinted(verdict.ok() ? "TRUE" : "FALSE",
                                  verdict.ok() ? Tone::good : Tone::bad) +
            ", level " + std::string(level_name(verdict.level)) + " (" +
            std::string(kEvidencePolicy) + ", trust " + verdict.trust + "), as of size " +
            std::to_string(verdict.as_of.size) + "\n");
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<VerifyOptions> options = verify_options(session, arguments);
  if (!options) return fail(options.error());
  const std::string path = arguments.text("FILE");
  const Result<std::string> bytes = read_input(path, kBundleBytes);
  if (!bytes) return fail(bytes.error());
  const Result<BundleVerdict> verdict = verify_bundle(*bytes, *options);
  if (!verdict) return fail_in(input_name(path), verdict.error());
  if (session.out().for_people()) {
    print_text(session.out(), *verdict);
  } else {
    session.out().write(verdict->json() + "\n");
  }
  return verdict->ok() ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace

constexpr Verb kVerifyVerb{
    .name = "verify",
    .summary = "judge an evidence bundle without any ledger",
    .details =
        "One line for each thing that is checked. Exit 1 when the evidence is false, 3 when the "
        "file\n"
        "is no bundle. Without --witness-policy a split view is not excluded; a level is that of\n"
        "the facts in the file, as of its size.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
