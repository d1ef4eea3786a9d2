// SPDX-License-Identifier: Apache-2.0
#include "ledger/statement.h"

#include "ledger/object_reader.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

constexpr std::size_t kPredicateTypeBytes = 255;

Result<Digest> read_subject(std::span<const json::Value> subjects) {
  if (subjects.size() != 1) {
    return fail(ErrorKind::invalid, "SUBJECT_COUNT", "subject",
                "a statement here has exactly one subject");
  }
  ObjectReader subject(subjects.front(), "subject[0]");
  ObjectReader digests(subject.required("digest"), "subject[0].digest");
  if (Status ok = subject.finish(); !ok) return fail(ok.error());
  const Digest digest = digests.hex_digest("sha256");
  if (Status ok = digests.finish(); !ok) return fail(ok.error());
  return digest;
}

}  // namespace

std::string Statement::encode() const {
  json::Arena arena;
  const json::Value digests = arena.object({{"sha256", arena.string(subject.hex())}});
  const json::Value item = arena.object({{"digest", digests}});
  return json::canonical(arena.object({{"_type", json::Value(kStatementType)},
                                       {"predicate", predicate},
                                       {"predicateType", arena.string(predicate_type)},
                                       {"subject", arena.array({item})}}));
}

Result<Statement> parse_statement(std::string_view payload, json::Arena& arena) {
  const Result<json::Value> value = json::parse(payload, arena);
  if (!value) return fail(value.error());
  if (json::canonical(*value) != payload) {
    return fail(ErrorKind::invalid, "PAYLOAD_NOT_CANONICAL", {},
                "the statement is not canonical JSON (RFC 8785)");
  }
  ObjectReader reader(*value, {});
  reader.expect_text("_type", kStatementType);
  Statement statement;
  statement.predicate_type = reader.text("predicateType", kPredicateTypeBytes);
  statement.predicate = reader.required("predicate");
  if (!statement.predicate.is_object()) {
    reader.fault("predicate", "BAD_STATEMENT", "the predicate must be an object");
  }
  const json::Value& subjects = reader.required("subject");
  if (!subjects.is_array()) reader.fault("subject", "BAD_STATEMENT", "this must be an array");
  if (Status ok = reader.finish(); !ok) return fail(ok.error());
  const Result<Digest> subject = read_subject(subjects.array());
  if (!subject) return fail(subject.error());
  statement.subject = *subject;
  return statement;
}

}  // namespace kernelindex
