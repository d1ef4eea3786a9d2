// SPDX-License-Identifier: Apache-2.0
#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/manifest_output.h"
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
  json::Arena arena;
  const Result<json::Value> document = entry_document(JsonOutput(arena), reader, index);
  if (!document) return fail(document.error());
  if (session.out().for_people()) {
    session.out().write(pretty_json(*document));
  } else {
    session.out().document(*document);
  }
  return ExitCode::done;
}

Result<ExitCode> show_attestation(Session& session, const Reader& reader, const Digest& id) {
  json::Arena arena;
  const Result<json::Value> document = attestation_document(JsonOutput(arena), reader, id);
  if (!document) return fail(document.error());
  if (session.out().for_people()) {
    session.out().write(pretty_json(*document));
  } else {
    session.out().document(*document);
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

void print_text(Output& out, const ShownFacts& shown, const json::Value& manifest) {
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
  const Result<ShownFacts> shown = look_up_manifest(reader, *found);
  if (!shown) return fail(shown.error());
  json::Arena arena;
  const Result<json::Value> manifest = parse_shown(*shown, arena);
  if (!manifest) return fail(manifest.error());
  if (session.out().for_people()) {
    print_text(session.out(), *shown, *manifest);
  } else {
    session.out().document(manifest_answer(JsonOutput(arena), *shown, *manifest));
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
