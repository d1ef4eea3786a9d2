// SPDX-License-Identifier: Apache-2.0
#include "verify/bundle.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "schema/canonical_json.h"
#include "verify/bundle_judge.h"

namespace kernelindex {
namespace bundles {
namespace {

// "2026-11-30T15:10:40.000000Z" of POSIX seconds.
std::string time_text(std::uint64_t seconds) {
  constexpr std::uint64_t kLatest = 253'402'300'799;  // the last second of the year 9999
  return format_utc_micros(static_cast<UtcMicros>(std::min(seconds, kLatest)) * 1'000'000);
}

}  // namespace

Finding holds(std::string detail, std::string code) {
  return {true, std::move(code), std::move(detail)};
}

Finding broken(std::string code, std::string detail) {
  return {false, std::move(code), std::move(detail)};
}

Finding broken(const std::string& place, const Error& error) {
  return broken(error.code,
                place + ": " + (error.place.empty() ? "" : error.place + ": ") + error.message);
}

std::string entry_name(std::uint64_t index) { return "entry " + std::to_string(index); }

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return std::to_string(count) + " " + std::string(count == 1 ? singular : plural);
}

Status Judge::read_parts() {
  Result<SignedCheckpoint> checkpoint = parse_checkpoint(bundle_.checkpoint);
  if (!checkpoint) return fail_in("checkpoint", checkpoint.error());
  // Notes have one form each; the bytes in the file must be it.
  if (checkpoint->format() != bundle_.checkpoint) {
    return fail(ErrorKind::invalid, "BAD_CHECKPOINT", "checkpoint",
                "the note is not in its one form");
  }
  checkpoint_ = std::move(*checkpoint);
  if (bundle_.status.empty()) return {};
  Result<Envelope> envelope = read_stored_envelope(bundle_.status);
  if (!envelope) {
    Error error = envelope.error();
    error.kind = ErrorKind::invalid;
    return fail_in("status", std::move(error));
  }
  Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail_in("status", said.error());
  status_envelope_ = std::move(*envelope);
  status_said_ = std::move(*said);
  return {};
}

Finding Judge::check_subject() {
  if (!options_.subject || *options_.subject == bundle_.subject) {
    return holds("the run " + bundle_.subject.text());
  }
  return broken("OTHER_SUBJECT", "the file is about " + bundle_.subject.text() + ", not about " +
                                     options_.subject->text());
}

Finding Judge::check_size() {
  const std::string size = "as of size " + std::to_string(head().size);
  if (!options_.expect_at_least || head().size >= *options_.expect_at_least) return holds(size);
  return broken("TOO_SMALL", size + ": a size of at least " +
                                 std::to_string(*options_.expect_at_least) + " was expected");
}

Finding Judge::check_age() {
  constexpr std::uint64_t kMicros = 1'000'000;
  if (!quorum_time_) {
    const std::string detail = "age unknown: only a quorum of witnesses says when";
    return options_.max_age ? broken("AGE_UNKNOWN", detail) : holds(detail, "AGE_UNKNOWN");
  }
  const std::string seen = "a quorum saw the checkpoint at " + time_text(*quorum_time_);
  if (!options_.max_age) return holds(seen);
  const std::uint64_t now =
      options_.now > 0 ? static_cast<std::uint64_t>(options_.now) / kMicros : 0;
  const std::uint64_t age = now > *quorum_time_ ? now - *quorum_time_ : 0;
  if (age <= *options_.max_age) return holds(seen);
  return broken("TOO_OLD", seen + ", " + std::to_string(age) + " seconds ago; at most " +
                               std::to_string(*options_.max_age) + " were asked for");
}

namespace {

struct Line {
  std::string_view check;
  Finding (Judge::*judge)();
  bool arrow;  // when it breaks, nothing after it can be judged
};

constexpr std::array kLines = {
    Line{"subject", &Judge::check_subject, true},
    Line{"objects", &Judge::check_objects, true},
    Line{"founding", &Judge::check_founding, true},
    Line{"keys", &Judge::check_keys, true},
    Line{"checkpoint", &Judge::check_checkpoint, true},
    Line{"inclusion", &Judge::check_inclusion, true},
    Line{"attestations", &Judge::check_attestations, true},
    Line{"seen", &Judge::check_seen, true},
    Line{"documents", &Judge::check_documents, true},
    Line{"comparison", &Judge::check_comparison, true},
    Line{"imports", &Judge::check_imports, true},
    Line{"chains", &Judge::check_chains, true},
    Line{"status", &Judge::check_status, true},
    Line{"heads", &Judge::check_heads, true},
    Line{"witnesses", &Judge::check_witnesses, false},
    Line{"size", &Judge::check_size, false},
    Line{"age", &Judge::check_age, false},
    Line{"standing", &Judge::check_standing, false},
    Line{"level", &Judge::check_level, false},
};

}  // namespace
}  // namespace bundles

