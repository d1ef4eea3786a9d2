// SPDX-License-Identifier: Apache-2.0
// What the root says about keys: ledger/v1 and key/v1.
#include <functional>
#include <utility>

#include "ledger/entry.h"
#include "ledger/note.h"
#include "ledger/predicate_members.h"
#include "ledger/tile.h"
#include "schema/manifest.h"

namespace kernelindex::predicates {
namespace {

constexpr std::int64_t kMostFormat = 1'000'000;

}  // namespace

// ---- ledger/v1 ----

namespace {

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

}  // namespace

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

void write(const LedgerFounding& founding, MemberWriter& out) {
  MemberWriter formats(out.arena());
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

// ---- key/v1 ----

namespace {

KeyEnrolment read_enrolment(ObjectReader& reader, const json::Value& object) {
  KeyEnrolment enrolment;
  enrolment.public_key = read_public_key(reader, "public");
  const std::optional<Role> role = role_from_name(reader.text("role", kSlugBytes));
  if (!role) reader.fault("role", "BAD_MEMBER", "this is not a role");
  enrolment.role = role.value_or(Role{});
  enrolment.owner = reader.slug("owner", kSlugBytes);
  for (const json::Value& item : reader.array("hardware", kAllowedItems, false)) {
    const std::string_view product = item.is_string() ? item.string() : "";
    if (product.empty() || product.size() > kHardwareBytes || !is_plain_line(product)) {
      reader.fault("hardware", "BAD_MEMBER",
                   "each must be one line of 1 to 200 bytes without control characters");
    }
    enrolment.hardware.emplace_back(product);
  }
  enrolment.protocols = read_digests(reader, "protocols", kAllowedItems, false);
  require_sorted_if_given(reader, object, "hardware", enrolment.hardware);
  require_sorted_if_given(reader, object, "protocols", enrolment.protocols);
  if (enrolment.role != Role::runner &&
      (!enrolment.hardware.empty() || !enrolment.protocols.empty())) {
    reader.fault("role", "BAD_MEMBER", "only runners have hardware and protocols");
  }
  enrolment.reason = read_optional_reason(reader);
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
  approval.reason = read_optional_reason(reader);
  return approval;
}

Revocation read_revocation(ObjectReader& reader) {
  ObjectReader inner(reader.required("revoke"), reader.place_of("revoke"));
  Revocation revocation;
  revocation.reason = read_reason(inner);
  revocation.void_from = inner.optional_count("voidFrom");
  adopt(reader, inner.finish());
  return revocation;
}

}  // namespace

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

namespace {

void write_action(const KeyEnrolment& enrolment, MemberWriter& out) {
  out.text("public", enrolment.public_key.base64())
      .text("role", role_name(enrolment.role))
      .text("owner", enrolment.owner)
      .text_if("reason", enrolment.reason);
  if (!enrolment.hardware.empty()) out.texts("hardware", enrolment.hardware, std::identity());
  if (!enrolment.protocols.empty()) out.texts("protocols", enrolment.protocols, &Digest::text);
}

void write_action(const DigestApproval& approval, MemberWriter& out) {
  out.text("approve", approval.kind == DigestApproval::Kind::protocol ? "protocol" : "harness")
      .text_if("reason", approval.reason);
}

void write_action(const Revocation& revocation, MemberWriter& out) {
  MemberWriter inner(out.arena());
  inner.text("reason", revocation.reason);
  if (revocation.void_from) inner.count("voidFrom", *revocation.void_from);
  out.add("revoke", inner.finish());
}

}  // namespace

void write(const KeyChange& change, MemberWriter& out) {
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

}  // namespace kernelindex::predicates
