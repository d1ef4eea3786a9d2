// SPDX-License-Identifier: Apache-2.0
// evidence: the level of a run, the facts it rests on, and what the next level needs.
#include "ledger/evidence_text.h"
#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/display_text.h"
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

struct Facts {
  RunView run;
  Provenance provenance;
  const SubjectJudgement* said = nullptr;  // of `judgements`; null when nothing counts
  std::shared_ptr<const Judgements> judgements;
  TreeHead as_of;
};

struct NamedFlag {
  RunFlag flag;
  std::string_view name;
  std::string_view means;
};
constexpr std::array<NamedFlag, 4> kFlags = {{
    {kSourceNamed, "sourceNamed", "the implementation names its source by digest"},
    {kSourceHeld, "sourceHeld", "all of it is in the log"},
    {kEvidenceNamed, "evidenceNamed", "raw samples or logs are named by digest"},
    {kEvidenceHeld, "evidenceHeld", "one of them is in the log"},
}};

Result<Facts> gather(const Reader& reader, const Digest& run, const ReadPolicy& policy) {
  Result<RunView> view = view_run(reader, run, policy);
  if (!view) return fail(view.error());
  Result<Provenance> provenance = kernelindex::provenance(reader, run);
  if (!provenance) return fail(provenance.error());
  const std::uint64_t size = policy.as_of.value_or(reader.head().size);
  const Result<Digest> root = reader.root_at(size);
  if (!root) return fail(root.error());
  Facts facts{std::move(*view), std::move(*provenance), nullptr, reader.judgements(size),
              TreeHead{size, *root}};
  facts.said = facts.judgements->find(run);
  // Provenance tells of today; the level may be asked of an earlier size.
  std::erase_if(facts.provenance.claims,
                [&](const ClaimView& claim) { return claim.index >= size; });
  for (ClaimView& claim : facts.provenance.claims) {
    const ImportRange* import = reader.covering_import(claim.index, size);
    claim.import_valid = import != nullptr && !facts.judgements->retracted(import->id);
  }
  return facts;
}

std::vector<std::string> needed(const Evidence& evidence) {
  std::vector<std::string> out;
  for (const LevelReason reason : evidence.reasons) {
    const std::string_view text = reason_text(reason).needed;
    if (!text.empty()) out.emplace_back(text);
  }
  return out;
}

json::Value indexes(const JsonOutput& json, const std::vector<std::uint64_t>& list) {
  std::vector<json::Value> values;
  for (const std::uint64_t index : list) values.push_back(json.count(index));
  return json.array(values);
}

void print_json(Output& out, const Facts& facts) {
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> reasons;
  for (const LevelReason reason : facts.run.evidence.reasons) {
    reasons.push_back(
        json.object()
            .add("code", reason_name(reason))
            .add("means", reason_text(reason).means)
            .add_if(!reason_text(reason).needed.empty(), "needed", reason_text(reason).needed)
            .finish());
  }
  std::vector<json::Value> claims;
  for (const ClaimView& claim : facts.provenance.claims) {
    claims.push_back(json.object()
                         .add("index", json.count(claim.index))
                         .add("source", claim.source)
                         .add("import", json.count(claim.import_index))
                         .add("importValid", json::Value(claim.import_valid))
                         .add("snapshotKept", json::Value(claim.snapshot_kept))
                         .finish());
  }
  json::ObjectBuilder held = json.object();
  for (const NamedFlag& flag : kFlags)
    held.add(flag.name, json::Value(facts.run.row.has(flag.flag)));
  const SubjectJudgement nothing;
  const SubjectJudgement& said = facts.said == nullptr ? nothing : *facts.said;
  out.document(json.object()
                   .add("digest", json.digest(facts.run.digest))
                   .add("level", level_name(facts.run.evidence.level))
                   .add("policy", kEvidencePolicy)
                   .add("trust", kOwnTrust)
                   .add("asOf", json.object()
                                    .add("size", json.count(facts.as_of.size))
                                    .add("root", json.digest(facts.as_of.root))
                                    .finish())
                   .add("levelReasons", json.texts(level_reasons(facts.run.evidence)))
                   .add("reasons", json.array(reasons))
                   .add("claims", json.array(claims))
                   .add("held", held.finish())
                   .add("said", json.object()
                                    .add("retractions", indexes(json, said.retractions))
                                    .add("disputes", indexes(json, said.disputes))
                                    .add("withdrawals", indexes(json, said.withdrawals))
                                    .finish())
                   .add("rank", facts.run.rank ? json.count(*facts.run.rank) : json::Value())
                   .add("rankReasons", json.texts(facts.run.reasons))
                   .finish());
}

void print_text(Output& out, const Facts& facts) {
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
  for (const NamedFlag& flag : kFlags) {
    list.add("fact", std::string(facts.run.row.has(flag.flag) ? "yes  " : "no   ") +
                         std::string(flag.means));
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
  const Result<Facts> facts = gather(reader, found->digest, read_policy(arguments));
  if (!facts) return fail(facts.error());
  if (session.out().for_people()) {
    print_text(session.out(), *facts);
  } else {
    print_json(session.out(), *facts);
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