bool BundleVerdict::ok() const { return std::ranges::all_of(checks, &BundleCheck::ok); }

Result<BundleVerdict> verify_bundle(std::string_view bytes, const VerifyOptions& options) {
  assert(options.ledger_id || options.log_key);
  const Result<Bundle> bundle = parse_bundle(bytes);
  if (!bundle) return fail(bundle.error());
  bundles::Judge judge(*bundle, options);
  if (Status status = judge.read_parts(); !status) return fail(status.error());
  BundleVerdict verdict;
  verdict.trust = options.policy ? options.policy->name() : "none";
  verdict.checks.push_back({"format", true, {}, std::string(kBundleFormat) + ", canonical"});
  std::string_view broken;
  for (const bundles::Line& line : bundles::kLines) {
    if (!broken.empty()) {
      verdict.checks.push_back(
          {line.check, false, "NOT_JUDGED", "not judged: see " + std::string(broken)});
      continue;
    }
    bundles::Finding finding = (judge.*line.judge)();
    // Without a status there is no arrow to break; what it would have said stays unknown.
    const bool missing = finding.code == "CURRENCY_UNKNOWN";
    if (line.arrow && !finding.ok && !missing) broken = line.check;
    verdict.checks.push_back(
        {line.check, finding.ok, std::move(finding.code), std::move(finding.detail)});
  }
  judge.describe(verdict);
  return verdict;
}

std::string BundleVerdict::json() const {
  json::Arena arena;
  const auto count = [](std::uint64_t value) { return json::Value(static_cast<double>(value)); };
  const auto digest = [&](const std::optional<Digest>& value) {
    return value ? arena.string(value->text()) : json::Value();
  };
  std::vector<json::Value> lines;
  for (const BundleCheck& check : checks) {
    lines.push_back(json::ObjectBuilder(arena)
                        .add("check", arena.string(check.check))
                        .add("ok", json::Value(check.ok))
                        .add_if(!check.code.empty(), "code", check.code)
                        .add("detail", arena.string(check.detail))
                        .finish());
  }
  std::vector<json::Value> reason_values;
  for (const LevelReason reason : reasons) {
    reason_values.push_back(arena.string(reason_name(reason)));
  }
  const std::string witnessed = witnessed_at ? bundles::time_text(*witnessed_at) : std::string();
  return json::canonical(
      json::ObjectBuilder(arena)
          .add("ok", json::Value(ok()))
          .add("subject", digest(subject))
          .add("level", arena.string(level_name(level)))
          .add("levelReasons", arena.array(reason_values))
          .add("policy", arena.string(kEvidencePolicy))
          .add("trust", arena.string(trust))
          .add("asOf", json::ObjectBuilder(arena)
                           .add("size", count(as_of.size))
                           .add("root", digest(as_of.root))
                           .finish())
          .add("origin", arena.string(origin))
          .add("ledger", digest(ledger_id))
          .add("comparisonKey", digest(comparison_key))
          .add("verdicts", arena.array(lines))
          .add("completeTo",
               json::ObjectBuilder(arena)
                   .add("size", complete_to ? count(*complete_to) : json::Value())
                   .add("witnessedAt", witnessed_at ? arena.string(witnessed) : json::Value())
                   .finish())
          .finish());
}

}  // namespace kernelindex
