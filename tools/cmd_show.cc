// SPDX-License-Identifier: Apache-2.0
#include "ledger/dsse.h"
#include "ledger/identify.h"
#include "ledger/query.h"
#include "schema/json_reader.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/named_entry.h"
#include "tools/pretty_json.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--index",
     .value = "N",
     .help = "the entry at this index, exactly as it was hashed",
     .kind = ValueKind::count},
    {.name = "ID", .help = "a digest or its beginning, or an external id"},
};
constexpr std::string_view kExamples[] = {
    "show sol-execbench:submission/15866",
    "show fa2cdd25d5d2 --json",
    "show --index 6",
};

Result<ExitCode> show_entry(Session& session, const Reader& reader, std::uint64_t index) {
  const Result<std::string> leaf = reader.leaf(index);
  if (!leaf) return fail(leaf.error());
  json::Arena arena;
  const Result<json::Value> entry = json::parse(*leaf, arena);
  if (!entry) return fail_in("entry " + std::to_string(index), entry.error());
  const JsonOutput json(arena);
  const json::Value document = json.object()
                                   .add("index", json.count(index))
                                   .add("leafHash", json.digest(leaf_hash(*leaf).digest()))
                                   .add("entry", *entry)
                                   .finish();
  if (session.out().for_people()) {
    session.out().write(pretty_json(document));
  } else {
    session.out().document(document);
  }
  return ExitCode::done;
}

// An attestation: its entry, and what it says.
Result<ExitCode> show_attestation(Session& session, const Reader& reader, const Digest& id) {
  const Result<std::uint64_t> index = attestation_index(reader, id);
  if (!index) return fail(index.error());
  const Result<Entry> entry = reader.entry(*index);
  if (!entry) return fail(entry.error());
  const Result<std::optional<std::string>> bytes = reader.object(entry->content.digest);
  if (!bytes) return fail(bytes.error());
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder document = json.object();
  document.add("digest", json.digest(id)).add("index", json.count(*index));
  document.add("recordedAt", json.text(format_utc_micros(entry->recorded_at)));
  if (*bytes) {
    const Result<Envelope> envelope = read_stored_envelope(**bytes);
    if (!envelope) return fail_in(id.text(), envelope.error());
    const Result<json::Value> statement = json::parse(arena.copy(envelope->payload), arena);
    if (!statement) return fail_in(id.text(), statement.error());
    document.add("statement", *statement);
  } else {
    document.add("withheld", json::Value(true));
  }
  const json::Value value = document.finish();
  if (session.out().for_people()) {
    session.out().write(pretty_json(value));
  } else {
    session.out().document(value);
  }
  return ExitCode::done;
}

Result<ExitCode> show_object(Session& session, const Reader& reader, const Digest& digest) {
  const Result<bool> kept = reader.object_kept(digest);
  if (!kept) return fail(kept.error());
  json::Arena arena;
  const JsonOutput json(arena);
  if (session.out().for_people()) {
    session.out().write(digest.text() + "\nan object that is " +
                        (*kept ? "kept: 'kernelindex cat' prints its bytes\n"
                               : "named, but its bytes are not held\n"));
  } else {
    session.out().document(
        json.object().add("digest", json.digest(digest)).add("kept", json::Value(*kept)).finish());
  }
  return ExitCode::done;
}

struct Shown {
  ShownManifest manifest;
  std::string label;
  std::optional<Evidence> evidence;  // of a run
};

Result<Shown> look_up(const Reader& reader, const Candidate& found) {
  Result<ShownManifest> manifest = show_manifest(reader, found.digest, found.document);
  if (!manifest) return fail(manifest.error());
  Shown shown{std::move(*manifest), found.label, std::nullopt};
  const ManifestKind kind = shown.manifest.kind;
  if (kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run) {
    const Result<RunView> run = view_run(reader, found.digest);
    if (!run) return fail(run.error());
    shown.evidence = run->evidence;
  }
  return shown;
}

