// SPDX-License-Identifier: Apache-2.0
// What attestations say: the predicates under https://kernelindex.dev/predicates/, as plain
// structs.
//
// Every predicate carries `ledger` (the attestation id of entry 0), `signer` (key id, 64 hex
// digits) and `seen` {size, root}, the head of a checkpoint that its signer held; in ledger/v1 the
// first and the last are null. Members are a closed set, numbers are safe integers, digests read
// "sha256:hex", public keys are base64. Whether a signer may say it, and whether `seen` is true, is
// for the ledger to judge.
//
// Texts are UTF-8 and counted in bytes, unless characters are named: then in Unicode code points.
// No text holds a control character (C0, DEL, C1); reasons and the text of a note may hold newline
// and tab. DESIGN section 6 lists the predicates, PROTOCOL what those of measurements mean.
//
// A new predicate is one struct, one alternative of Predicate, one row of the table in
// predicates.cc, and one set of functions in predicate_members.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ledger/measurement_predicates.h"
#include "ledger/merkle.h"
#include "ledger/role.h"
#include "ledger/signing_key.h"
#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex {

struct Statement;

inline constexpr std::string_view kPredicateBase = "https://kernelindex.dev/predicates/";

inline constexpr std::size_t kReasonBytes = 2000;
inline constexpr std::size_t kNoteCharacters = 2000;
inline constexpr std::size_t kNoteEnvironmentCharacters = 200;
inline constexpr std::size_t kNoteUrlBytes = 2000;
inline constexpr std::size_t kSlugBytes = 100;
inline constexpr std::size_t kAllowedItems = 256;  // hardware or protocols of one runner
inline constexpr std::size_t kImportSnapshots = 4096;
inline constexpr std::size_t kImportCounts = 256;
inline constexpr std::size_t kImportOptionsBytes = 16 * 1024;
inline constexpr std::size_t kVersionBytes = 100;
inline constexpr std::size_t kHardwareBytes = 200;
inline constexpr std::int64_t kNotesPerDay = 1'000'000;
inline constexpr std::size_t kExternalIdBytes = 1000;
inline constexpr std::size_t kSourceStateBytes = 100;
inline constexpr std::size_t kStatusHeads = 8'192;

// What binds a predicate to its ledger and signer.
struct Binding {
  std::optional<Digest> ledger;  // absent in ledger/v1 alone
  Digest signer;                 // key id
  std::optional<TreeHead> seen;  // absent in ledger/v1 alone

  bool operator==(const Binding&) const = default;
};

// ledger/v1: entry 0. Its attestation id is the ledger id. Signed by the root key that it names.
// Subject: the id of that key. `formats` are those of this program; others are refused
// (UNSUPPORTED_FORMAT).
struct LedgerFounding {
  std::string origin;  // a note name
  std::string owner;   // slug
  PublicKey root_key;
  PublicKey log_key;
  std::int64_t notes_per_day = 0;  // allowed to each contributor

  bool operator==(const LedgerFounding&) const = default;
};

// key/v1, enrolment. Subject: the key id of `public_key`.
struct KeyEnrolment {
  PublicKey public_key;
  Role role{};
  std::string owner;  // slug
  std::vector<std::string>
      hardware;  // products that a runner may measure on, sorted; empty: none named
  std::vector<Digest> protocols;  // identity digests, sorted
  std::string reason;             // empty when absent

  bool operator==(const KeyEnrolment&) const = default;
};

// key/v1, approval. Subject: the digest that is approved.
struct DigestApproval {
  enum class Kind : std::uint8_t { harness, protocol };
  Kind kind{};
  std::string reason;  // empty when absent

  bool operator==(const DigestApproval&) const = default;
};

// key/v1, revocation. Subject: a key id or an approved digest.
struct Revocation {
  std::string reason;
  // After a compromise: what the key signed from this entry on is void.
  std::optional<std::uint64_t> void_from;

  bool operator==(const Revocation&) const = default;
};

struct KeyChange {
  std::variant<KeyEnrolment, DigestApproval, Revocation> action;

  bool operator==(const KeyChange&) const = default;
};

// import/v1: the claims [first, end) of the log are the importer's. Subject: the last of
// `snapshots`.
struct ImportStatement {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // equal to `first` when the statement only names the report
  Digest leaves;          // RFC 6962 root of the leaves [first, end) as a tree of their own
  std::string parser;     // slug
  std::string parser_version;
  std::string options = "{}";                  // canonical JSON of an object
  std::vector<Digest> snapshots;               // in the order of reading, at least one
  std::map<std::string, std::int64_t> counts;  // none negative
  std::optional<Digest> report;                // in the last batch of an import

  bool operator==(const ImportStatement&) const = default;
};

// note/v1: what somebody saw. Subject: the identity of a manifest. Never changes a level or a rank
// (DESIGN section 7). Not to be confused with the signed notes of note.h.
struct CommunityNote {
  enum class Type : std::uint8_t {
    reproduced,
    could_not_reproduce,
    environment_note,
    regression_observed
  };
  Type type{};
  std::string text;                         // 1..kNoteCharacters characters
  std::string evidence_url;                 // is_note_url(); empty when absent
  std::optional<std::int64_t> observed_ns;  // a measured time in nanoseconds, at least 1
  std::string environment;  // one line of 1..kNoteEnvironmentCharacters; empty when absent

