// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicates.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <utility>

#include "ledger/entry.h"
#include "ledger/note.h"
#include "ledger/object_reader.h"
#include "ledger/statement.h"
#include "ledger/tile.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/manifest.h"

namespace kernelindex {
namespace {

constexpr std::size_t kPublicKeyText = 44;  // base64 of 32 bytes
constexpr std::int64_t kMostFormat = 1'000'000;

// ---- The table
// -------------------------------------------------------------------------------------

constexpr std::array kRootSigns = {Role::root};
constexpr std::array kImporterSigns = {Role::importer};

constexpr std::array<PredicateType, std::variant_size_v<Predicate>> kTypes = {{
    {"ledger/v1", kRootSigns, true},
    {"key/v1", kRootSigns, true},
    {"import/v1", kImporterSigns, false},
}};

// ---- Pieces that predicates share
// ------------------------------------------------------------------

// Adds the members of one predicate.
class Members {
 public:
  explicit Members(json::Arena& arena) : arena_(arena), builder_(arena) {}

  json::Arena& arena() { return arena_; }
  Members& add(std::string_view name, json::Value value) {
    builder_.add(name, value);
    return *this;
  }
  Members& text(std::string_view name, std::string_view value) {
    return add(name, arena_.string(value));
  }
  Members& text_if(std::string_view name, std::string_view value) {
    return value.empty() ? *this : text(name, value);
  }
  Members& digest(std::string_view name, const Digest& value) { return text(name, value.text()); }
  // Requires for the text to be read back: |value| <= 2^53 - 1.
  Members& number(std::string_view name, std::int64_t value) {
    return add(name, json::Value(static_cast<double>(value)));
  }
  Members& count(std::string_view name, std::uint64_t value) {
    return add(name, json::Value(static_cast<double>(value)));
  }
  template <typename Item, typename Text>
  Members& texts(std::string_view name, const std::vector<Item>& items, Text text_of) {
    std::vector<json::Value> values;
    for (const Item& item : items) values.push_back(arena_.string(std::invoke(text_of, item)));
    return add(name, arena_.array(values));
  }
  json::Value finish() { return builder_.finish(); }

