// SPDX-License-Identifier: Apache-2.0
#include "verify/status_check.h"

#include <map>
#include <set>

#include "ledger/predicates.h"
#include "verify/bundle_format.h"
#include "verify/bundle_gathering.h"

namespace kernelindex {
namespace {

using Heads = std::map<Digest, std::uint64_t>;

// Who signed it, and for which log.
void check_signer(const Reader& reader, const Envelope& envelope, const Attestation& said,
                  StatusReport& report) {
  const KeyRecord* key = reader.state().keys.find(said.binding.signer);
  const auto set = [&](std::string code, std::string detail) {
    report.code = std::move(code);
    report.detail = std::move(detail);
  };
  if (said.binding.ledger != reader.format().ledger_id) {
    set("WRONG_LEDGER",
        "it was signed for another ledger: this one is " + reader.format().ledger_id.text());
  } else if (key == nullptr || key->enrolled_at >= report.stated.size) {
    set("KEY_NOT_ENROLLED", "its signer " + said.binding.signer.hex() + " is not enrolled");
  } else if (key->role != Role::status) {
    set("WRONG_ROLE", "a " + std::string(role_name(key->role)) + " key may not sign a status");
  } else if (!envelope.verify(key->key)) {
    set("INVALID_SIGNATURE", "the signature is not one of the key " + said.binding.signer.hex());
  } else if (!key->valid_at(report.stated.size)) {
    set("KEY_REVOKED",
        "the key was not valid any more at size " + std::to_string(report.stated.size));
  }
}

Status check_tree(const Reader& reader, StatusReport& report) {
  const TreeHead& stated = report.stated;
  if (stated.size > reader.head().size) {
    report.code = "OTHER_TREE";
    report.detail = "it speaks of size " + std::to_string(stated.size) + ", this ledger has " +
                    std::to_string(reader.head().size) +
                    " entries: entries were lost here, or two logs share a name";
    return {};
  }
  const Result<Digest> root = reader.root_at(stated.size);
  if (!root) return fail(root.error());
  if (*root == stated.root) return {};
  report.code = "OTHER_TREE";
  report.detail = "it speaks of the root " + stated.root.text() + " at size " +
                  std::to_string(stated.size) + ", this ledger had " + root->text() +
                  ": two logs share a name";
  return {};
}

// The last entry on the chain of a subject, below a size.
Result<std::optional<std::uint64_t>> chain_head(const Reader& reader, const Digest& subject,
                                                std::uint64_t size) {
  const Result<std::vector<std::uint64_t>> indexes = reader.subject_entries(subject, size);
  if (!indexes) return fail(indexes.error());
  for (std::size_t i = indexes->size(); i-- > 0;) {
    const Result<Entry> entry = reader.entry((*indexes)[i]);
    if (!entry) return fail(entry.error());
    if (entry->on_chain()) return (*indexes)[i];
  }
  return std::nullopt;
}

Status compare(const Reader& reader, const Digest& subject, const Heads& stated,
               StatusReport& report) {
  const std::uint64_t size = report.stated.size;
  const Result<std::optional<std::uint64_t>> actual = chain_head(reader, subject, size);
  if (!actual) return fail(actual.error());
  const auto found = stated.find(subject);
  StatusLie lie{subject, std::nullopt, *actual, 0, {}, {}};
  if (found != stated.end()) lie.stated = found->second;
  if (lie.stated == lie.actual) return {};
  // An entry above the actual head is not on the chain: it disproves itself, unless it lies beyond
  // the tree; then the actual head, if any, is all there is to show.
  const bool shows_itself =
      lie.stated && *lie.stated < size && (!lie.actual || *lie.stated > *lie.actual);
  if (shows_itself) {
    lie.index = *lie.stated;
  } else if (lie.actual) {
    lie.index = *lie.actual;
  }
  Result<std::string> leaf = reader.leaf(lie.index);
  if (!leaf) return fail(leaf.error());
  Result<Proof> proof = reader.inclusion_proof(lie.index, size);
  if (!proof) return fail(proof.error());
  lie.leaf = std::move(*leaf);
  lie.proof = std::move(*proof);
  report.lies.push_back(std::move(lie));
  return {};
}

}  // namespace

Result<Envelope> read_status(std::string_view bytes) {
  Result<Envelope> envelope = parse_envelope(bytes);
  if (!envelope) {
    const Result<Bundle> bundle = parse_bundle(bytes);
    if (!bundle)
      return fail(bundle.error().code == "NOT_A_BUNDLE" ? envelope.error() : bundle.error());
    if (bundle->status.empty()) {
      return fail(ErrorKind::invalid, "NO_STATUS", "status", "the bundle holds no status");
    }
    envelope = parse_envelope(bundle->status);
    if (!envelope) return fail_in("status", envelope.error());
  }
  const Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail(said.error());
  if (std::holds_alternative<StatusStatement>(said->predicate)) return envelope;
  return fail(ErrorKind::invalid, "NO_STATUS", "predicateType",
              "this is no status but a " + std::string(predicate_type(said->predicate).name));
}

Result<StatusReport> check_status(const Reader& reader, const Envelope& envelope) {
  const Result<Attestation> said = parse_attestation(envelope.payload);
  if (!said) return fail(said.error());
  const auto* status = std::get_if<StatusStatement>(&said->predicate);
  if (status == nullptr) {
    return fail(ErrorKind::invalid, "NO_STATUS", "predicateType",
                "this is no status but a " + std::string(predicate_type(said->predicate).name));
  }
  StatusReport report;
  report.run = said->subject;
  report.stated = {status->size, status->root};
  report.signer = said->binding.signer;
  check_signer(reader, envelope, *said, report);
  if (!report.code.empty()) return report;
  if (Status tree = check_tree(reader, report); !tree) return fail(tree.error());
  if (!report.code.empty()) return report;

  Gathering gathering(reader, said->subject, status->size);
  if (Status gathered = gathering.gather(); !gathered) return fail(gathered.error());
  if (Status gathered = gathering.add_key(report.signer); !gathered) {
    return fail(gathered.error());
  }
  std::set<Digest> subjects;
  for (const auto& [subject, index] : gathering.heads()) subjects.insert(subject);
  for (const auto& [subject, index] : status->heads) subjects.insert(subject);
  for (const Digest& subject : subjects) {
    if (Status compared = compare(reader, subject, status->heads, report); !compared) {
      return fail(compared.error());
    }
  }
  report.notes_stated = status->notes;
  report.notes_actual = gathering.notes();
  return report;
}

}  // namespace kernelindex
