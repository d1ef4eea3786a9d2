// SPDX-License-Identifier: Apache-2.0
// Entries: the small canonical JSON documents that are the leaves of the log. DESIGN section 5.
//
// The bytes that encode_entry() gives are stored, hashed, proved and exported as they are, so that
// anyone can read the log without this program. Absent members are absent, never null, except
// `previous`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

inline constexpr int kEntryVersion = 1;

inline constexpr std::string_view kManifestMediaType = "application/vnd.kernelindex.manifest+json";
inline constexpr std::string_view kEnvelopeMediaType = "application/vnd.in-toto+dsse";

// The object that an entry is about, by the SHA-256 of its bytes.
struct Content {
  Digest digest;
  std::string media_type;
  std::uint64_t size = 0;  // bytes
};

// A file that belongs to a claimed implementation or run, named by the claim's facts.
struct NamedArtifact {
  std::string role;  // source, log, samples
  Digest digest;
  std::string path;                   // empty when the source names none
  std::optional<std::uint64_t> size;  // said by the source, bytes
  std::string media_type;             // said by the source
  std::string license;                // said by the source
};

// What a source says beside a document, and we show. A closed set; all members optional.
struct ClaimFacts {
  std::optional<Digest> project;  // identity of the SoftwareProject of an implementation
  std::string slug;               // a label, never a key
  std::vector<std::string> aliases;
  std::vector<std::string> tags;
  std::string published_at;  // UTC instant as the source wrote it
  std::vector<NamedArtifact> artifacts;
  std::vector<std::string> marks;  // zone_assumed, observed_at_by_operator, ...
  std::string retracted_at;        // the source withdrew the run: RETRACTED_BY_SOURCE
  std::string supersedes;          // external id of what this replaces at its source

  bool empty() const;
};

// A source claims a manifest.
struct ManifestEntry {
  ManifestKind kind{};
  Digest subject;  // identity digest
  std::optional<std::uint64_t>
      previous;        // last earlier entry of the subject that can change a level
  std::string source;  // whose number it is
  std::string via;     // whose bytes were read; empty when the source's own
  std::vector<std::string> external_ids;  // "slug:id", sorted
  std::optional<Digest> snapshot;         // where it was read
  std::string item;                       // line or JSON pointer inside the snapshot
  ClaimFacts facts;
};

struct SnapshotEntry {
  std::string source;
  std::string locator;
  std::string fetched_at;  // empty unless fetched
  std::string acquired;    // "fetched" by our TLS client, "supplied" as a file
};

struct ArtifactEntry {};

struct AttestationEntry {
  Digest subject;
  std::optional<std::uint64_t> previous;
  std::string predicate_type;
  std::string signer;  // key id, 64 hex digits
};

struct Entry {
  UtcMicros recorded_at = 0;
  Content content;
  std::variant<ManifestEntry, SnapshotEntry, ArtifactEntry, AttestationEntry> body;

  // The subject, for manifest and attestation entries.
  const Digest* subject() const;
  // `previous` of manifest and attestation entries.
  std::optional<std::uint64_t> previous() const;
  // Whether a later entry's `previous` may name this one: it can change a level or a rank. All do
  // but the attestations note, calibration and import.
  bool on_chain() const;
};

// The leaf bytes. Requires: a well-formed entry; the result is at most 65,535 bytes or an error
// (ENTRY_TOO_LARGE; facts above 16 KiB: FACTS_TOO_LARGE).
Result<std::string> encode_entry(const Entry& entry);

// Reads leaf bytes. They must be exactly what encode_entry() would give. A version, type or member
// that this program does not know is the error UNKNOWN_ENTRY: on a chain that matters no level can
// be judged past it.
Result<Entry> decode_entry(std::string_view leaf);

}  // namespace kernelindex
