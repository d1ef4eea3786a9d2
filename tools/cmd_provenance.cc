// SPDX-License-Identifier: Apache-2.0
#include "ledger/identify.h"
#include "ledger/import_event.h"
#include "ledger/query.h"
#include "tools/attempt_output.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/provenance_output.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "ID", .help = "a digest or its beginning, or an external id", .required = true},
};
constexpr std::string_view kExamples[] = {
    "provenance sol-execbench:submission/15866",
    "provenance fa2cdd25d5d2 --json",
};

// A step of the chain: a word in the margin, and lines beside it.
void step(Output& out, std::string_view word, const std::vector<std::string>& lines,
          Tone tone = Tone::plain) {
  constexpr std::size_t kMargin = 10;
  bool first = true;
  for (const std::string& line : lines) {
    out.write(out.terminal().tinted(pad_right(first ? word : "", kMargin), Tone::dim));
    out.write(out.terminal().tinted(escape_text(line), first ? tone : Tone::plain) + "\n");
    first = false;
  }
}

std::string joined(const auto& words, std::string_view separator) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

// What the statements and the kept report say of the whole import.
std::vector<std::string> import_lines(const ImportEventView& import) {
  std::vector<std::string> lines;
  lines.push_back(import.parser + " " + import.parser_version +
                  (import.options == "{}" ? "" : " " + import.options) + ", " +
                  counted(import.statements.size(), "statement") + " of entries " +
                  std::to_string(import.statements.front().first) + " to " +
                  std::to_string(import.statements.back().index) + ", " +
                  counted(import.snapshots.size(), "snapshot"));
  std::string recorded;
  for (const auto& [what, number] : import.counts) {
    recorded += (recorded.empty() ? "recorded " : ", ") +
                grouped(static_cast<std::uint64_t>(number)) + " " + what;
  }
  if (!recorded.empty()) lines.push_back(recorded);
  if (!import.report) {
    lines.push_back("no report: the import was cut off");
  } else if (!import.report->kept) {
    lines.push_back("report " + import.report->digest.text() + ", its bytes are not held");
  } else {
    lines.push_back("report " + import.report->digest.text() + ": " +
                    counted(import.report->selected, "item") + " selected, " +
                    grouped(import.report->skipped) + " skipped, " +
                    grouped(import.report->quarantined) + " set aside");
    for (const Digest& record : import.report->fetch_records) {
      lines.push_back("fetch record " + record.text());
    }
  }
  return lines;
}

void print_claim(Output& out, const ClaimView& claim, const ProvenanceStory& story) {
  std::string who = claim.source + " says so";
  if (!claim.via.empty()) who += ", read via " + claim.via;
  if (!claim.external_ids.empty()) who += ": " + joined(claim.external_ids, ", ");
  step(out, "claim",
       {who, "entry " + std::to_string(claim.index) + ", recorded " +
                 format_utc_micros(claim.recorded_at)});
  if (claim.snapshot) {
    std::string place = claim.locator + (claim.item.empty() ? "" : " at " + claim.item);
    place += claim.supplied ? ", supplied as a file" : ", fetched " + claim.fetched_at;
    step(out, "  from", {claim.snapshot->text(), place});
    if (!claim.snapshot_kept) step(out, "", {"its bytes are not held"});
  }
  if (!claim.facts.marks.empty()) step(out, "  marks", {joined(claim.facts.marks, ", ")});
  if (!claim.import_index) {
    step(out, "  import", {"no import statement covers this claim"}, Tone::bad);
  } else {
    std::vector<std::string> lines = {"signed by entry " + std::to_string(*claim.import_index) +
                                      (claim.import_valid ? ", valid" : ", NOT valid")};
    if (const ImportEventView* event = story.import_of(claim)) {
      std::ranges::move(import_lines(*event), std::back_inserter(lines));
    }
    step(out, "  import", lines, claim.import_valid ? Tone::plain : Tone::bad);
  }
}

