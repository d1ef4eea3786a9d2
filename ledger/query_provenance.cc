// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ledger/dsse.h"
#include "ledger/key_layout.h"
#include "ledger/query.h"

namespace kernelindex {
namespace {

std::unexpected<Error> no_such_manifest(const Digest& identity) {
  return fail(ErrorKind::not_found, "NO_SUCH_MANIFEST", identity.text(),
              "the ledger holds no manifest of this digest");
}

// The last snapshot entry of some bytes before a claim: where and how they came.
Status add_snapshot(const Reader& reader, ClaimView& claim) {
  const Result<bool> kept = reader.object_kept(*claim.snapshot);
  if (!kept) return fail(kept.error());
  claim.snapshot_kept = *kept;
  Result<std::vector<std::uint64_t>> entries =
      reader.content_entries(*claim.snapshot, false, claim.index);
  if (!entries) return fail(entries.error());
  if (entries->empty()) return {};
  Result<Entry> entry = reader.entry(entries->back());
  if (!entry) return fail(entry.error());
  if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry->body)) {
    claim.locator = snapshot->locator;
    claim.fetched_at = snapshot->fetched_at;
  }
  return {};
}

Result<ClaimView> view_claim(const Reader& reader, const ClaimRow& row) {
  Result<Entry> entry = reader.entry(row.index);
  if (!entry) return fail(entry.error());
  const auto* body = std::get_if<ManifestEntry>(&entry->body);
  if (body == nullptr) {
    return fail(ErrorKind::corrupt, "DAMAGED_ROW", "entry " + std::to_string(row.index),
                "a row names an entry that is no claim",
                "`kernelindex reindex` makes derived data anew");
  }
  ClaimView out;
  out.index = row.index;
  out.recorded_at = entry->recorded_at;
  out.source = body->source;
  out.via = body->via;
  out.supplied = row.supplied;
  out.external_ids = body->external_ids;
  out.item = body->item;
  out.document = entry->content.digest;
  out.facts = body->facts;
  out.snapshot = body->snapshot;
  for (const ImportRange& range : reader.state().imports) {
    if (row.index >= range.first && row.index < range.end) out.import_index = range.index;
  }
  const ImportRange* import = reader.covering_import(row.index, reader.head().size);
  out.import_valid = import != nullptr && !reader.state().judgements->retracted(import->id);
  if (out.snapshot) {
    if (Status status = add_snapshot(reader, out); !status) return fail(status.error());
  }
  return out;
}

// What an attestation says, in its own words.
struct SayingText {
  std::string operator()(const CommunityNote& note) const {
    return std::string(note_type_name(note.type)) + ": " + note.text;
  }
  std::string operator()(const Retraction& retraction) const { return retraction.reason; }
  std::string operator()(const Supersession& supersession) const {
    return "by " + supersession.by.text() + ": " + supersession.reason;
  }
  std::string operator()(const Dispute& dispute) const { return dispute.reason; }
  std::string operator()(const DisputeResolution& resolution) const {
    return std::string(dispute_outcome_name(resolution.outcome)) + ": " + resolution.reason;
  }
  std::string operator()(const Withdrawal& withdrawal) const {
    return withdrawal.source + ":" + withdrawal.external_id + " " + withdrawal.state + ": " +
           withdrawal.reason;
  }
  std::string operator()(const Withholding& withholding) const { return withholding.reason; }
  template <typename Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

Result<ChainView> view_attestation(const Reader& reader, std::uint64_t index, const Entry& entry,
                                   const AttestationEntry& body) {
  ChainView out;
  out.index = index;
  out.predicate_type = body.predicate_type;
  out.signer = body.signer;
  Result<std::optional<std::string>> bytes = reader.object(entry.content.digest);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) {
    out.reason = predicate_skippable(body.predicate_type) ? "WITHHELD" : "CANNOT_JUDGE";
    return out;
  }
  Result<Envelope> envelope = read_stored_envelope(**bytes);
  if (!envelope) return fail_in("entry " + std::to_string(index), envelope.error());
  out.id = envelope->id();
  const Result<Digest> key_id = Digest::parse_hex(body.signer);
  const KeyRecord* record = key_id ? reader.state().keys.find(*key_id) : nullptr;
  if (record != nullptr) out.role = role_name(record->role);
  const PredicateType* type = find_predicate_type(body.predicate_type);
  if (type == nullptr) {
    out.reason = "CANNOT_JUDGE";
  } else if (record == nullptr) {
    out.reason = "SIGNER_NOT_ENROLLED";
  } else if (!type->may_sign(record->role)) {
    out.reason = "WRONG_ROLE";
  } else if (!record->valid_at(index)) {
    out.reason = "KEY_NOT_VALID";
  } else if (reader.state().judgements->retracted(out.id)) {
    out.reason = "RETRACTED";
  } else {
    out.counts = true;
  }
  if (type != nullptr) {
    Result<Attestation> said = parse_attestation(envelope->payload);
    if (!said) return fail_in("entry " + std::to_string(index), said.error());
    out.says = std::visit(SayingText(), said->predicate);
  }
  return out;
}

}  // namespace

