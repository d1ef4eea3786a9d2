// SPDX-License-Identifier: Apache-2.0
// What is said about earlier evidence: retraction/v1, supersession/v1, dispute/v1 and
// dispute-resolution/v1 by maintainers, withholding/v1 by the root.
#include "ledger/predicate_members.h"

namespace kernelindex {
namespace {

constexpr std::string_view kOutcomes[] = {"dismissed", "upheld"};

}  // namespace

std::string_view dispute_outcome_name(DisputeResolution::Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}

std::optional<DisputeResolution::Outcome> dispute_outcome_from_name(std::string_view name) {
  return predicates::from_word<DisputeResolution::Outcome>(kOutcomes, name);
}

namespace predicates {

void read(ObjectReader& reader, const json::Value&, Retraction& out) {
  out.reason = read_reason(reader);
}

void write(const Retraction& retraction, MemberWriter& out) {
  out.text("reason", retraction.reason);
}

void read(ObjectReader& reader, const json::Value&, Supersession& out) {
  out.reason = read_reason(reader);
  out.by = reader.digest("by");
}

void write(const Supersession& supersession, MemberWriter& out) {
  out.text("reason", supersession.reason).digest("by", supersession.by);
}

Status check_place(const Supersession& supersession, const Digest& subject, const Binding&) {
  if (subject == supersession.by) {
    return fail(ErrorKind::invalid, "SELF_SUPERSESSION", "predicate.by",
                "nothing supersedes itself", "name the successor, or retract the subject");
  }
  return {};
}

void read(ObjectReader& reader, const json::Value&, Dispute& out) {
  out.reason = read_reason(reader);
}

void write(const Dispute& dispute, MemberWriter& out) { out.text("reason", dispute.reason); }

void read(ObjectReader& reader, const json::Value&, DisputeResolution& out) {
  out.dispute = reader.digest("dispute");
  out.outcome = read_word<DisputeResolution::Outcome>(reader, "outcome", kOutcomes);
  out.reason = read_reason(reader);
}

void write(const DisputeResolution& resolution, MemberWriter& out) {
  out.digest("dispute", resolution.dispute)
      .text("outcome", dispute_outcome_name(resolution.outcome))
      .text("reason", resolution.reason);
}

void read(ObjectReader& reader, const json::Value&, Withholding& out) {
  out.reason = read_reason(reader);
}

void write(const Withholding& withholding, MemberWriter& out) {
  out.text("reason", withholding.reason);
}

}  // namespace predicates
}  // namespace kernelindex
