// SPDX-License-Identifier: Apache-2.0
#include "ledger/import_event.h"

#include <algorithm>
#include <set>
#include <span>

#include "ledger/dsse.h"
#include "ledger/predicates.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

// A statement as it was read, with where it stands.
struct Said {
  const ImportRange* range = nullptr;
  ImportStatement statement;
  std::string signer;
  UtcMicros recorded_at = 0;
};

std::unexpected<Error> no_such_import(std::uint64_t index) {
  return fail(ErrorKind::not_found, "NO_SUCH_IMPORT", "entry " + std::to_string(index),
              "no import statement that can be read stands there");
}

Result<Said> read_statement(const Reader& reader, const ImportRange& range) {
  const Result<Entry> entry = reader.entry(range.index);
  if (!entry) return fail(entry.error());
  const auto* body = std::get_if<AttestationEntry>(&entry->body);
  if (body == nullptr) return no_such_import(range.index);
  const Result<std::optional<std::string>> bytes = reader.object(entry->content.digest);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return no_such_import(range.index);
  const Result<Envelope> envelope = read_stored_envelope(**bytes);
  if (!envelope) return fail(envelope.error());
  Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail(said.error());
  auto* statement = std::get_if<ImportStatement>(&said->predicate);
  if (statement == nullptr) return no_such_import(range.index);
  return Said{&range, std::move(*statement), body->signer, entry->recorded_at};
}

bool same_importer(const Said& a, const Said& b) {
  return a.signer == b.signer && a.statement.parser == b.statement.parser &&
         a.statement.parser_version == b.statement.parser_version &&
         a.statement.options == b.statement.options;
}

// All statements of the import that the one at `position` belongs to, in order.
Result<std::vector<Said>> statements_of(const Reader& reader, std::span<const ImportRange> imports,
                                        std::size_t position) {
  Result<Said> here = read_statement(reader, imports[position]);
  if (!here) return fail(here.error());
  std::vector<Said> out;
  out.push_back(std::move(*here));
  for (std::size_t at = position; at > 0; --at) {
    Result<Said> before = read_statement(reader, imports[at - 1]);
    if (!before && before.error().code != "NO_SUCH_IMPORT") return fail(before.error());
    if (!before || before->statement.report || !same_importer(*before, out.front())) break;
    out.insert(out.begin(), std::move(*before));
  }
  for (std::size_t at = position + 1; at < imports.size() && !out.back().statement.report; ++at) {
    Result<Said> after = read_statement(reader, imports[at]);
    if (!after && after.error().code != "NO_SUCH_IMPORT") return fail(after.error());
    if (!after || !same_importer(*after, out.back())) break;
    out.push_back(std::move(*after));
  }
  return out;
}

Result<ImportSnapshotView> view_snapshot(const Reader& reader, const Digest& digest,
                                         std::uint64_t end) {
  ImportSnapshotView out;
  out.digest = digest;
  const Result<bool> kept = reader.object_kept(digest);
  if (!kept) return fail(kept.error());
  out.kept = *kept;
  const Result<std::vector<std::uint64_t>> entries = reader.content_entries(digest, false, end);
  if (!entries) return fail(entries.error());
  if (entries->empty()) return out;
  const Result<Entry> entry = reader.entry(entries->back());
  if (!entry) return fail(entry.error());
  if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry->body)) {
    out.locator = snapshot->locator;
    out.fetched_at = snapshot->fetched_at;
  }
  return out;
}

std::uint64_t count_of(const json::Value* value) {
  return value != nullptr && value->is_number() && value->number() >= 0
             ? static_cast<std::uint64_t>(value->number())
             : 0;
}

Result<ImportReportView> view_report(const Reader& reader, const Digest& digest) {
  ImportReportView out;
  out.digest = digest;
  const Result<std::optional<std::string>> bytes = reader.object(digest);
  if (!bytes) return fail(bytes.error());
  out.kept = bytes->has_value();
  if (!out.kept) return out;
  json::Arena arena;
  const Result<json::Value> report =
      json::parse(**bytes, arena, {limits::kSourceJsonBytes, limits::kJsonDepth});
  if (!report) return out;  // kept, and of no shape that can be told
  out.selected = count_of(report->find("selected"));
  if (const json::Value* skipped = report->find("skipped");
      skipped != nullptr && skipped->is_object()) {
    for (const json::Member& reason : skipped->object()) out.skipped += count_of(&reason.value);
  }
  if (const json::Value* items = report->find("quarantined");
      items != nullptr && items->is_array()) {
    out.quarantined = items->array().size();
  }
  if (const json::Value* records = report->find("fetchRecords");
      records != nullptr && records->is_array()) {
    for (const json::Value& record : records->array()) {
      const Result<Digest> named =
          record.is_string() ? Digest::parse(record.string()) : Result<Digest>(Digest{});
      if (record.is_string() && named) out.fetch_records.push_back(*named);
    }
  }
  return out;
}

}  // namespace

Result<ImportEventView> view_import_event(const Reader& reader, std::uint64_t index) {
  const std::vector<ImportRange>& imports = reader.state().imports;
  const auto found = std::ranges::find(imports, index, &ImportRange::index);
  if (found == imports.end()) return no_such_import(index);
  const auto position = static_cast<std::size_t>(found - imports.begin());
  const Result<std::vector<Said>> said = statements_of(reader, imports, position);
  if (!said) return fail(said.error());
  ImportEventView out;
  const Said& last = said->back();
  out.parser = last.statement.parser;
  out.parser_version = last.statement.parser_version;
  out.options = last.statement.options;
  out.signer = last.signer;
  out.recorded_at = last.recorded_at;
  std::set<Digest> seen;
  for (const Said& one : *said) {
    const ImportStatement& statement = one.statement;
    const Result<Digest> signer = Digest::parse_hex(one.signer);
    const KeyRecord* key = signer ? reader.state().keys.find(*signer) : nullptr;
    const bool valid = key != nullptr && key->valid_at(one.range->index) &&
                       !reader.state().judgements->retracted(one.range->id);
    out.statements.push_back({one.range->index, statement.first, statement.end, valid});
    for (const auto& [what, number] : statement.counts) out.counts[what] += number;
    for (const Digest& digest : statement.snapshots) {
      if (!seen.insert(digest).second) continue;
      Result<ImportSnapshotView> snapshot = view_snapshot(reader, digest, one.range->index);
      if (!snapshot) return fail(snapshot.error());
      out.snapshots.push_back(std::move(*snapshot));
    }
  }
  if (last.statement.report) {
    Result<ImportReportView> report = view_report(reader, *last.statement.report);
    if (!report) return fail(report.error());
    out.report = std::move(*report);
  }
  return out;
}

}  // namespace kernelindex