  bool operator==(const CommunityNote&) const = default;
};

// "could_not_reproduce": the word in documents and on the command line.
std::string_view note_type_name(CommunityNote::Type type);
std::optional<CommunityNote::Type> note_type_from_name(std::string_view name);
// Whether a text may stand as `evidenceUrl`: "https://" in lower case, at most kNoteUrlBytes of
// printable ASCII without space, a host that schema/https_url.h accepts, and no user part, which
// would let the first name that one reads be another than the host.
bool is_note_url(std::string_view text);

// retraction/v1: the subject no longer stands. Subject: a manifest identity or an attestation id.
struct Retraction {
  std::string reason;

  bool operator==(const Retraction&) const = default;
};

// supersession/v1: `by` takes the subject's place. Both are manifest identities of one kind, or
// both attestation ids; that, and that no cycle arises, is for the ledger to see.
struct Supersession {
  std::string reason;
  Digest by;  // not the subject

  bool operator==(const Supersession&) const = default;
};

// dispute/v1: somebody doubts the subject. Subject: a manifest identity or an attestation id.
struct Dispute {
  std::string reason;

  bool operator==(const Dispute&) const = default;
};

// dispute-resolution/v1: how a dispute ended. Changes no rank: an upheld one is followed by a
// retraction. Subject: that of the dispute, which is for the ledger to see.
struct DisputeResolution {
  enum class Outcome : std::uint8_t { dismissed, upheld };
  Digest dispute;  // attestation id of the dispute
  Outcome outcome{};
  std::string reason;

  bool operator==(const DisputeResolution&) const = default;
};

// "dismissed", "upheld".
std::string_view dispute_outcome_name(DisputeResolution::Outcome outcome);
std::optional<DisputeResolution::Outcome> dispute_outcome_from_name(std::string_view name);

// withdrawal/v1: the source itself no longer stands by what was read from it. Subject: the identity
// of the run.
struct Withdrawal {
  std::string source;       // slug
  std::string external_id;  // of the run at its source: "submission/15866"
  std::string state;        // the source's own word for what became of it: "disqualified"
  std::string reason;       // the source's own, as far as it gives one
  Digest snapshot;          // the bytes that say so

  bool operator==(const Withdrawal&) const = default;
};

// withholding/v1: the bytes of an object are no longer given out. Subject: the object's digest.
struct Withholding {
  std::string reason;

  bool operator==(const Withholding&) const = default;
};

// status/v1: how things stand in the log of `size` and `root`. In bundles only, never an entry.
// Subject: the identity of the run that the bundle is about.
struct StatusStatement {
  std::uint64_t size = 0;
  Digest root;
  // For each subject that a level depends on the index of its last chain entry below `size`; at
  // least one.
  std::map<Digest, std::uint64_t> heads;
  std::uint64_t notes = 0;  // how many notes the run has

  bool operator==(const StatusStatement&) const = default;
};

// In the order of the table: the index of an alternative is its row.
using Predicate =
    std::variant<LedgerFounding, KeyChange, ImportStatement, CommunityNote, Retraction,
                 Supersession, Dispute, DisputeResolution, Withdrawal, Withholding, StatusStatement,
                 MeasurementJob, ControlledRun, Acceptance, Calibration>;

struct PredicateType {
  std::string_view name;  // "import/v1"
  std::span<const Role> signers;
  // Whether it can change a level or a rank, so that a chain must name it. DESIGN section 5.
  bool on_chain = true;
  // Whether it may be an entry of a log. status/v1 may not.
  bool recordable = true;

  std::string uri() const;  // "https://kernelindex.dev/predicates/import/v1"
  bool may_sign(Role role) const;
};

// All that this program knows, in the order of Predicate.
std::span<const PredicateType> predicate_types();
const PredicateType& predicate_type(const Predicate& predicate);
// Null for a type that this program does not know.
const PredicateType* find_predicate_type(std::string_view uri);
// Whether a later entry's `previous` may name an attestation of this type, known or not: all but
// note/, calibration/ and import/ under our base.
bool predicate_on_chain(std::string_view uri);
// Whether an unknown version of it may be skipped: only notes.
bool predicate_skippable(std::string_view uri);

// A statement whose predicate this program knows.
struct Attestation {
  Digest subject;
  Binding binding;
  Predicate predicate;

  // The payload of its envelope: an in-toto statement in canonical JSON. Errors: those of
  // parse_attestation(), since what could not be read back must never be signed.
  Result<std::string> encode() const;
  bool operator==(const Attestation&) const = default;
};

// Reads a payload. Errors (kind invalid): those of parse_statement(), UNKNOWN_PREDICATE,
// UNKNOWN_MEMBER, MISSING_MEMBER, BAD_MEMBER, UNSUPPORTED_FORMAT, SIGNER_MISMATCH (a founding not
// by its own root key), SUBJECT_MISMATCH (a founding, an enrolment, an import, a job, a result, an
// acceptance or a calibration whose subject is not what it must be), SELF_SUPERSESSION. Each names
// its place ("predicate.seen.root").
Result<Attestation> parse_attestation(std::string_view payload);
// The same of a statement that was read already.
Result<Attestation> attestation_of(const Statement& statement);

// The binding alone, of a predicate of any type. Null ledger and seen only with `founding`.
Result<Binding> read_binding(const json::Value& predicate, bool founding = false);

}  // namespace kernelindex
