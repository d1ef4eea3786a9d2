// SPDX-License-Identifier: Apache-2.0
// How keys in the store are spelled. One letter names the table; numbers are big-endian, so that
// keys sort as numbers do. LOG_FORMAT.md describes the tables.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/digest.h"
#include "schema/manifest.h"
#include "schema/utc_time.h"

namespace kernelindex::key_layout {

inline std::string big_endian(std::uint64_t value) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(value >> (56 - 8 * i));
  return out;
}

// Requires: bytes.size() >= 8.
inline std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

template <typename... Parts>
std::string join(const Parts&... parts) {
  std::string out;
  out.reserve((std::string_view(parts).size() + ...));
  (out.append(parts), ...);
  return out;
}

inline constexpr std::string_view kZero{"\0", 1};

// ---- evidence: what the log is ----

inline std::string format() { return "f"; }
inline std::string head() { return "h"; }
inline std::string object(const Digest& digest) { return join("o", digest.raw()); }
inline std::string chunk(const Digest& digest, std::uint64_t number) {
  return join("c", digest.raw(), big_endian(number));
}
// Present while a large object's chunks are there and no batch has named them yet.
inline std::string unnamed(const Digest& digest) { return join("u", digest.raw()); }
inline std::string leaf(std::uint64_t index) { return join("e", big_endian(index)); }
inline std::string tile(unsigned level, std::uint64_t index) {
  return join("t", std::string(1, static_cast<char>(level)), big_endian(index));
}

// ---- derived: what `reindex` can make anew ----

// Rises with each change of the tables below or of what lies in them: older derived data is then
// stale.
inline constexpr std::uint64_t kDerivedLayout = 2;
// What derived data is: its layout, and the tree size that it belongs to.
inline std::string derived_state() { return "z"; }
inline std::string derived_state_of(std::uint64_t size) {
  return join(big_endian(kDerivedLayout), big_endian(size));
}
inline std::string subject(const Digest& identity) { return join("s", identity.raw()); }
// The key of the run's row inside its group, or the row itself while it has none.
inline std::string run(const Digest& identity) { return join("r", identity.raw()); }
// Attestations about a subject, in order; the value is "c" for one on the chain, "n" otherwise.
inline std::string subject_entries(const Digest& subject) { return join("n", subject.raw()); }
inline std::string subject_entry(const Digest& subject, std::uint64_t index) {
  return join("n", subject.raw(), big_endian(index));
}
// The index of the newest entry of a subject that is on its chain, once there are two of them.
inline std::string chain_head(const Digest& subject) { return join("m", subject.raw()); }
inline std::string snapshot_fingerprint(const Digest& fingerprint) {
  return join("q", fingerprint.raw());
}
// The snapshot or artifact entries of an object.
inline std::string content_entry(const Digest& content, std::uint64_t index) {
  return join("p", content.raw(), big_endian(index));
}
inline std::string content_entries(const Digest& content) { return join("p", content.raw()); }
inline std::string attestation(const Digest& id) { return join("a", id.raw()); }
inline std::string import_statement(std::uint64_t index) { return join("i", big_endian(index)); }
inline std::string key_statement(std::uint64_t index) { return join("k", big_endian(index)); }
inline std::string chain_fact(std::uint64_t index) { return join("v", big_endian(index)); }
// The notes of a key by the day (UTC, counted from the epoch) on which they were recorded.
inline std::string notes_of_day(std::int64_t day, const Digest& signer) {
  return join("b", big_endian(static_cast<std::uint64_t>(day) ^ std::uint64_t{1} << 63),
              signer.raw());
}
inline std::string note_of_day(std::int64_t day, const Digest& signer, std::uint64_t index) {
  return join(notes_of_day(day, signer), big_endian(index));
}

// Smaller values first; a run without a value last. Doubles sort as their sign-adjusted bits.
inline std::string value_order(std::optional<double> value) {
  if (!value) return std::string(8, '\xff');
  const auto bits = std::bit_cast<std::uint64_t>(*value == 0 ? 0.0 : *value);
  return big_endian(bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63);
}
// Newer instants first.
inline std::string newest_first(UtcMicros time) {
  return big_endian(~(static_cast<std::uint64_t>(time) ^ std::uint64_t{1} << 63));
}

inline std::string group(const Digest& key) { return join("g", key.raw()); }
inline std::string group_run(const Digest& key, std::optional<double> value, const Digest& run) {
  return join("g", key.raw(), value_order(value), run.raw());
}
// External ids: exact (source, id), all kinds; or a prefix of the id.
inline std::string external_prefix(std::string_view source, std::string_view id_prefix) {
  return join("x", source, kZero, id_prefix);
}
inline std::string external_exact(std::string_view source, std::string_view id) {
  return join("x", source, kZero, id, kZero);
}
inline std::string external(std::string_view source, std::string_view id, ManifestKind kind,
                            const Digest& identity) {
  return join("x", source, kZero, id, kZero, std::string(1, static_cast<char>(kind)),
              identity.raw());
}
// The manifests of a kind that were claimed under a slug, by source.
inline std::string slug_prefix(ManifestKind kind, std::string_view slug) {
  return join("l", std::string(1, static_cast<char>(kind)), slug, kZero);
}
inline std::string slug(ManifestKind kind, std::string_view slug, std::string_view source,
                        const Digest& identity) {
  return join(slug_prefix(kind, slug), source, kZero, identity.raw());
}
// The claims whose source says that they replace what has this external id.
inline std::string superseding(std::string_view external_id) {
  return join("j", external_id, kZero);
}
inline std::string superseding(std::string_view external_id, std::uint64_t index) {
  return join(superseding(external_id), big_endian(index));
}
// The runs of an operation or implementation, and those that wait for something to arrive, newest
// observation first.
inline std::string dependents(const Digest& digest) { return join("d", digest.raw()); }
inline std::string dependent(const Digest& digest, UtcMicros observed, const Digest& run) {
  return join("d", digest.raw(), newest_first(observed), run.raw());
}
inline std::string by_time(ManifestKind kind) {
  return join("w", std::string(1, static_cast<char>(kind)));
}
inline std::string by_time(ManifestKind kind, UtcMicros observed, const Digest& run) {
  return join("w", std::string(1, static_cast<char>(kind)), newest_first(observed), run.raw());
}
inline std::string by_hardware(std::string_view product) { return join("y", product, kZero); }
inline std::string by_hardware(std::string_view product, UtcMicros observed, const Digest& run) {
  return join("y", product, kZero, newest_first(observed), run.raw());
}
// The run at the end of a key of one of the indexes above.
inline Digest last_digest(std::string_view key) {
  return Digest::from_raw(key.substr(key.size() - 32));
}

}  // namespace kernelindex::key_layout
