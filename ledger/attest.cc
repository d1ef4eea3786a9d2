// SPDX-License-Identifier: Apache-2.0
#include "ledger/attest.h"

#include <algorithm>
#include <iterator>

#include "ledger/appender.h"
#include "ledger/attestation_rules.h"

namespace kernelindex {
namespace {

struct Prepared {
  Envelope envelope;  // normalised
  Attestation said;
};

Result<std::vector<Attested>> record(Appender& appender, const std::vector<Prepared>& prepared) {
  std::vector<Attested> out;
  for (const Prepared& one : prepared) {
    const Result<Recorded> recorded = appender.attestation(one.envelope, one.said.subject,
                                                           predicate_type(one.said.predicate).uri(),
                                                           one.said.binding.signer, &one.said);
    if (!recorded) return fail(recorded.error());
    out.push_back({recorded->index, one.envelope.id(), recorded->existing});
  }
  if (Status status = appender.finish(std::nullopt); !status) return fail(status.error());
  return out;
}

}  // namespace

Result<std::vector<Attested>> attest(Ledger& ledger, std::span<const Saying> sayings,
                                     const SigningKey& key) {
  // The appender first: from then on the head stays where it is.
  Result<std::unique_ptr<Appender>> appender = ledger.append_attestations();
  if (!appender) return fail(appender.error());
  const Reader reader = ledger.read();
  AttestationRules rules(reader, ledger.options().clock());
  std::vector<Prepared> prepared;
  for (const Saying& saying : sayings) {
    Attestation said{saying.subject,
                     Binding{reader.format().ledger_id, key.public_key().id(), reader.head()},
                     saying.predicate};
    Result<std::string> payload = said.encode();
    if (!payload) return fail(payload.error());
    Result<Envelope> envelope = sign_envelope(std::move(*payload), key);
    if (!envelope) return fail(envelope.error());
    if (Status status = rules.allow(*envelope, said); !status) return fail(status.error());
    prepared.push_back({normalised(std::move(*envelope), key.public_key()), std::move(said)});
  }
  return record(**appender, prepared);
}

Result<Attested> attest(Ledger& ledger, const Saying& saying, const SigningKey& key) {
  Result<std::vector<Attested>> all = attest(ledger, std::span(&saying, 1), key);
  if (!all) return fail(all.error());
  return all->front();
}

Result<std::string> unsigned_payload(const Reader& reader, UtcMicros now, const Saying& saying,
                                     const Digest& signer) {
  const Attestation said{saying.subject, Binding{reader.format().ledger_id, signer, reader.head()},
                         saying.predicate};
  Result<std::string> payload = said.encode();
  if (!payload) return payload;
  if (Status status = AttestationRules(reader, now).allow_unsigned(said); !status) {
    return fail(status.error());
  }
  return payload;
}

namespace {

Result<Attested> record_envelope(Ledger& ledger, Envelope envelope, Attestation said) {
  Result<std::unique_ptr<Appender>> appender = ledger.append_attestations();
  if (!appender) return fail(appender.error());
  const Reader reader = ledger.read();
  const Result<std::optional<std::uint64_t>> known = find_attestation(reader, envelope.id());
  if (!known) return fail(known.error());
  if (*known) return Attested{**known, envelope.id(), true};
  if (Status status = AttestationRules(reader, ledger.options().clock()).allow(envelope, said);
      !status) {
    return fail(status.error());
  }
  const PublicKey signer = reader.state().keys.find(said.binding.signer)->key;
  Result<std::vector<Attested>> all =
      record(**appender, {{normalised(std::move(envelope), signer), std::move(said)}});
  if (!all) return fail(all.error());
  return all->front();
}

}  // namespace

Result<Attested> attest_envelope(Ledger& ledger, std::string_view bytes) {
  Result<Envelope> envelope = parse_envelope(bytes);
  if (!envelope) return fail(envelope.error());
  Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail(said.error());
  const bool withholds = std::holds_alternative<Withholding>(said->predicate);
  Result<Attested> recorded = record_envelope(ledger, std::move(*envelope), std::move(*said));
  if (!recorded || !withholds) return recorded;
  if (Status status = ledger.remove_withheld(); !status) return fail(status.error());
  return recorded;
}

Result<std::vector<ImportRange>> whole_import(const Reader& reader, std::uint64_t index) {
  const std::vector<ImportRange>& imports = reader.state().imports;
  const auto named = std::ranges::find_if(imports, [&](const ImportRange& range) {
    return range.index == index || (index >= range.first && index < range.end);
  });
  if (named == imports.end()) {
    return fail(ErrorKind::not_found, "NO_SUCH_IMPORT", "entry " + std::to_string(index),
                "no import statement stands at this entry or covers it",
                "`kernelindex provenance RUN` names the statement that covers a claim");
  }
  const auto read = [&](const ImportRange& range) -> Result<ImportStatement> {
    Result<Attestation> said = read_attestation(reader, range.index);
    if (!said) return fail(said.error());
    return std::get<ImportStatement>(said->predicate);
  };
  Result<ImportStatement> here = read(*named);
  if (!here) return fail(here.error());
  const auto belongs = [&](const ImportStatement& other, const ImportRange& range) {
    return range.signer == named->signer && other.parser == here->parser &&
           other.parser_version == here->parser_version && other.options == here->options;
  };
  auto first = named;
  while (first != imports.begin()) {
    const auto before = std::prev(first);
    // Its statement stands between two ranges of one import, and nothing else.
    if (before->index + 1 != first->first) break;
    const Result<ImportStatement> statement = read(*before);
    if (!statement) return fail(statement.error());
    if (statement->report || !belongs(*statement, *before)) break;
    first = before;
  }
  auto last = named;
  for (bool ended = here->report.has_value(); !ended;) {
    const auto after = std::next(last);
    if (after == imports.end() || after->first != last->index + 1) break;
    const Result<ImportStatement> statement = read(*after);
    if (!statement) return fail(statement.error());
    if (!belongs(*statement, *after)) break;
    last = after;
    ended = statement->report.has_value();
  }
  return std::vector<ImportRange>(first, std::next(last));
}

Result<Attested> withhold(Ledger& ledger, const Digest& object, std::string reason,
                          const SigningKey& root) {
  Result<Attested> said = attest(ledger, {object, Withholding{std::move(reason)}}, root);
  if (!said) return said;
  if (Status status = ledger.remove_withheld(); !status) return fail(status.error());
  return said;
}

}  // namespace kernelindex
