// SPDX-License-Identifier: Apache-2.0
#include "tests/verify/bundle_fixture.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "ledger/tile_reader.h"
#include "verify/shared_nodes.h"

namespace kernelindex::test {
namespace {

template <typename T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}

std::vector<Digest> nodes_for(const TreeQuestions& questions, const KnownLeaves& known,
                              NodeSource& source) {
  std::vector<Digest> out;
  for (const NodePlace& place : need(needed_nodes(questions, known))) {
    out.push_back(need(source.node(place.level, place.index)));
  }
  return out;
}

std::optional<Attestation> said_at(const Reader& reader, std::uint64_t index) {
  Result<Attestation> said = read_attestation(reader, index);
  return said ? std::optional(std::move(*said)) : std::nullopt;
}

}  // namespace

Attested BundleFixture::say(const Digest& subject, const Predicate& predicate, Role role) {
  const std::unique_ptr<Ledger> ledger = ledger_.open();
  return need(attest(*ledger, {subject, predicate}, fixture_key(role)));
}

SignedCheckpoint BundleFixture::checkpoint() const { return need(ledger_.open()->checkpoint()); }

std::string BundleFixture::bundle(const Digest& run, bool with_status) const {
  const std::unique_ptr<Ledger> ledger = ledger_.open();
  const SigningKey key = fixture_key(Role::status);
  return need(
      make_bundle(ledger->read(), run, need(ledger->checkpoint()), with_status ? &key : nullptr));
}

VerifyOptions BundleFixture::pinned() const {
  VerifyOptions options;
  options.ledger_id = ledger_.ledger_id();
  return options;
}

BundleVerdict BundleFixture::verify(std::string_view bytes, const VerifyOptions& options) const {
  return need(verify_bundle(bytes, options));
}

std::string BundleFixture::edit(std::string_view bytes,
                                const std::function<void(Bundle&)>& change) const {
  Bundle bundle = need(parse_bundle(bytes));
  change(bundle);
  return need(bundle.encode());
}

void BundleFixture::remake(Bundle& bundle) const {
  const std::unique_ptr<Ledger> ledger = ledger_.open();
  const Reader reader = ledger->read();
  const TreeHead head = need(parse_checkpoint(bundle.checkpoint)).checkpoint.head;
  TreeQuestions questions{head.size, {}, {}};
  KnownLeaves known;
  std::set<std::uint64_t> seen;
  std::set<Digest> named;
  bundle.objects.clear();
  std::ranges::sort(bundle.entries, {}, &BundleEntry::index);
  for (BundleEntry& entry : bundle.entries) {
    questions.leaves.push_back(entry.index);
    known.emplace(entry.index, leaf_hash(entry.leaf));
    const Entry decoded = need(decode_entry(entry.leaf));
    if (decoded.subject() == nullptr || !named.insert(decoded.content.digest).second) continue;
    bundle.objects.push_back(need(reader.object(decoded.content.digest)).value());
  }
  for (BundleEntry& entry : bundle.entries) {
    const std::optional<Attestation> said = said_at(reader, entry.index);
    if (!said) continue;
    if (said->binding.seen && said->binding.seen->size > 0) seen.insert(said->binding.seen->size);
    const auto* import = std::get_if<ImportStatement>(&said->predicate);
    if (import == nullptr) continue;
    std::vector<LeafHash> leaves;
    TreeQuestions range{import->end - import->first, {}, {}};
    KnownLeaves inside;
    for (std::uint64_t index = import->first; index < import->end; ++index) {
      leaves.push_back(leaf_hash(need(reader.leaf(index))));
      const auto given = std::ranges::find(bundle.entries, index, &BundleEntry::index);
      if (given == bundle.entries.end()) continue;
      inside.emplace(index - import->first, leaf_hash(given->leaf));
      if (std::holds_alternative<ManifestEntry>(need(decode_entry(given->leaf)).body)) {
        range.leaves.push_back(index - import->first);
      }
    }
    LeafNodes source(leaves);
    entry.range = nodes_for(range, inside, source);
  }
  if (!bundle.status.empty()) {
    const Envelope status = need(parse_envelope(bundle.status));
    seen.insert(need(parse_attestation(status.payload)).binding.seen->size);
  }
  questions.older.assign(seen.begin(), seen.end());
  TileReader tiles = need(TileReader::open(reader.head(), reader.tiles()));
  bundle.nodes = nodes_for(questions, known, tiles);
}

std::string BundleFixture::status(const Digest& run, const StatusStatement& says,
                                  const SigningKey& key) const {
  const Attestation said{
      run, Binding{ledger_.ledger_id(), key.public_key().id(), TreeHead{says.size, says.root}},
      says};
  return normalised(need(sign_envelope(need(said.encode()), key)), key.public_key()).encode();
}

StatusStatement BundleFixture::status_of(const Bundle& bundle) {
  const Envelope envelope = need(parse_envelope(bundle.status));
  return std::get<StatusStatement>(need(parse_attestation(envelope.payload)).predicate);
}

const BundleCheck& line(const BundleVerdict& verdict, std::string_view check) {
  const auto found = std::ranges::find(verdict.checks, check, &BundleCheck::check);
  if (found == verdict.checks.end()) throw std::runtime_error("no line " + std::string(check));
  return *found;
}

std::string first_false(const BundleVerdict& verdict) {
  const auto found = std::ranges::find(verdict.checks, false, &BundleCheck::ok);
  return found == verdict.checks.end() ? "true" : std::string(found->check) + " " + found->code;
}

}  // namespace kernelindex::test
