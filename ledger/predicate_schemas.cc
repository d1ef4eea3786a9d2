// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicate_schemas.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "ledger/entry.h"
#include "ledger/note.h"
#include "ledger/predicate_members.h"
#include "ledger/tile.h"
#include "schema/canonical_json.h"
#include "schema/json_schema.h"
#include "schema/manifest.h"

namespace kernelindex {
namespace {

using schema::any_of;
using schema::boolean;
using schema::Grammar;
using schema::integer;
using schema::kDigest;
using schema::kHex64;
using schema::kSlug;
using schema::kToken;
using schema::list;
using schema::map;
using schema::Node;
using schema::null;
using schema::object;
using schema::one_of;
using schema::optional;
using schema::required;
using schema::text;

constexpr std::string_view kSchemaBase = "https://kernelindex.dev/schemas/predicates/";

// ---- Grammars of predicates ----

bool is_filled_text(std::string_view value) {
  return !value.empty() && predicates::is_plain_text(value);
}
bool is_filled_line(std::string_view value) {
  return !value.empty() && predicates::is_plain_line(value);
}
bool is_public_key(std::string_view value) { return PublicKey::parse(value).has_value(); }
bool is_nonce(std::string_view value) {
  const std::optional<std::string> bytes = from_base64(value);
  return bytes && bytes->size() == kJobNonceBytes;
}
bool is_micros(std::string_view value) {
  const Result<UtcMicros> time = parse_utc_instant(value);
  return time && format_utc_micros(*time) == value;
}

const Grammar kPlainText = {"plainText", "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]+$",
                            "a text without control characters but newline and tab",
                            is_filled_text};
const Grammar kPlainLine = {"plainLine", "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",
                            "one line without control characters", is_filled_line};
const Grammar kNoteName = {"noteName", "^[!-*,-~]+$", "printable ASCII without space and +",
                           is_note_name};
const Grammar kNoteUrl = {"noteUrl", "^https://(?![^/?#]*@)[!-~]+$",
                          "an https URL of printable ASCII without a user part", is_note_url};
// Base64 of 32 bytes: the last letter before the padding holds four bits.
constexpr std::string_view kBase64Of32 = "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$";
const Grammar kPublicKey = {"publicKey", kBase64Of32, "an Ed25519 public key in base64",
                            is_public_key};
const Grammar kNonce = {"nonce", kBase64Of32, "32 bytes in base64", is_nonce};
const Grammar kMicros = {
    "utcMicros", "^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{6}Z$",
    "a UTC instant with six digits after the second", is_micros};
const Grammar kSourcePath = {
    "sourcePath", "^(?:(?!\\.{1,2}(?:/|$)|-)[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]+(?:/(?!$)|$))+$",
    "a relative path in one spelling", is_source_path};
const Grammar kReasonCode = {"reasonCode", "^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$",
                             "a code of capital letters, digits and single _", is_reason_code};

// ---- Pieces ----

Node digest() { return text(kDigest); }
Node index() { return integer(0); }
Node reason() { return text(kPlainText, kReasonBytes); }
Node slug() { return text(kSlug, kSlugBytes); }
Node line(std::size_t bytes) { return text(kPlainLine, bytes); }
Node positive(std::int64_t most) { return integer(1, static_cast<double>(most)); }

// A sorted list, nothing twice.
Node sorted(Node item, std::size_t least, std::size_t most) {
  Node node = list(std::move(item), least, most);
  node.set_like = true;
  return node;
}

template <typename Value, typename Name>
Node words(std::span<const Value> values, Name name_of) {
  Node node = one_of({});
  for (const Value value : values) node.values.push_back(name_of(value));
  return node;
}
// The words of an enumeration that counts from 0 to `last`.
template <typename Enumeration, typename Name>
Node words_to(Enumeration last, Name name_of) {
  Node node = one_of({});
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    node.values.push_back(name_of(static_cast<Enumeration>(i)));
  }
  return node;
}

Node constant(std::int64_t value) {
  return integer(static_cast<double>(value), static_cast<double>(value));
}

// ---- One shape for each alternative, without the binding ----

Node shape(const LedgerFounding*) {
  return object({required("origin", text(kNoteName, limits::kNoteNameBytes)),
                 required("owner", slug()), required("rootKey", text(kPublicKey)),
                 required("logKey", text(kPublicKey)),
                 required("notesPerDay", integer(0, static_cast<double>(kNotesPerDay))),
                 required("formats", object({required("entry", constant(kEntryVersion)),
                                             required("manifest", one_of({kApiVersion})),
                                             required("tileHeight", constant(kTileHeight))}))});
}

Node shape(const KeyChange*) {
  return any_of(
      {object({required("public", text(kPublicKey)),
               required("role", words(std::span<const Role>(kRoles), role_name)),
               required("owner", slug()),
               optional("hardware", sorted(line(kHardwareBytes), 1, kAllowedItems)),
               optional("protocols", sorted(digest(), 1, kAllowedItems)),
               optional("reason", reason())}),
       object({required("approve", one_of({"harness", "protocol"})), optional("reason", reason())}),
       object({required("revoke",
                        object({required("reason", reason()), optional("voidFrom", index())}))})});
}

Node shape(const ImportStatement*) {
  Node counts = map(text(), index());
  counts.max_count = kImportCounts;
  return object({required("first", index()), required("end", index()), required("leaves", digest()),
                 required("parser", slug()), required("parserVersion", line(kVersionBytes)),
                 required("options", map(text(), schema::any())),
                 required("snapshots", list(digest(), 1, kImportSnapshots)),
                 required("counts", counts), optional("report", digest())});
}

Node shape(const CommunityNote*) {
  return object(
      {required("type", words_to(CommunityNote::Type::regression_observed, note_type_name)),
       required("text", text(kPlainText, kNoteCharacters)),
       optional("evidenceUrl", text(kNoteUrl, kNoteUrlBytes)), optional("observedNs", integer(1)),
       optional("environment", line(kNoteEnvironmentCharacters))});
}

Node shape(const Retraction*) { return object({required("reason", reason())}); }

Node shape(const Supersession*) {
  return object({required("reason", reason()), required("by", digest())});
}

Node shape(const Dispute*) { return object({required("reason", reason())}); }

Node shape(const DisputeResolution*) {
  return object(
      {required("dispute", digest()),
       required("outcome", words_to(DisputeResolution::Outcome::upheld, dispute_outcome_name)),
       required("reason", reason())});
}

Node shape(const Withdrawal*) {
  return object({required("source", slug()), required("externalId", line(kExternalIdBytes)),
                 required("state", line(kSourceStateBytes)), required("reason", reason()),
                 required("snapshot", digest())});
}

Node shape(const Withholding*) { return object({required("reason", reason())}); }

Node shape(const StatusStatement*) {
  Node heads = map(digest(), index());
  heads.min_count = 1;
  heads.max_count = kStatusHeads;
  return object({required("size", index()), required("root", digest()), required("heads", heads),
                 required("notes", index())});
}

Node shape(const MeasurementJob*) {
  return object(
      {required("run", digest()), required("runner", text(kHex64)), required("protocol", digest()),
       required("harness", digest()), required("workloads", sorted(digest(), 1, kJobWorkloads)),
       required("sources", list(object({required("path", text(kSourcePath, kSourcePathBytes)),
                                        required("digest", digest())}),
                                1, kJobSources)),
       required("limits", object({required("buildSeconds", positive(kJobSeconds)),
                                  required("wallSeconds", positive(kJobSeconds)),
                                  required("childSeconds", positive(kJobSeconds)),
                                  required("outputBytes", positive(kDeviceBytes)),
                                  required("vramBytes", positive(kDeviceBytes)),
                                  required("pids", positive(kJobProcesses)),
                                  required("logBytes", positive(kJobLogBytes))})),
       required("device", object({required("product", line(kProductBytes)),
                                  optional("architecture", text(kToken, kArchitectureBytes)),
                                  optional("memoryBytes", positive(kDeviceBytes)),
                                  optional("migProfile", line(kMigProfileBytes)),
                                  required("count", positive(kDevices))})),
       required("nonce", text(kNonce)), required("expiresAt", text(kMicros)),
       required("sourceReviewed", boolean())});
}

Node shape(const ControlledRun*) {
  return object({required("job", digest()), required("run", digest()), required("result", digest()),
                 optional("samples", digest()), required("device", digest()),
                 required("host", digest())});
}

Node shape(const Acceptance*) {
  const Node codes = sorted(text(kReasonCode, kCodeBytes), 0, kAcceptanceCodes);
  return object({required("result", digest()), required("accepted", boolean()),
                 required("verdict", words_to(Acceptance::Verdict::refused, verdict_name)),
                 required("codes", codes), required("allowed", codes), required("policy", slug())});
}

Node shape(const Calibration*) {
  return object(
      {required("device", digest()),
       required("sessions",
                list(object({required("boot", digest()),
                             required("clocks", words_to(ClockVariant::locked, clock_variant_name)),
                             required("repetitions", positive(kCalibrationSamples)),
                             required("launchNs", integer(1)), required("bandwidthNs", integer(1)),
                             required("computeNs", integer(1)), required("tensorNs", integer(1)),
                             required("smKhz", integer(1))}),
                     1, kCalibrationSessions)),
       required("samples", digest())});
}

// ---- By row ----

template <std::size_t Row>
Node shape_of_row() {
  return shape(static_cast<const std::variant_alternative_t<Row, Predicate>*>(nullptr));
}
template <std::size_t... Rows>
constexpr auto shapes_of(std::index_sequence<Rows...>) {
  return std::array{&shape_of_row<Rows>...};
}
constexpr auto kShapes = shapes_of(std::make_index_sequence<std::variant_size_v<Predicate>>());

void add_binding(Node& node, bool founding) {
  for (Node& part : node.parts) add_binding(part, founding);
  if (node.type != schema::Type::object) return;
  Node head = object({required("size", index()), required("root", digest())});
  node.fields.push_back(required("ledger", founding ? null() : digest()));
  node.fields.push_back(required("signer", text(kHex64)));
  node.fields.push_back(required("seen", founding ? null() : std::move(head)));
}

std::string description(const PredicateType& type) {
  std::string roles;
  for (const Role role : type.signers) {
    roles.append(roles.empty() ? "" : " or ").append(role_name(role));
  }
  return "The predicate " + type.uri() + " of an in-toto statement. Signed by a key of the role " +
         roles + (type.recordable ? "." : "; in bundles only, never an entry of a log.") +
         " Readers also check the bytes of texts, the order of lists and relations between "
         "members.";
}

}  // namespace

Node predicate_shape(const PredicateType& type) {
  const auto row = static_cast<std::size_t>(&type - predicate_types().data());
  assert(row < kShapes.size());
  Node node = kShapes[row]();
  add_binding(node, row == 0);
  return node;
}

std::string predicate_schema_file(const PredicateType& type) {
  std::string name(type.name);
  std::ranges::replace(name, '/', '-');
  return name + ".schema.json";
}

std::string predicate_json_schema(const PredicateType& type) {
  json::Arena arena;
  const Node node = predicate_shape(type);
  return json::canonical(
      schema::json_schema_document(node, std::string(kSchemaBase) + predicate_schema_file(type),
                                   type.name, description(type), arena));
}

}  // namespace kernelindex