void print_json(Output& out, const Shown& shown, const json::Value& manifest, json::Arena& arena) {
  const JsonOutput json(arena);
  std::vector<json::Value> documents;
  for (const ShownManifest::Document& document : shown.manifest.documents) {
    documents.push_back(json.object()
                            .add("digest", json.digest(document.digest))
                            .add("index", json.count(document.index))
                            .add("source", document.source)
                            .finish());
  }
  std::vector<json::Value> entries;
  for (const std::uint64_t index : shown.manifest.entries) entries.push_back(json.count(index));
  const bool serving = shown.manifest.kind == ManifestKind::serving_run;
  json::ObjectBuilder value = json.object();
  value.add("digest", json.digest(shown.manifest.identity))
      .add("kind", kind_name(shown.manifest.kind))
      .add("manifest", manifest)
      .add("documents", json.array(documents))
      .add("entries", json.array(entries))
      .add("externalIds", json.texts(shown.manifest.external_ids));
  if (shown.evidence) {
    value.add(serving ? "cohortKey" : "comparisonKey", json.digest(shown.manifest.comparison_key))
        .add("level", level_name(shown.evidence->level));
  }
  if (manifest.is_null()) value.add("withheld", json::Value(true));
  out.document(value.finish());
}

void print_text(Output& out, const Shown& shown, const json::Value& manifest) {
  FactList facts;
  facts.add("kind", std::string(kind_name(shown.manifest.kind)), Tone::strong);
  if (!shown.label.empty()) facts.add("title", shown.label);
  facts.add("digest", shown.manifest.identity.text());
  for (const std::string& id : shown.manifest.external_ids) facts.add("external id", id);
  if (shown.evidence) {
    facts.add("comparison key", shown.manifest.comparison_key
                                    ? shown.manifest.comparison_key->text()
                                    : "none yet: WORKLOAD_MISSING");
    facts.add("level", std::string(level_name(shown.evidence->level)));
  }
  bool first = true;
  for (const ShownManifest::Document& document : shown.manifest.documents) {
    facts.add(first ? "document" : "also claimed as", document.digest.text() + ", entry " +
                                                          std::to_string(document.index) + ", " +
                                                          document.source);
    first = false;
  }
  std::string entries;
  for (const std::uint64_t index : shown.manifest.entries) {
    entries += (entries.empty() ? "" : ", ") + std::to_string(index);
  }
  facts.add("entries", entries);
  out.write(facts.text(out.terminal()));
  out.write("\n" +
            (manifest.is_null() ? std::string("the bytes are withheld\n") : pretty_json(manifest)));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (arguments.given("--index") == arguments.given("ID")) {
    return fail(ErrorKind::usage, "USAGE", "", "show: give an ID or --index N",
                "Try 'kernelindex show --help'");
  }
  const bool by_index = arguments.given("--index");
  const Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, by_index ? Access::log : Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  if (by_index) return show_entry(session, reader, *arguments.count("--index"));

  const Result<Candidate> found =
      identify(reader, arguments.text("ID"), {Named::manifest, Named::attestation, Named::object});
  if (!found) return fail(found.error());
  if (found->what == Named::attestation) return show_attestation(session, reader, found->digest);
  if (found->what == Named::object) return show_object(session, reader, found->digest);
  const Result<Shown> shown = look_up(reader, *found);
  if (!shown) return fail(shown.error());
  json::Arena arena;
  json::Value manifest;
  if (!shown->manifest.bytes.empty()) {
    const Result<json::Value> parsed = json::parse(shown->manifest.bytes, arena);
    if (!parsed) return fail_in(found->digest.text(), parsed.error());
    manifest = *parsed;
  }
  if (session.out().for_people()) {
    print_text(session.out(), *shown, manifest);
  } else {
    print_json(session.out(), *shown, manifest, arena);
  }
  return ExitCode::done;
}

}  // namespace

constexpr Verb kShowVerb{
    .name = "show",
    .summary = "show a manifest, an attestation or an entry",
    .details =
        "Of several documents with one identity the one that the run's own source claims is shown\n"
        "first; the others are listed.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
