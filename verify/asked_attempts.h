// SPDX-License-Identifier: Apache-2.0
// Remembers what a judgement of attempts asked for: what a bundle must hold for it, and no more
// may. The writer and the judge of bundles ask the same questions of their own sources.
#pragma once

#include <set>

#include "ledger/controlled_attempts.h"

namespace kernelindex {

struct AskedOfAttempts {
  std::set<Digest> subjects;  // whose chains count: manifests, statements, approved digests, keys
  std::set<Digest> attestations;  // by id
  std::set<Digest> runners;       // key ids whose calibrations count
  std::set<Digest> bytes;         // objects that are read
  std::set<Digest> held;          // artifacts that need only be there
};

class AskedAttempts final : public AttemptSource {
 public:
  // Requires: both outlive it.
  AskedAttempts(AttemptSource& source, AskedOfAttempts& asked) : source_(source), asked_(asked) {}

  Result<std::vector<SaidAt>> said_about(const Digest& subject) override {
    asked_.subjects.insert(subject);
    Result<std::vector<SaidAt>> said = source_.said_about(subject);
    if (said) {
      for (const SaidAt& one : *said) note_job(one);
    }
    return said;
  }
  Result<std::optional<SaidAt>> attestation(const Digest& id) override {
    asked_.attestations.insert(id);
    Result<std::optional<SaidAt>> said = source_.attestation(id);
    if (said && *said) {
      asked_.subjects.insert((*said)->said.subject);
      note_job(**said);
    }
    return said;
  }
  Result<std::vector<SaidAt>> calibrations(const Digest& runner) override {
    asked_.runners.insert(runner);
    asked_.subjects.insert(runner);
    return source_.calibrations(runner);
  }
  Result<std::optional<std::string>> object(const Digest& digest) override {
    asked_.bytes.insert(digest);
    return source_.object(digest);
  }
  Result<bool> held(const Digest& digest) override {
    asked_.held.insert(digest);
    return source_.held(digest);
  }
  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override {
    asked_.subjects.insert(identity);
    return source_.subject(identity);
  }
  Result<std::optional<Manifest>> document(const Digest& identity) override {
    asked_.subjects.insert(identity);
    return source_.document(identity);
  }

 private:
  // What the root said of the digests that a job rests on.
  void note_job(const SaidAt& said) {
    const auto* job = std::get_if<MeasurementJob>(&said.said.predicate);
    if (job == nullptr) return;
    for (const Digest* digest : {&job->harness, &job->protocol, &job->runner}) {
      asked_.subjects.insert(*digest);
    }
  }

  AttemptSource& source_;
  AskedOfAttempts& asked_;
};

}  // namespace kernelindex
