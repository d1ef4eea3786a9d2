// SPDX-License-Identifier: Apache-2.0
// evidence: the level of a run, the facts it rests on, and what the next level needs.
#include "ledger/evidence_text.h"
#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/attempt_output.h"
#include "tools/display_text.h"
#include "tools/evidence_output.h"
#include "tools/ledger_access.h"
#include "tools/run_options.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr auto kOptions = joined(kPolicyOptions, std::to_array<OptionSpec>({
                                                     {.name = "ID",
                                                      .help = "a run: a digest or its beginning, "
                                                              "or an external id",
                                                      .required = true},
                                                 }));
constexpr std::string_view kExamples[] = {"evidence sol-execbench:submission/15866",
                                          "evidence fa2cdd25d5d2 --json"};

std::vector<std::string> needed(const Evidence& evidence) {
  std::vector<std::string> out;
  for (const LevelReason reason : evidence.reasons) {
    const std::string_view text = reason_text(reason).needed;
    if (!text.empty()) out.emplace_back(text);
  }
  return out;
}

void print_text(Output& out, const EvidenceFacts& facts) {
  const Evidence& evidence = facts.run.evidence;
  FactList list;
  list.add("run", escape_text(facts.run.row.label), Tone::strong);
  list.add("", facts.run.digest.text());
  list.add("level",
           std::string(level_name(evidence.level)) + ": " + std::string(level_text(evidence.level)),
           Tone::strong);
  list.add("policy", std::string(kEvidencePolicy) + ", trust " + std::string(kOwnTrust) +
                         ", as of size " + std::to_string(facts.as_of.size));
  for (const LevelReason reason : evidence.reasons) {
    const ReasonText text = reason_text(reason);
    list.add("because", std::string(reason_name(reason)) + ": " + std::string(text.means),
             text.needed.empty() ? Tone::plain : Tone::warning);
  }
  for (const ClaimView& claim : facts.provenance.claims) {
    list.add("claim", "entry " + std::to_string(claim.index) + " by " + escape_text(claim.source) +
                          (claim.import_valid ? ", covered by import "
                                              : ", NOT covered by a valid import ") +
                          (claim.import_index ? std::to_string(*claim.import_index) : "") +
                          (claim.snapshot_kept ? ", snapshot kept" : ", snapshot not kept"));
  }
  for (const EvidenceFlag& flag : kEvidenceFlags) {
    list.add("fact", std::string(facts.run.row.has(flag.flag) ? "yes  " : "no   ") +
                         std::string(flag.means));
  }
  if (facts.measured.own) {
    for (const std::string& line : job_lines(*facts.measured.own)) list.add("measured by", line);
  }
  for (const ControlledJob& job : facts.measured.about) {
    bool first = true;
    for (const std::string& line : job_lines(job)) {
      list.add(std::exchange(first, false) ? "attempt" : "", line);
    }
  }
  if (facts.said != nullptr) {
    for (const auto& [word, entries] : {std::pair("retracted", &facts.said->retractions),
                                        std::pair("disputed", &facts.said->disputes),
                                        std::pair("withdrawn", &facts.said->withdrawals)}) {
      for (const std::uint64_t index : *entries) {
        list.add(word, "entry " + std::to_string(index), Tone::warning);
      }
    }
  }
  for (const std::string& text : needed(evidence)) list.add("needed", text);
  out.write(list.text(out.terminal()));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Candidate> found = identify(reader, arguments.text("ID"), {Named::manifest});
  if (!found) return fail(found.error());
  const Result<EvidenceFacts> facts =
      gather_evidence(reader, found->digest, read_policy(arguments));
  if (!facts) return fail(facts.error());
  if (session.out().for_people()) {
    print_text(session.out(), *facts);
  } else {
    json::Arena arena;
    session.out().document(evidence_document(JsonOutput(arena), *facts));
  }
  return ExitCode::done;
}

}  // namespace

constexpr Verb kEvidenceVerb{
    .name = "evidence",
    .summary = "explain the evidence level of a run, and what the next level needs",
    .details =
        "Levels are derived at reading, from facts alone: nothing states one, and what the "
        "community\n"
        "says never changes one.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
