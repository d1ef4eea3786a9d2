// SPDX-License-Identifier: Apache-2.0
// Controlled attempts out of a file: judged by the code that judges them in a ledger.
#include <algorithm>

#include "ledger/run_evidence.h"
#include "verify/asked_attempts.h"
#include "verify/bundle_judge.h"

namespace kernelindex::bundles {
namespace {

// What is not in the file is as if the log had it not, which can only lower a level.
class BundleAttempts final : public AttemptSource {
 public:
  struct From {
    const std::vector<Part>& parts;
    const std::map<Digest, std::vector<const Part*>>& chains;
    const std::map<Digest, std::shared_ptr<const SubjectRow>>& rows;
    const std::map<Digest, Manifest>& documents;
    const std::map<Digest, const std::string*>& bytes;
    const LogFacts& log;
  };
  explicit BundleAttempts(const From& from) : from_(from) {}

  Result<std::vector<SaidAt>> said_about(const Digest& subject) override {
    std::vector<SaidAt> out;
    const auto chain = from_.chains.find(subject);
    if (chain == from_.chains.end()) return out;
    for (const Part* part : chain->second) {
      if (part->says<MeasurementJob>() == nullptr && part->says<ControlledRun>() == nullptr &&
          part->says<Acceptance>() == nullptr) {
        continue;
      }
      out.push_back(said_at(*part));
    }
    return out;
  }
  Result<std::optional<SaidAt>> attestation(const Digest& id) override {
    for (const Part& part : from_.parts) {
      if (part.said && part.envelope->id() == id) return said_at(part);
    }
    return std::nullopt;
  }
  Result<std::vector<SaidAt>> calibrations(const Digest& runner) override {
    std::vector<SaidAt> out;
    for (const Part& part : from_.parts) {
      if (part.says<Calibration>() != nullptr && part.said->subject == runner) {
        out.push_back(said_at(part));
      }
    }
    return out;
  }
  Result<std::optional<std::string>> object(const Digest& digest) override {
    const auto found = from_.bytes.find(digest);
    if (found == from_.bytes.end() || withheld(digest)) return std::nullopt;
    return *found->second;
  }
  Result<bool> held(const Digest& digest) override {
    return !withheld(digest) && std::ranges::any_of(from_.parts, [&](const Part& part) {
      return std::holds_alternative<ArtifactEntry>(part.entry.body) &&
             part.entry.content.digest == digest;
    });
  }
  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override {
    const auto found = from_.rows.find(identity);
    if (found == from_.rows.end()) return nullptr;
    return counting_claims(*found->second, from_.log);
  }
  Result<std::optional<Manifest>> document(const Digest& identity) override {
    const auto row = from_.rows.find(identity);
    if (row == from_.rows.end()) return std::nullopt;
    for (const ClaimRow& claim : row->second->claims) {
      const auto found = from_.documents.find(claim.document);
      if (found != from_.documents.end()) return found->second;
    }
    return std::nullopt;
  }

 private:
  bool withheld(const Digest& digest) const {
    const SubjectJudgement* said = from_.log.judgements.find(digest);
    return said != nullptr && said->withheld;
  }
  static SaidAt said_at(const Part& part) {
    return {part.index, part.entry.recorded_at, part.envelope->id(), *part.said};
  }

  From from_;
};

}  // namespace

// The bytes that the file carries of what its entries name.
std::map<Digest, const std::string*> Judge::carried_bytes() const {
  std::map<Digest, const std::string*> out;
  for (const std::string& object : bundle_.objects) out.emplace(sha256(object), &object);
  for (const std::string& artifact : bundle_.artifacts) out.emplace(sha256(artifact), &artifact);
  return out;
}

Finding Judge::derive_attempts() {
  const LogFacts log{imports_, keys_, judgements_, head().size};
  facts_ = evidence_facts(row_, bundle_.subject, log);
  const std::map<Digest, const std::string*> bytes = carried_bytes();
  BundleAttempts source({parts_, chains_, rows_, documents_, bytes, log});
  AskedOfAttempts asked;
  AskedAttempts asking(source, asked);
  const auto* founding = parts_.front().says<LedgerFounding>();
  AttemptContext context{keys_, judgements_, options_.now, founding->owner, {}, {}};
  // Jobs have expired by the reader's own clock at the latest: the newest entry of the log need not
  // be in the file.
  for (const Part& part : parts_) context.now = std::max(context.now, part.entry.recorded_at);
  context.counts_runner = [this](const Digest& runner, std::string_view owner) {
    return options_.policy && ledger_id_ && options_.policy->counts(runner, *ledger_id_, owner);
  };
  if (options_.policy) context.allow = options_.policy->allow;
  if (Status status =
          add_attempts(asking, context, bundle_.subject, *rows_.at(bundle_.subject), facts_);
      !status) {
    return broken("the attempts", status.error());
  }
  asked_.subjects.insert(asked.subjects.begin(), asked.subjects.end());
  asked_.artifacts.insert(asked.held.begin(), asked.held.end());
  asked_.artifacts.insert(asked.bytes.begin(), asked.bytes.end());
  asked_.bytes = std::move(asked.bytes);
  asked_.runners = std::move(asked.runners);
  return holds({});
}

}  // namespace kernelindex::bundles
