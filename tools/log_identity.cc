// SPDX-License-Identifier: Apache-2.0
#include "tools/log_identity.h"

namespace kernelindex::tools {

std::vector<VerifierKey> log_keys(const Reader& reader) {
  std::vector<VerifierKey> keys;
  for (const auto& [id, key] : reader.state().keys.all()) {
    if (key.role == Role::log) keys.push_back(log_verifier_key(reader.format().origin, key.key));
  }
  return keys;
}

std::string log_key_text(const Reader& reader) {
  const std::vector<const KeyRecord*> keys =
      reader.state().keys.valid(Role::log, reader.head().size);
  return keys.empty() ? std::string()
                      : log_verifier_key(reader.format().origin, keys.back()->key).text();
}

std::optional<SignedCheckpoint> released_checkpoint(const Ledger& ledger, const Reader& reader) {
  const MarkPlaces places{ledger.options().directory, ledger.options().keys, {}};
  for (const ReleasedMark& mark : read_marks(places, reader.format().ledger_id)) {
    if (mark.path != places.directory / "checkpoint" || !mark.checkpoint) continue;
    const TreeHead& head = mark.checkpoint->checkpoint.head;
    if (!verify_checkpoint(*mark.checkpoint, log_keys(reader)).ok()) continue;
    if (head.size > reader.head().size) continue;
    const Result<Digest> root = reader.root_at(head.size);
    if (root && *root == head.root) return mark.checkpoint;
  }
  return std::nullopt;
}

}  // namespace kernelindex::tools
