// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/log_identity.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::string_view kExamples[] = {"status", "status --json"};

json::Value key_document(const JsonOutput& json, const Digest& id, const KeyRecord& key) {
  return json.object()
      .add("role", role_name(key.role))
      .add("keyId", json.text(id.hex()))
      .add("owner", key.owner)
      .add("enrolledAt", json.count(key.enrolled_at))
      .add("revokedAt", json.count(key.revoked_at))
      .finish();
}

void print_json(Session& session, const Ledger& ledger, const Reader& reader) {
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> keys;
  for (const auto& [id, key] : reader.state().keys.all()) {
    keys.push_back(key_document(json, id, key));
  }
  json::ObjectBuilder status = json.object();
  status.add("ledger", session.ledger_path().native())
      .add("ledgerId", json.digest(reader.format().ledger_id))
      .add("origin", reader.format().origin)
      .add("owner", reader.format().owner)
      .add("logKey", json.text(log_key_text(reader)))
      .add("size", json.count(reader.head().size))
      .add("root", json.digest(reader.head().root))
      .add("imports", json.count(reader.state().imports.size()))
      .add("keys", json.array(keys));
  if (const auto& reason = ledger.read_only_reason()) {
    status.add("readOnly", json.object()
                               .add("code", reason->code)
                               .add("message", reason->message)
                               .add("size", json.count(reason->size))
                               .add("released", json.count(reason->released))
                               .finish());
  }
  if (const auto& fault = ledger.derived_fault()) {
    status.add("derivedFault",
               json.object().add("code", fault->code).add("message", fault->message).finish());
  }
  session.out().document(status.finish());
}

void print_text(Session& session, const Ledger& ledger, const Reader& reader) {
  FactList facts;
  facts.add("ledger", session.ledger_path().native(), Tone::strong);
  facts.add("ledger id", reader.format().ledger_id.text());
  facts.add("origin", reader.format().origin);
  facts.add("owner", reader.format().owner);
  facts.add("log key", log_key_text(reader));
  facts.add("size", counted(reader.head().size, "entry", "entries"));
  facts.add("root", reader.head().root.text());
  facts.add("imports", counted(reader.state().imports.size(), "signed batch", "signed batches"));
  if (const auto& reason = ledger.read_only_reason()) {
    facts.add("read only", reason->message + " (" + reason->code + ")", Tone::bad);
  }
  if (const auto& fault = ledger.derived_fault()) {
    facts.add("derived data", fault->text(), Tone::bad);
  }
  Table keys(
      {{"KEY"}, {"OWNER", Align::left, 8}, {"ENROLLED", Align::right}, {"STATE"}, {"KEY ID"}});
  for (const Role role : kRoles) {
    for (const auto& [id, key] : reader.state().keys.all()) {
      if (key.role != role) continue;
      keys.add({{std::string(role_name(role))},
                {key.owner},
                {std::to_string(key.enrolled_at)},
                {key.revoked_at ? "revoked at " + std::to_string(*key.revoked_at) : "valid",
                 key.revoked_at ? Tone::warning : Tone::plain},
                {id.hex(), Tone::dim}});
    }
  }
  Output& out = session.out();
  out.write(facts.text(out.terminal()));
  out.write("\n" + keys.text(out.terminal()));
}

Result<ExitCode> run(Session& session, const Arguments&) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::log);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  if (session.out().for_people()) {
    print_text(session, **ledger, reader);
  } else {
    print_json(session, **ledger, reader);
  }
  return ExitCode::done;
}

}  // namespace

constexpr Verb kStatusVerb{
    .name = "status",
    .summary = "say what this ledger is, how large, and who may sign",
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
