// SPDX-License-Identifier: Apache-2.0
#include "ledger/chain_fact.h"

#include <array>

#include "ledger/key_layout.h"

namespace kernelindex {
namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kFixedBytes = 1 + 4 * kDigestBytes;

void describe(const Attestation& said, ChainFact& fact) {
  using Kind = ChainFact::Kind;
  const Predicate& predicate = said.predicate;
  if (std::holds_alternative<Retraction>(predicate)) {
    fact.kind = Kind::retraction;
  } else if (const auto* supersession = std::get_if<Supersession>(&predicate)) {
    fact.kind = Kind::supersession;
    fact.other = supersession->by;
  } else if (std::holds_alternative<Dispute>(predicate)) {
    fact.kind = Kind::dispute;
  } else if (const auto* resolution = std::get_if<DisputeResolution>(&predicate)) {
    fact.kind = Kind::dispute_resolution;
    fact.other = resolution->dispute;
    fact.text = dispute_outcome_name(resolution->outcome);
  } else if (const auto* withdrawal = std::get_if<Withdrawal>(&predicate)) {
    fact.kind = Kind::withdrawal;
    fact.text = withdrawal->source + ":" + withdrawal->external_id;
  } else if (std::holds_alternative<Withholding>(predicate)) {
    fact.kind = Kind::withholding;
  } else {
    fact.kind = Kind::measurement;
  }
}

bool is_known(char kind) {
  constexpr std::string_view kKinds = "rsdowhm?";
  return kKinds.find(kind) != std::string_view::npos;
}

}  // namespace

std::optional<ChainFact> chain_fact(std::uint64_t index, const Digest& id, const Digest& subject,
                                    const Digest& signer, std::string_view predicate_type,
                                    const Attestation* said) {
  if (!predicate_on_chain(predicate_type)) return std::nullopt;
  if (said != nullptr && (std::holds_alternative<LedgerFounding>(said->predicate) ||
                          std::holds_alternative<KeyChange>(said->predicate))) {
    return std::nullopt;
  }
  ChainFact fact;
  fact.index = index;
  fact.id = id;
  fact.subject = subject;
  fact.signer = signer;
  if (said != nullptr) describe(*said, fact);
  return fact;
}

std::string encode_chain_fact(const ChainFact& fact) {
  return key_layout::join(std::string(1, static_cast<char>(fact.kind)), fact.id.raw(),
                          fact.subject.raw(), fact.signer.raw(), fact.other.raw(), fact.text);
}

Result<ChainFact> decode_chain_fact(std::uint64_t index, std::string_view value) {
  if (value.size() < kFixedBytes || !is_known(value.front())) {
    return fail(ErrorKind::corrupt, "DAMAGED_ROW", "attestation " + std::to_string(index),
                "a row of derived data is damaged",
                "`kernelindex reindex` makes derived data anew");
  }
  ChainFact fact;
  fact.index = index;
  fact.kind = static_cast<ChainFact::Kind>(value.front());
  value.remove_prefix(1);
  for (Digest* digest : std::array{&fact.id, &fact.subject, &fact.signer, &fact.other}) {
    *digest = Digest::from_raw(value.substr(0, kDigestBytes));
    value.remove_prefix(kDigestBytes);
  }
  fact.text = value;
  return fact;
}

}  // namespace kernelindex
