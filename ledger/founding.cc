// SPDX-License-Identifier: Apache-2.0
#include "ledger/founding.h"

#include "ledger/key_book.h"
#include "ledger/merkle.h"
#include "ledger/note.h"

namespace kernelindex {
namespace {

std::string place_of(std::size_t number) {
  return number == 0 ? std::string("the founding")
                     : "the enrolment of the " +
                           std::string(role_name(kFoundingRoles[number - 1])) + " key";
}

std::unexpected<Error> bad_founding(std::size_t number, std::string message) {
  return fail(ErrorKind::invalid, "BAD_FOUNDING", place_of(number), std::move(message),
              "have the statements signed that `kernelindex init --root` wrote");
}

// The one enrolment that may stand at a place of a founding.
Status check_enrolment(const Founding& founding, std::size_t number, const Attestation& said) {
  const auto* change = std::get_if<KeyChange>(&said.predicate);
  const auto* enrolment = change == nullptr ? nullptr : std::get_if<KeyEnrolment>(&change->action);
  if (enrolment == nullptr || enrolment->role != kFoundingRoles[number - 1]) {
    return bad_founding(number, "this is another statement than the one that stands at its place");
  }
  if (enrolment->role == Role::log && enrolment->public_key != founding.terms.log_key) {
    return bad_founding(number, "it enrols another log key than the founding names");
  }
  if (said.binding.ledger != founding.ledger_id ||
      said.binding.signer != founding.terms.root_key.id()) {
    return bad_founding(number, "it was made for another ledger");
  }
  if (said.binding.seen != TreeHead{0, empty_root()}) {
    return bad_founding(number, "it says that its signer saw another tree than the empty one");
  }
  return {};
}

}  // namespace

Result<std::vector<Attestation>> founding_statements(
    const FoundingOptions& options, const PublicKey& root,
    const std::array<PublicKey, kFoundingRoles.size()>& keys) {
  const Digest root_id = root.id();
  LedgerFounding terms;
  terms.origin =
      options.origin.empty() ? "kernelindex.local/" + root_id.hex().substr(0, 8) : options.origin;
  if (!is_note_name(terms.origin)) {
    return fail(ErrorKind::usage, "BAD_ORIGIN", terms.origin,
                "an origin is printable ASCII without space and plus sign, at most 255 bytes",
                "use something like example.org/kernels");
  }
  terms.owner = options.owner;
  terms.root_key = root;
  terms.log_key = keys.front();
  terms.notes_per_day = options.notes_per_day;
  std::vector<Attestation> out = {{root_id, Binding{std::nullopt, root_id, std::nullopt}, terms}};
  const Result<std::string> payload = out.front().encode();
  if (!payload) return fail(payload.error());
  const Digest ledger_id = sha256(pae(kPayloadType, *payload));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    KeyEnrolment enrolment;
    enrolment.public_key = keys[i];
    enrolment.role = kFoundingRoles[i];
    enrolment.owner = options.owner;
    out.push_back({enrolment.public_key.id(),
                   Binding{ledger_id, root_id, TreeHead{0, empty_root()}}, KeyChange{enrolment}});
  }
  return out;
}

Result<Founding> read_founding(std::span<const Envelope> envelopes) {
  if (envelopes.size() != 1 + kFoundingRoles.size()) {
    return fail(ErrorKind::invalid, "INCOMPLETE_FOUNDING", {},
                "a founding has " + std::to_string(1 + kFoundingRoles.size()) +
                    " statements, here are " + std::to_string(envelopes.size()),
                "have all statements signed that `kernelindex init --root` wrote");
  }
  Founding founding;
  KeyBook keys;
  for (std::size_t number = 0; number < envelopes.size(); ++number) {
    const Envelope& envelope = envelopes[number];
    Result<Attestation> said = parse_attestation(envelope.payload);
    if (!said) return fail_in(place_of(number), said.error());
    if (number == 0) {
      const auto* terms = std::get_if<LedgerFounding>(&said->predicate);
      if (terms == nullptr) return bad_founding(0, "this statement founds no ledger");
      founding.terms = *terms;
      founding.ledger_id = envelope.id();
    } else if (Status status = check_enrolment(founding, number, *said); !status) {
      return fail(status.error());
    }
    const PublicKey& root = founding.terms.root_key;
    if (!envelope.verify(root)) {
      return fail(ErrorKind::invalid, "INVALID_SIGNATURE", place_of(number),
                  "the signature is not one of the root key " + root.id().hex(),
                  "sign it with `kernelindex key sign` and that key");
    }
    if (Status status = keys.apply(number, *said); !status) {
      return fail_in(place_of(number), status.error());
    }
    founding.entries.push_back({normalised(envelope, root), std::move(*said)});
  }
  return founding;
}

}  // namespace kernelindex
