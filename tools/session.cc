// SPDX-License-Identifier: Apache-2.0
#include "tools/session.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kCommonOptions[] = {
    {.name = "--ledger",
     .value = "DIR",
     .help = "the ledger's folder; else $KERNELINDEX_LEDGER, else ./kernelindex.ledger",
     .kind = ValueKind::folder},
    {.name = "--json", .help = "one JSON document, nothing cut"},
    {.name = "--jsonl", .help = "a stream of JSON documents, one a line"},
    {.name = "--quiet", .help = "no progress and no remarks on standard error"},
    {.name = "--now",
     .value = "TIME",
     .help =
         "a fixed clock, such as 2026-11-30T12:00:00Z; else $KERNELINDEX_NOW, else the system's"},
    {.name = "--keys",
     .value = "DIR",
     .help = "where the key files lie; else the ledger's own folder keys",
     .kind = ValueKind::folder},
    {.name = "--passphrase-file",
     .value = "FILE",
     .help = "the passphrase of encrypted key files: the file's first line",
     .kind = ValueKind::file},
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::span<const OptionSpec> common_options() { return kCommonOptions; }

Result<Session> Session::start(const Arguments& common) {
  Session session;
  if (common.given("--json") && common.given("--jsonl")) {
    return fail(ErrorKind::usage, "USAGE", "", "--json and --jsonl exclude each other",
                "Give one of them");
  }
  const OutputForm form = common.given("--jsonl")  ? OutputForm::jsonl
                          : common.given("--json") ? OutputForm::json
                                                   : OutputForm::text;
  session.out_ = std::make_unique<Output>(STDOUT_FILENO, form);
  session.quiet_ = common.given("--quiet");

  std::string ledger = common.text("--ledger");
  if (ledger.empty()) ledger = environment("KERNELINDEX_LEDGER");
  session.ledger_path_ = ledger.empty() ? "kernelindex.ledger" : ledger;
  if (common.given("--keys")) session.keys_path_ = common.text("--keys");
  if (common.given("--passphrase-file")) {
    session.passphrase_file_ = common.text("--passphrase-file");
  }

  const bool named = common.given("--now");
  const std::string now = named ? common.text("--now") : environment("KERNELINDEX_NOW");
  if (!now.empty()) {
    const Result<UtcMicros> instant = parse_utc_instant(now);
    if (!instant) {
      return fail(ErrorKind::usage, "USAGE", named ? "--now" : "$KERNELINDEX_NOW",
                  instant.error().message, "Write it like 2026-11-30T12:00:00Z");
    }
    session.fixed_now_ = *instant;
  }
  return session;
}

std::filesystem::path Session::keys_path() const {
  return keys_path_ ? *keys_path_ : ledger_path_ / "keys";
}

UtcMicros Session::now() const {
  if (fixed_now_) return *fixed_now_;
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void Session::note(std::string_view line) const {
  if (quiet_) return;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace kernelindex::tools
