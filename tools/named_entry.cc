// SPDX-License-Identifier: Apache-2.0
#include "tools/named_entry.h"

#include "ledger/dsse.h"
#include "ledger/key_layout.h"
#include "schema/json_reader.h"
#include "schema/utc_time.h"

namespace kernelindex::tools {

Result<std::uint64_t> attestation_index(const Reader& reader, const Digest& id) {
  const Result<std::optional<std::string>> stored =
      reader.view().get(Space::derived, key_layout::attestation(id));
  if (!stored) return fail(stored.error());
  if (!*stored || (*stored)->size() != 8) {
    return fail(ErrorKind::not_found, "NO_SUCH_ID", id.text(), "no attestation has this id");
  }
  return key_layout::from_big_endian(**stored);
}

Result<json::Value> entry_document(const JsonOutput& json, const Reader& reader,
                                   std::uint64_t index) {
  const Result<std::string> leaf = reader.leaf(index);
  if (!leaf) return fail(leaf.error());
  const Result<json::Value> entry = json::parse(json.arena().copy(*leaf), json.arena());
  if (!entry) return fail_in("entry " + std::to_string(index), entry.error());
  return json.object()
      .add("index", json.count(index))
      .add("leafHash", json.digest(leaf_hash(*leaf).digest()))
      .add("entry", *entry)
      .finish();
}

Result<json::Value> attestation_document(const JsonOutput& json, const Reader& reader,
                                         const Digest& id) {
  const Result<std::uint64_t> index = attestation_index(reader, id);
  if (!index) return fail(index.error());
  const Result<Entry> entry = reader.entry(*index);
  if (!entry) return fail(entry.error());
  const Result<std::optional<std::string>> bytes = reader.object(entry->content.digest);
  if (!bytes) return fail(bytes.error());
  json::ObjectBuilder document = json.object();
  document.add("digest", json.digest(id)).add("index", json.count(*index));
  document.add("recordedAt", json.text(format_utc_micros(entry->recorded_at)));
  if (!*bytes) return document.add("withheld", json::Value(true)).finish();
  const Result<Envelope> envelope = read_stored_envelope(**bytes);
  if (!envelope) return fail_in(id.text(), envelope.error());
  const Result<json::Value> statement =
      json::parse(json.arena().copy(envelope->payload), json.arena());
  if (!statement) return fail_in(id.text(), statement.error());
  return document.add("statement", *statement).finish();
}

}  // namespace kernelindex::tools
