// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicates.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ledger/object_reader.h"
#include "ledger/predicate_members.h"
#include "ledger/statement.h"

namespace kernelindex {
namespace {

using predicates::MemberWriter;

// ---- The table ----

constexpr std::array kRoot = {Role::root};
constexpr std::array kImporter = {Role::importer};
constexpr std::array kContributor = {Role::contributor};
constexpr std::array kController = {Role::controller};
constexpr std::array kRunner = {Role::runner};
constexpr std::array kMaintainer = {Role::maintainer};
constexpr std::array kStatus = {Role::status};

constexpr std::array<PredicateType, std::variant_size_v<Predicate>> kTypes = {{
    {"ledger/v1", kRoot},
    {"key/v1", kRoot},
    {"import/v1", kImporter, false},
    {"note/v1", kContributor, false},
    {"retraction/v1", kMaintainer},
    {"supersession/v1", kMaintainer},
    {"dispute/v1", kMaintainer},
    {"dispute-resolution/v1", kMaintainer},
    {"withdrawal/v1", kImporter},
    {"withholding/v1", kRoot},
    {"status/v1", kStatus, true, false},
    {"measurement-job/v1", kController},
    {"controlled-run/v1", kRunner},
    {"acceptance/v1", kController},
    {"calibration/v1", kRunner, false},
}};

// ---- The binding ----

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
  predicates::adopt(reader, seen.finish());
  binding.seen = head;
  return binding;
}

void write_binding(const Binding& binding, MemberWriter& out) {
  out.text("signer", binding.signer.hex());
  out.add("ledger", binding.ledger ? out.arena().string(binding.ledger->text()) : json::Value());
  if (!binding.seen) {
    out.add("seen", json::Value());
    return;
  }
  MemberWriter seen(out.arena());
  seen.count("size", binding.seen->size).digest("root", binding.seen->root);
  out.add("seen", seen.finish());
}

// ---- By row ----

template <std::size_t Row>
Predicate read_row(ObjectReader& reader, const json::Value& object) {
  std::variant_alternative_t<Row, Predicate> members;
  predicates::read(reader, object, members);
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
  MemberWriter members(arena);
  write_binding(binding, members);
  std::visit([&](const auto& alternative) { predicates::write(alternative, members); }, predicate);
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
  return attestation_of(*statement);
}

Result<Attestation> attestation_of(const Statement& statement) {
  const PredicateType* type = find_predicate_type(statement.predicate_type);
  if (type == nullptr) {
    return fail(ErrorKind::invalid, "UNKNOWN_PREDICATE", "predicateType",
                "this program does not know the predicate type " + statement.predicate_type);
  }
  const auto row = static_cast<std::size_t>(type - kTypes.data());
  ObjectReader reader(statement.predicate, "predicate");
  Attestation attestation;
  attestation.subject = statement.subject;
  attestation.binding = read_binding_members(reader, row == 0);
  attestation.predicate = kReaders[row](reader, statement.predicate);
  if (Status ok = reader.finish(); !ok) return fail(ok.error());
  const Status placed = std::visit(
      [&](const auto& members) {
        return predicates::check_place(members, attestation.subject, attestation.binding);
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
