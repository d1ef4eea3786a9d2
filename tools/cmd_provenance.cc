// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
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

// All that is told: the chain of claims, and for a run its level.
struct Story {
  Provenance provenance;
  std::string label;
  std::optional<RunView> run;
  ProofVerdict inclusion;
  std::uint64_t notes = 0;
  std::map<std::string, std::uint64_t> notes_by_owner;
};

bool is_note(const ChainView& attestation) {
  const std::string_view type = attestation.predicate_type;
  return type.starts_with(kPredicateBase) &&
         type.substr(kPredicateBase.size()).starts_with("note/");
}

Result<Story> tell(const Reader& reader, const Candidate& found) {
  Result<Provenance> provenance = kernelindex::provenance(reader, found.digest);
  if (!provenance) return fail(provenance.error());
  Story story{std::move(*provenance), found.label, std::nullopt, {}, 0, {}};
  const ManifestKind kind = story.provenance.kind;
  if (kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run) {
    Result<RunView> run = view_run(reader, found.digest);
    if (!run) return fail(run.error());
    story.run = std::move(*run);
  }
  const Result<std::string> leaf = reader.leaf(story.provenance.inclusion_index);
  if (!leaf) return fail(leaf.error());
  story.inclusion = verify_inclusion(leaf_hash(*leaf), story.provenance.inclusion_index,
                                     reader.head(), story.provenance.inclusion);
  for (const ChainView& attestation : story.provenance.chain) {
    if (!is_note(attestation)) continue;
    ++story.notes;
    const Result<Digest> signer = Digest::parse_hex(attestation.signer);
    const KeyRecord* key = signer ? reader.state().keys.find(*signer) : nullptr;
    ++story.notes_by_owner[key == nullptr ? "unknown" : key->owner];
  }
  return story;
}

json::Value claim_document(const JsonOutput& json, const ClaimView& claim) {
  json::ObjectBuilder value = json.object();
  value.add("source", claim.source)
      .add_if(!claim.via.empty(), "via", claim.via)
      .add("acquired", claim.supplied ? "supplied" : "fetched")
      .add("externalIds", json.texts(claim.external_ids))
      .add("index", json.count(claim.index))
      .add("recordedAt", json.text(format_utc_micros(claim.recorded_at)))
      .add("document", json.digest(claim.document))
      .add("item", claim.item)
      .add("import", json.object()
                         .add("index", json.count(claim.import_index))
                         .add("valid", json::Value(claim.import_valid))
                         .finish());
  if (claim.snapshot) {
    json::ObjectBuilder snapshot = json.object();
    snapshot.add("digest", json.digest(*claim.snapshot))
        .add("locator", claim.locator)
        .add("kept", json::Value(claim.snapshot_kept))
        .add_if(!claim.fetched_at.empty(), "fetchedAt", claim.fetched_at);
    value.add("snapshot", snapshot.finish());
  }
  if (!claim.facts.marks.empty()) value.add("marks", json.texts(claim.facts.marks));
  return value.finish();
}

json::Value chain_document(const JsonOutput& json, const ChainView& attestation) {
  return json.object()
      .add("index", json.count(attestation.index))
      .add("id", json.digest(attestation.id))
      .add("predicateType", attestation.predicate_type)
      .add("signer", attestation.signer)
      .add("role", attestation.role)
      .add("counts", json::Value(attestation.counts))
      .add("reason", attestation.reason)
      .add_if(!attestation.says.empty(), "says", attestation.says)
      .finish();
}

void print_json(Output& out, const Reader& reader, const Story& story) {
  json::Arena arena;
  const JsonOutput json(arena);
  const Provenance& found = story.provenance;
  std::vector<json::Value> claims;
  for (const ClaimView& claim : found.claims) claims.push_back(claim_document(json, claim));
  std::vector<json::Value> refers;
  for (const ReferenceView& reference : found.refers) {
    refers.push_back(
        json.object()
            .add("field", reference.field)
            .add("digest", json.digest(reference.digest))
            .add("kind", reference.kind ? json.text(kind_name(*reference.kind)) : json::Value())
            .add("name", reference.label)
            .add("present", json::Value(reference.kind.has_value()))
            .finish());
  }
  std::vector<json::Value> chain;
  for (const ChainView& attestation : found.chain)
    chain.push_back(chain_document(json, attestation));
  json::ObjectBuilder owners = json.object();
  for (const auto& [owner, count] : story.notes_by_owner) owners.add(owner, json.count(count));
  const auto head = [&] {
    json::ObjectBuilder object = json.object();
    object.add("size", json.count(found.as_of.size)).add("root", json.digest(found.as_of.root));
    return object;
  };
  json::ObjectBuilder value = json.object();
  value.add("digest", json.digest(found.digest)).add("kind", kind_name(found.kind));
  if (story.run) {
    value.add("level", level_name(story.run->evidence.level))
        .add("levelReasons", json.texts(level_reasons(story.run->evidence)));
  }
  value.add("policy", kEvidencePolicy)
      .add("trust", kOwnTrust)
      .add("asOf", head().finish())
      .add("claims", json.array(claims))
      .add("refers", json.array(refers))
      .add("chain", json.array(chain))
      .add("notes", json.object()
                        .add("total", json.count(story.notes))
                        .add("byOwner", owners.finish())
                        .finish())
      .add("checkpoint", head().add("origin", reader.format().origin).finish())
      .add("inclusion", json.object()
                            .add("index", json.count(found.inclusion_index))
                            .add("path", json.texts(proof_texts(found.inclusion)))
                            .finish());
  out.document(value.finish());
}

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

void print_claim(Output& out, const ClaimView& claim) {
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
    step(out, "  import",
         {"signed by entry " + std::to_string(*claim.import_index) +
          (claim.import_valid ? ", valid" : ", NOT valid")},
         claim.import_valid ? Tone::plain : Tone::bad);
  }
}

void print_text(Output& out, const Reader& reader, const Story& story) {
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
  for (const ClaimView& claim : found.claims) print_claim(out, claim);
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
  const Result<Story> story = tell(reader, *found);
  if (!story) return fail(story.error());
  if (session.out().for_people()) {
    print_text(session.out(), reader, *story);
  } else {
    print_json(session.out(), reader, *story);
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