Result<Provenance> provenance(const Reader& reader, const Digest& identity) {
  Result<std::optional<SubjectRow>> subject = reader.subject(identity);
  if (!subject) return fail(subject.error());
  if (!*subject) return no_such_manifest(identity);
  Provenance out;
  out.digest = identity;
  out.kind = (*subject)->kind;
  out.as_of = reader.head();
  for (const ClaimRow& row : (*subject)->claims) {
    Result<ClaimView> claim = view_claim(reader, row);
    if (!claim) return fail(claim.error());
    out.claims.push_back(std::move(*claim));
  }
  Result<ShownManifest> shown = show_manifest(reader, identity);
  if (!shown) return fail(shown.error());
  if (!shown->bytes.empty()) {
    Result<Manifest> manifest = read_manifest(shown->bytes);
    if (!manifest) return fail_in(identity.text(), manifest.error());
    for (const Reference& reference : manifest->references) {
      Result<std::optional<SubjectRow>> row = reader.subject(reference.digest);
      if (!row) return fail(row.error());
      ReferenceView view{reference.field, reference.digest, std::nullopt, {}};
      if (*row) {
        view.kind = (*row)->kind;
        view.label = (*row)->shown().label;
      }
      out.refers.push_back(std::move(view));
    }
  }
  for (const std::uint64_t index : shown->entries) {
    Result<Entry> entry = reader.entry(index);
    if (!entry) return fail(entry.error());
    const auto* body = std::get_if<AttestationEntry>(&entry->body);
    if (body == nullptr) continue;
    Result<ChainView> attestation = view_attestation(reader, index, *entry, *body);
    if (!attestation) return fail(attestation.error());
    out.chain.push_back(std::move(*attestation));
  }
  out.inclusion_index = out.claims.front().index;
  Result<Proof> proof = reader.inclusion_proof(out.inclusion_index, reader.head().size);
  if (!proof) return fail(proof.error());
  out.inclusion = std::move(*proof);
  return out;
}

Result<ShownManifest> show_manifest(const Reader& reader, const Digest& identity,
                                    const std::optional<Digest>& document) {
  Result<std::optional<SubjectRow>> subject = reader.subject(identity);
  if (!subject) return fail(subject.error());
  if (!*subject) return no_such_manifest(identity);
  ShownManifest out;
  out.identity = identity;
  out.kind = (*subject)->kind;
  std::string own_source;
  Result<std::optional<std::string>> run = reader.run_row(identity);
  if (!run) return fail(run.error());
  if (*run) {
    const Result<RunRow> row = decode_run_row(**run);
    if (!row) return fail_in(identity.text(), row.error());
    out.comparison_key = row->group;
    if (row->source_native) own_source = row->source;
  }
  const ClaimRow& first = (*subject)->shown(own_source);
  const Digest shown = document.value_or(first.document);
  for (const ClaimRow& claim : (*subject)->claims) {
    out.external_ids.insert(out.external_ids.end(), claim.external_ids.begin(),
                            claim.external_ids.end());
    const bool known = std::ranges::any_of(
        out.documents, [&](const auto& seen) { return seen.digest == claim.document; });
    if (!known) out.documents.push_back({claim.document, claim.index, claim.source});
  }
  std::ranges::stable_partition(out.documents,
                                [&](const auto& seen) { return seen.digest == shown; });
  std::ranges::sort(out.external_ids);
  const auto repeated = std::ranges::unique(out.external_ids);
  out.external_ids.erase(repeated.begin(), repeated.end());
  Result<std::optional<std::string>> bytes = reader.object(shown);
  if (!bytes) return fail(bytes.error());
  if (*bytes) out.bytes = std::move(**bytes);
  Result<std::vector<std::uint64_t>> entries =
      reader.subject_entries(identity, &**subject, reader.head().size);
  if (!entries) return fail(entries.error());
  out.entries = std::move(*entries);
  return out;
}

}  // namespace kernelindex