 private:
  json::Arena& arena_;
  json::ObjectBuilder builder_;
};

void adopt(ObjectReader& reader, const Status& inner) {
  if (!inner) reader.fault(inner.error());
}

PublicKey read_public_key(ObjectReader& reader, std::string_view name) {
  const Result<PublicKey> key = PublicKey::parse(reader.text(name, kPublicKeyText));
  if (key) return *key;
  reader.fault(name, "BAD_MEMBER", key.error().message);
  return {};
}

std::vector<Digest> read_digests(ObjectReader& reader, std::string_view name, std::size_t most,
                                 bool required) {
  std::vector<Digest> digests;
  for (const json::Value& item : reader.array(name, most, required)) {
    const Result<Digest> digest = Digest::parse(item.is_string() ? item.string() : "");
    if (!digest) {
      reader.fault(name, "BAD_DIGEST", digest.error().message);
      return {};
    }
    digests.push_back(*digest);
  }
  return digests;
}

// Absent rather than empty, and in one order: one meaning has one spelling.
template <typename Item>
void require_sorted(ObjectReader& reader, const json::Value& object, std::string_view name,
                    const std::vector<Item>& items) {
  if (object.find(name) == nullptr) return;
  if (items.empty()) reader.fault(name, "BAD_MEMBER", "an empty list is left out");
  if (std::ranges::adjacent_find(items, std::greater_equal<>()) != items.end()) {
    reader.fault(name, "BAD_MEMBER", "the list must be sorted, nothing twice");
  }
}

Binding read_binding_members(ObjectReader& reader, bool founding) {
  Binding binding;
  binding.signer = reader.hex_digest("signer");
  if (founding) {
    for (const std::string_view name : {"ledger", "seen"}) {
      if (!reader.required(name).is_null()) reader.fault(name, "BAD_MEMBER", "this must be null");
    }
    return binding;
  }
  binding.ledger = reader.digest("ledger");
  ObjectReader seen(reader.required("seen"), reader.place_of("seen"));
  TreeHead head;
  head.size = seen.count("size");
  head.root = seen.digest("root");
  adopt(reader, seen.finish());
  binding.seen = head;
  return binding;
}

void write_binding(const Binding& binding, Members& out) {
  out.text("signer", binding.signer.hex());
  out.add("ledger", binding.ledger ? out.arena().string(binding.ledger->text()) : json::Value());
  if (!binding.seen) {
    out.add("seen", json::Value());
    return;
  }
  Members seen(out.arena());
  seen.count("size", binding.seen->size).digest("root", binding.seen->root);
  out.add("seen", seen.finish());
}

// ---- ledger/v1
// -------------------------------------------------------------------------------------

void read_formats(ObjectReader& reader) {
  ObjectReader formats(reader.required("formats"), reader.place_of("formats"));
  const std::int64_t entry = formats.integer("entry", 1, kMostFormat);
  const std::string manifest = formats.text("manifest", kVersionBytes);
  const std::int64_t height = formats.integer("tileHeight", 1, kMostFormat);
  adopt(reader, formats.finish());
  if (entry != kEntryVersion || manifest != kApiVersion || height != kTileHeight) {
    reader.fault("formats", "UNSUPPORTED_FORMAT",
                 "the ledger was founded with formats that this program does not know");
  }
}

void read(ObjectReader& reader, const json::Value&, LedgerFounding& out) {
  out.origin = reader.text("origin", limits::kNoteNameBytes);
  if (reader.ok() && !is_note_name(out.origin)) {
    reader.fault("origin", "BAD_MEMBER", "an origin is printable ASCII without space and \"+\"");
  }
  out.owner = reader.slug("owner", kSlugBytes);
  out.root_key = read_public_key(reader, "rootKey");
  out.log_key = read_public_key(reader, "logKey");
  out.notes_per_day = reader.integer("notesPerDay", 0, kNotesPerDay);
  read_formats(reader);
}

void write(const LedgerFounding& founding, Members& out) {
  Members formats(out.arena());
  formats.number("entry", kEntryVersion)
      .text("manifest", kApiVersion)
      .number("tileHeight", kTileHeight);
  out.text("origin", founding.origin)
      .text("owner", founding.owner)
      .text("rootKey", founding.root_key.base64())
      .text("logKey", founding.log_key.base64())
      .number("notesPerDay", founding.notes_per_day)
      .add("formats", formats.finish());
}

Status check_place(const LedgerFounding& founding, const Digest& subject, const Binding& binding) {
  if (binding.signer != founding.root_key.id()) {
    return fail(ErrorKind::invalid, "SIGNER_MISMATCH", "predicate.signer",
                "a founding is signed by the root key that it names");
  }
  if (subject != founding.root_key.id()) {
    return fail(ErrorKind::invalid, "SUBJECT_MISMATCH", "subject[0]",
                "the subject of a founding is the id of its root key");
  }
  return {};
}

// ---- key/v1
// ----------------------------------------------------------------------------------------

KeyEnrolment read_enrolment(ObjectReader& reader, const json::Value& object) {
  KeyEnrolment enrolment;
  enrolment.public_key = read_public_key(reader, "public");
  const std::optional<Role> role = role_from_name(reader.text("role", kSlugBytes));
  if (!role) reader.fault("role", "BAD_MEMBER", "this is not a role");
  enrolment.role = role.value_or(Role{});
  enrolment.owner = reader.slug("owner", kSlugBytes);
  for (const json::Value& item : reader.array("hardware", kAllowedItems, false)) {
    const std::string_view product = item.is_string() ? item.string() : "";
    if (product.empty() || product.size() > kHardwareBytes) {
      reader.fault("hardware", "BAD_MEMBER", "each must be a text of 1 to 200 bytes");
    }
    enrolment.hardware.emplace_back(product);
  }
  enrolment.protocols = read_digests(reader, "protocols", kAllowedItems, false);
  require_sorted(reader, object, "hardware", enrolment.hardware);
  require_sorted(reader, object, "protocols", enrolment.protocols);
  if (enrolment.role != Role::runner &&
      (!enrolment.hardware.empty() || !enrolment.protocols.empty())) {
    reader.fault("role", "BAD_MEMBER", "only runners have hardware and protocols");
  }
  enrolment.reason = reader.optional_text("reason", kReasonBytes);
  return enrolment;
}

DigestApproval read_approval(ObjectReader& reader) {
  DigestApproval approval;
  const std::string kind = reader.text("approve", kSlugBytes);
  if (kind != "harness" && kind != "protocol") {
    reader.fault("approve", "BAD_MEMBER", "this must be \"harness\" or \"protocol\"");
  }
  approval.kind =
      kind == "protocol" ? DigestApproval::Kind::protocol : DigestApproval::Kind::harness;
  approval.reason = reader.optional_text("reason", kReasonBytes);
  return approval;
}

Revocation read_revocation(ObjectReader& reader) {
  ObjectReader inner(reader.required("revoke"), reader.place_of("revoke"));
  Revocation revocation;
  revocation.reason = inner.text("reason", kReasonBytes);
  revocation.void_from = inner.optional_count("voidFrom");
  adopt(reader, inner.finish());
  return revocation;
}

// The three shapes are told apart by the member that only one of them has.
void read(ObjectReader& reader, const json::Value& object, KeyChange& out) {
  if (object.find("approve") != nullptr) {
    out.action = read_approval(reader);
  } else if (object.find("revoke") != nullptr) {
    out.action = read_revocation(reader);
  } else {
    out.action = read_enrolment(reader, object);
  }
}

void write_action(const KeyEnrolment& enrolment, Members& out) {
  out.text("public", enrolment.public_key.base64())
      .text("role", role_name(enrolment.role))
      .text("owner", enrolment.owner)
      .text_if("reason", enrolment.reason);
  if (!enrolment.hardware.empty()) out.texts("hardware", enrolment.hardware, std::identity());
  if (!enrolment.protocols.empty()) out.texts("protocols", enrolment.protocols, &Digest::text);
}

void write_action(const DigestApproval& approval, Members& out) {
  out.text("approve", approval.kind == DigestApproval::Kind::protocol ? "protocol" : "harness")
      .text_if("reason", approval.reason);
}

void write_action(const Revocation& revocation, Members& out) {
  Members inner(out.arena());
  inner.text("reason", revocation.reason);
  if (revocation.void_from) inner.count("voidFrom", *revocation.void_from);
  out.add("revoke", inner.finish());
}

void write(const KeyChange& change, Members& out) {
  std::visit([&](const auto& action) { write_action(action, out); }, change.action);
}

Status check_place(const KeyChange& change, const Digest& subject, const Binding&) {
  const auto* enrolment = std::get_if<KeyEnrolment>(&change.action);
  if (enrolment != nullptr && subject != enrolment->public_key.id()) {
    return fail(ErrorKind::invalid, "SUBJECT_MISMATCH", "subject[0]",
                "the subject of an enrolment is the id of the key");
  }
  return {};
}

// ---- import/v1
// -------------------------------------------------------------------------------------

std::string read_options(ObjectReader& reader) {
  const json::Value& options = reader.required("options");
  std::string text = json::canonical(options);
  if (!options.is_object() || text.size() > kImportOptionsBytes) {
    reader.fault("options", "BAD_MEMBER", "this must be an object of at most 16 KiB");
  }
  return text;
}

std::map<std::string, std::int64_t> read_counts(ObjectReader& reader) {
  const json::Value& object = reader.required("counts");
  ObjectReader inner(object, reader.place_of("counts"));
  std::map<std::string, std::int64_t> counts;
  if (object.is_object() && object.object().size() <= kImportCounts) {
    for (const json::Member& member : object.object()) {
      counts[std::string(member.name)] = static_cast<std::int64_t>(inner.count(member.name));
    }
  } else {
    reader.fault("counts", "BAD_MEMBER", "this must be an object of at most 256 counts");
  }
  adopt(reader, inner.status());
  return counts;
}

void read(ObjectReader& reader, const json::Value&, ImportStatement& out) {
  out.first = reader.count("first");
  out.end = reader.count("end");
  if (out.first > out.end)
    reader.fault("end", "BAD_MEMBER", "the range of leaves ends before it begins");
  out.leaves = reader.digest("leaves");
  out.parser = reader.slug("parser", kSlugBytes);
  out.parser_version = reader.text("parserVersion", kVersionBytes);
  out.options = read_options(reader);
  out.snapshots = read_digests(reader, "snapshots", kImportSnapshots, true);
  if (out.snapshots.empty()) reader.fault("snapshots", "BAD_MEMBER", "there must be at least one");
  out.counts = read_counts(reader);
  out.report = reader.optional_digest("report");
}

void write(const ImportStatement& import, Members& out) {
  Members counts(out.arena());
  for (const auto& [name, count] : import.counts) counts.number(name, count);
  // What is no JSON becomes null, which parse_attestation() refuses.
  const Result<json::Value> options = json::parse(import.options, out.arena());
  out.count("first", import.first)
      .count("end", import.end)
      .digest("leaves", import.leaves)
      .text("parser", import.parser)
      .text("parserVersion", import.parser_version)
      .add("options", options.value_or(json::Value()))
      .texts("snapshots", import.snapshots, &Digest::text)
      .add("counts", counts.finish());
  if (import.report) out.digest("report", *import.report);
}

Status check_place(const ImportStatement& import, const Digest& subject, const Binding&) {
  if (subject != import.snapshots.back()) {
    return fail(ErrorKind::invalid, "SUBJECT_MISMATCH", "subject[0]",
                "the subject of an import statement is its last snapshot");
  }
  return {};
}

// ---- By row
// ----------------------------------------------------------------------------------------

template <std::size_t Row>
Predicate read_row(ObjectReader& reader, const json::Value& object) {
  std::variant_alternative_t<Row, Predicate> members;
  read(reader, object, members);
  return members;
}

template <std::size_t... Rows>
constexpr auto readers_of(std::index_sequence<Rows...>) {
  return std::array{&read_row<Rows>...};
}
constexpr auto kReaders = readers_of(std::make_index_sequence<std::variant_size_v<Predicate>>());

}  // namespace

std::string PredicateType::uri() const { return std::string(kPredicateBase) + std::string(name); }

bool PredicateType::may_sign(Role role) const {
  return std::ranges::find(signers, role) != signers.end();
}

std::span<const PredicateType> predicate_types() { return kTypes; }

const PredicateType& predicate_type(const Predicate& predicate) {
  return kTypes[predicate.index()];
}

const PredicateType* find_predicate_type(std::string_view uri) {
  if (!uri.starts_with(kPredicateBase)) return nullptr;
  const auto found =
      std::ranges::find(kTypes, uri.substr(kPredicateBase.size()), &PredicateType::name);
  return found != kTypes.end() ? &*found : nullptr;
}

bool predicate_on_chain(std::string_view uri) {
  if (!uri.starts_with(kPredicateBase)) return true;
  const std::string_view name = uri.substr(kPredicateBase.size());
  return !name.starts_with("note/") && !name.starts_with("calibration/") &&
         !name.starts_with("import/");
}

bool predicate_skippable(std::string_view uri) {
  return uri.starts_with(kPredicateBase) && uri.substr(kPredicateBase.size()).starts_with("note/");
}

Result<std::string> Attestation::encode() const {
  json::Arena arena;
  Members members(arena);
  write_binding(binding, members);
  std::visit([&](const auto& alternative) { write(alternative, members); }, predicate);
  const Statement statement{subject, predicate_type(predicate).uri(), members.finish()};
  std::string payload = statement.encode();
  const Result<Attestation> read_back = parse_attestation(payload);
  if (!read_back) return fail(read_back.error());
  if (*read_back != *this) {
    return fail(ErrorKind::invalid, "BAD_MEMBER", "predicate",
                "a member is not in the form in which it would be read back");
  }
  return payload;
}

Result<Attestation> parse_attestation(std::string_view payload) {
  json::Arena arena;
  const Result<Statement> statement = parse_statement(payload, arena);
  if (!statement) return fail(statement.error());
  const PredicateType* type = find_predicate_type(statement->predicate_type);
  if (type == nullptr) {
    return fail(ErrorKind::invalid, "UNKNOWN_PREDICATE", "predicateType",
                "this program does not know the predicate type " + statement->predicate_type);
  }
  const auto row = static_cast<std::size_t>(type - kTypes.data());
  ObjectReader reader(statement->predicate, "predicate");
  Attestation attestation;
  attestation.subject = statement->subject;
  attestation.binding = read_binding_members(reader, row == 0);
  attestation.predicate = kReaders[row](reader, statement->predicate);
  if (Status ok = reader.finish(); !ok) return fail(ok.error());
  const Status placed = std::visit(
      [&](const auto& members) {
        return check_place(members, attestation.subject, attestation.binding);
      },
      attestation.predicate);
  if (!placed) return fail(placed.error());
  return attestation;
}

Result<Binding> read_binding(const json::Value& predicate, bool founding) {
  ObjectReader reader(predicate, "predicate");
  Binding binding = read_binding_members(reader, founding);
  if (Status ok = reader.status(); !ok) return fail(ok.error());
  return binding;
}

}  // namespace kernelindex
