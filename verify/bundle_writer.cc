// SPDX-License-Identifier: Apache-2.0
#include "verify/bundle_writer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ledger/tile_reader.h"
#include "verify/bundle_gathering.h"
#include "verify/shared_nodes.h"

namespace kernelindex {
namespace {

std::unexpected<Error> refuse(std::string code, std::string place, std::string message,
                              std::string remedy = {}) {
  return fail(ErrorKind::refused, std::move(code), std::move(place), std::move(message),
              std::move(remedy));
}

Result<std::vector<Digest>> read_nodes(const TreeQuestions& questions, const KnownLeaves& known,
                                       NodeSource& source) {
  const Result<std::vector<NodePlace>> places = needed_nodes(questions, known);
  if (!places) return fail(places.error());
  std::vector<Digest> out;
  for (const NodePlace& place : *places) {
    const Result<Digest> node = source.node(place.level, place.index);
    if (!node) return fail(node.error());
    out.push_back(*node);
  }
  return out;
}

// The proofs that the claims in the file lie in the range that an import statement signs.
Result<std::vector<Digest>> range_nodes(const Reader& reader, const ImportStatement& import,
                                        const std::map<std::uint64_t, Gathered>& entries) {
  std::vector<LeafHash> leaves;
  for (std::uint64_t index = import.first; index < import.end; ++index) {
    const Result<std::string> leaf = reader.leaf(index);
    if (!leaf) return fail(leaf.error());
    leaves.push_back(leaf_hash(*leaf));
  }
  TreeQuestions questions{import.end - import.first, {}, {}};
  KnownLeaves known;
  for (auto entry = entries.lower_bound(import.first);
       entry != entries.end() && entry->first < import.end; ++entry) {
    const std::uint64_t place = entry->first - import.first;
    known.emplace(place, leaves[place]);
    if (std::holds_alternative<ManifestEntry>(entry->second.entry.body)) {
      questions.leaves.push_back(place);
    }
  }
  LeafNodes nodes(leaves);
  return read_nodes(questions, known, nodes);
}

Status add_entries(const Reader& reader, const Gathering& gathering, RunProof& proof) {
  std::set<Digest> objects;
  for (const auto& [index, gathered] : gathering.entries()) {
    BundleEntry entry{index, gathered.leaf, {}};
    if (gathered.said) {
      if (const auto* import = std::get_if<ImportStatement>(&gathered.said->predicate)) {
        Result<std::vector<Digest>> nodes = range_nodes(reader, *import, gathering.entries());
        if (!nodes) return fail(nodes.error());
        entry.range = std::move(*nodes);
      }
    }
    proof.bundle.entries.push_back(std::move(entry));
    if (gathered.object && objects.insert(gathered.entry.content.digest).second) {
      proof.bundle.objects.push_back(*gathered.object);
    }
  }
  for (const auto& [digest, bytes] : gathering.artifacts()) proof.bundle.artifacts.push_back(bytes);
  return {};
}

// The proofs of the log's tree: every entry, and every tree that a signer saw.
Status add_nodes(const Reader& reader, const Gathering& gathering, std::uint64_t size,
                 RunProof& proof) {
  TreeQuestions questions{size, {}, {}};
  KnownLeaves known;
  std::set<std::uint64_t> seen = {size};  // by the signer of the status
  for (const auto& [index, gathered] : gathering.entries()) {
    questions.leaves.push_back(index);
    known.emplace(index, leaf_hash(gathered.leaf));
    if (gathered.seen && gathered.seen->size > 0) seen.insert(gathered.seen->size);
  }
  questions.older.assign(seen.begin(), seen.end());
  Result<TileReader> tiles = TileReader::open(reader.head(), reader.tiles());
  if (!tiles) return fail(tiles.error());
  Result<std::vector<Digest>> nodes = read_nodes(questions, known, *tiles);
  if (!nodes) return fail(nodes.error());
  proof.bundle.nodes = std::move(*nodes);
  return {};
}

Result<RunProof> prove(const Reader& reader, const Digest& run, const SignedCheckpoint& checkpoint,
                       const std::optional<Digest>& status_key) {
  const TreeHead& head = checkpoint.checkpoint.head;
  if (head.size > reader.head().size || checkpoint.checkpoint.origin != reader.format().origin) {
    return refuse("OTHER_TREE", "checkpoint",
                  "the checkpoint is of " + checkpoint.checkpoint.origin + " and size " +
                      std::to_string(head.size) + ", this ledger is " + reader.format().origin +
                      " and has " + std::to_string(reader.head().size) + " entries");
  }
  const Result<Digest> root = reader.root_at(head.size);
  if (!root) return fail(root.error());
  if (*root != head.root) {
    return refuse("OTHER_TREE", "checkpoint",
                  "the checkpoint has the root " + head.root.text() + ", this ledger had " +
                      root->text() + " at that size",
                  "two logs share a name: compare checkpoints");
  }
  Gathering gathering(reader, run, head.size);
  if (Status status = gathering.gather(); !status) return fail(status.error());
  if (Status status = gathering.add_log_keys(checkpoint); !status) return fail(status.error());
  if (status_key) {
    if (Status status = gathering.add_key(*status_key); !status) return fail(status.error());
  }
  RunProof proof;
  proof.bundle.subject = run;
  proof.bundle.checkpoint = checkpoint.format();
  if (Status status = add_entries(reader, gathering, proof); !status) return fail(status.error());
  if (Status status = add_nodes(reader, gathering, head.size, proof); !status) {
    return fail(status.error());
  }
  proof.status = {head.size, head.root, gathering.heads(), gathering.notes()};
  return proof;
}

Status check_status_key(const Reader& reader, const PublicKey& key, std::uint64_t size) {
  const KeyRecord* record = reader.state().keys.find(key.id());
  if (record == nullptr || record->enrolled_at >= size) {
    return refuse("KEY_NOT_ENROLLED", "status key",
                  "the key " + key.id().hex() + " is not enrolled in this ledger");
  }
  if (record->role != Role::status) {
    return refuse("WRONG_ROLE", "status key",
                  "a " + std::string(role_name(record->role)) + " key may not sign a status");
  }
  if (record->valid_at(size)) return {};
  return refuse("KEY_REVOKED", "status key", "the key " + key.id().hex() + " was revoked");
}

}  // namespace

Result<RunProof> prove_run(const Reader& reader, const Digest& run,
                           const SignedCheckpoint& checkpoint) {
  return prove(reader, run, checkpoint, std::nullopt);
}

Result<std::string> make_bundle(const Reader& reader, const Digest& run,
                                const SignedCheckpoint& checkpoint, const SigningKey* status_key) {
  std::optional<Digest> key_id;
  if (status_key != nullptr) {
    const PublicKey& key = status_key->public_key();
    if (Status status = check_status_key(reader, key, checkpoint.checkpoint.head.size); !status) {
      return fail(status.error());
    }
    key_id = key.id();
  }
  Result<RunProof> proof = prove(reader, run, checkpoint, key_id);
  if (!proof) return fail(proof.error());
  if (status_key == nullptr) return proof->bundle.encode();
  const Attestation said{
      run, Binding{reader.format().ledger_id, *key_id, checkpoint.checkpoint.head}, proof->status};
  Result<std::string> payload = said.encode();
  if (!payload) return fail(payload.error());
  Result<Envelope> envelope = sign_envelope(std::move(*payload), *status_key);
  if (!envelope) return fail(envelope.error());
  proof->bundle.status = normalised(std::move(*envelope), status_key->public_key()).encode();
  return proof->bundle.encode();
}

}  // namespace kernelindex