void print_text(Output& out, const Reader& reader, const ProvenanceStory& story) {
  const Provenance& found = story.provenance;
  step(out, "subject",
       {story.label.empty() ? found.digest.text() : story.label, found.digest.text()},
       Tone::strong);
  step(out, "kind", {std::string(kind_name(found.kind))});
  if (story.run) {
    const RunRow& row = story.run->row;
    step(out, "value",
         {value_text(row) + " " + std::string(row.statistic) + ", " + std::string(row.status) +
          ", observed " + day_text(row.observed_at)});
    step(out, "level",
         {std::string(level_name(story.run->evidence.level)) + " (" + std::string(kEvidencePolicy) +
              ", trust " + std::string(kOwnTrust) + ")",
          joined(level_reasons(story.run->evidence), " ")},
         Tone::strong);
    const std::string rank = story.run->rank ? "rank " + std::to_string(*story.run->rank)
                                             : "no rank: " + joined(story.run->reasons, " ");
    step(out, "group", {row.group ? row.group->text() : "none yet: WORKLOAD_MISSING", rank});
  }
  for (const ClaimView& claim : found.claims) print_claim(out, claim, story);
  for (const ReferenceView& reference : found.refers) {
    step(out, "refers",
         {reference.field + ": " +
              (reference.kind ? std::string(kind_name(*reference.kind)) + " " + reference.label
                              : std::string("not in the ledger")),
          reference.digest.text()},
         reference.kind ? Tone::plain : Tone::warning);
  }
  for (const ChainView& attestation : found.chain) {
    if (is_note(attestation)) continue;
    const std::string_view type = attestation.predicate_type;
    std::vector<std::string> lines = {
        std::string(type.starts_with(kPredicateBase) ? type.substr(kPredicateBase.size()) : type) +
            " by " + attestation.role + " " + attestation.signer.substr(0, 8) + ", entry " +
            std::to_string(attestation.index) +
            (attestation.counts ? "" : ", does not count: " + attestation.reason),
        attestation.id.text()};
    if (!attestation.says.empty()) lines.insert(lines.begin() + 1, attestation.says);
    step(out, "said", lines, attestation.counts ? Tone::plain : Tone::dim);
  }
  if (story.measured.own) step(out, "measured", job_lines(*story.measured.own));
  for (const ControlledJob& job : story.measured.about) step(out, "attempt", job_lines(job));
  if (story.notes != 0) {
    step(out, "notes", {counted(story.notes, "community note") + ", which never change a level"});
  }
  const std::string place = "entry " + std::to_string(found.inclusion_index) + " of " +
                            grouped(found.as_of.size) + " in " + reader.format().origin;
  step(out, "log",
       {place + (story.inclusion.ok()
                     ? ", inclusion proved by " + counted(found.inclusion.size(), "hash", "hashes")
                     : ", inclusion NOT proved: " + story.inclusion.detail),
        "root " + found.as_of.root.text()},
       story.inclusion.ok() ? Tone::plain : Tone::bad);
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Candidate> found = identify(reader, arguments.text("ID"), {Named::manifest});
  if (!found) return fail(found.error());
  Result<ProvenanceStory> story = tell_provenance(reader, *found);
  if (!story) return fail(story.error());
  if (Status told = tell_imports(reader, *story); !told) return fail(told.error());
  if (session.out().for_people()) {
    print_text(session.out(), reader, *story);
  } else {
    json::Arena arena;
    session.out().document(provenance_document(JsonOutput(arena), reader, *story));
  }
  return story->inclusion.ok() ? ExitCode::done : ExitCode::corrupt;
}

}  // namespace

constexpr Verb kProvenanceVerb{
    .name = "provenance",
    .summary = "tell who claimed a manifest, from which bytes, and what was said of it",
    .details = "A chain from claim to snapshot to log: each step names what it rests on by digest.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
