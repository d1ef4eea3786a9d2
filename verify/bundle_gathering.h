// SPDX-License-Identifier: Apache-2.0
// What the level of a run depends on, collected from a ledger: the entries of its bundle and the
// heads of its status. Internal to verify/; bundle_writer.h makes bundles of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/entry.h"
#include "ledger/predicates.h"
#include "ledger/reader.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

struct Gathered {
  std::string leaf;
  Entry entry;
  std::optional<std::string> object;  // of claims and attestations, unless withheld
  std::optional<Attestation> said;    // of a known type
  std::optional<TreeHead> seen;       // by its signer
};

// Each thing that is added brings what it depends on itself, as of one size of the log. The judge
// in bundle_chains.cc expects exactly the same.
class Gathering {
 public:
  // Requires: the reader outlives it and has at least `size` entries.
  Gathering(const Reader& reader, const Digest& run, std::uint64_t size)
      : reader_(reader), run_(run), size_(size) {}

  // The founding, and all that the run's level depends on. Errors: as prove_run().
  Status gather();
  // The log keys whose lines stand on the checkpoint. Error NO_LOG_SIGNATURE.
  Status add_log_keys(const SignedCheckpoint& checkpoint);
  // A key's enrolment and what became of it.
  Status add_key(const Digest& key_id);

  // By index.
  const std::map<std::uint64_t, Gathered>& entries() const { return entries_; }
  // The last chain entry of each subject that has one.
  std::map<Digest, std::uint64_t> heads() const;
  std::uint64_t notes() const { return notes_; }
  // Bytes that controlled attempts are judged from, by digest: those that no entry's own object is.
  const std::map<Digest, std::string>& artifacts() const { return artifacts_; }

 private:
  struct Asking;

  // Has the chain of a subject added by the next settle().
  void depend(const Digest& subject);
  Status settle();
  Status add_chain(const Digest& subject);
  Status add(std::uint64_t index);
  Status add_import(std::uint64_t claim);
  Status add_statement(std::uint64_t index, Gathered& gathered);
  Status add_row();
  Status add_attempts(const RunRow& row, const SubjectRow& self);
  Status add_artifact(const Digest& digest);
  Status add_asked(const SubjectRow& self, const Asking& asking);

  const Reader& reader_;
  const Digest run_;
  const std::uint64_t size_;
  std::map<std::uint64_t, Gathered> entries_;
  std::set<Digest> subjects_;    // whose chains are here, or
  std::vector<Digest> waiting_;  // will be
  std::uint64_t notes_ = 0;
  std::map<Digest, std::string> artifacts_;
};

}  // namespace kernelindex
