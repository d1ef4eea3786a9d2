// SPDX-License-Identifier: Apache-2.0
// The inside of verify_bundle(): one function for each line of the verdict, in their order, and
// what each leaves to the next. bundle.h says what each line promises.
//
//   bundle_objects.cc     objects, documents, comparison
//   bundle_statements.cc  founding, keys, attestations, status
//   bundle_tree.cc        checkpoint, inclusion, seen, imports, witnesses
//   bundle_attempts.cc    what was measured under control
//   bundle_chains.cc      chains, heads, standing
//   bundle.cc             the order, size, age and level
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/derive.h"
#include "ledger/dsse.h"
#include "ledger/entry.h"
#include "ledger/evidence_policy.h"
#include "ledger/judgements.h"
#include "ledger/key_book.h"
#include "ledger/predicates.h"
#include "ledger/rows.h"
#include "schema/manifest.h"
#include "verify/bundle.h"
#include "verify/bundle_format.h"
#include "verify/shared_nodes.h"

namespace kernelindex::bundles {

// What a line of the verdict found.
struct Finding {
  bool ok = true;
  std::string code;
  std::string detail;
};
Finding holds(std::string detail, std::string code = {});
Finding broken(std::string code, std::string detail);
Finding broken(const std::string& place, const Error& error);
// "entry 17"
std::string entry_name(std::uint64_t index);
// "1 entry", "2 entries"
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural);

// One entry of the file with what it names.
struct Part {
  Part(std::uint64_t index, const LeafHash& hash) : index(index), hash(hash) {}

  std::uint64_t index;
  LeafHash hash;
  Entry entry;
  std::span<const Digest> range;        // of an import statement: nodes of the tree that it signs
  const std::string* object = nullptr;  // of a claim or attestation; null: not in the file
  // Of an attestation whose envelope is in the file; `said` when its type is known.
  std::optional<Envelope> envelope;
  std::optional<Binding> binding;
  std::optional<Attestation> said;

  const ManifestEntry* claim() const { return std::get_if<ManifestEntry>(&entry.body); }
  const AttestationEntry* attestation() const { return std::get_if<AttestationEntry>(&entry.body); }
  template <typename Members>
  const Members* says() const {
    return said ? std::get_if<Members>(&said->predicate) : nullptr;
  }
  bool key_statement() const {
    return says<LedgerFounding>() != nullptr || says<KeyChange>() != nullptr;
  }
};

// What the derivation of the run's row asked for: what the level depends on, and no more may stand
// in the file.
struct Asked {
  std::set<Digest> subjects;
  std::set<Digest> artifacts;
  std::set<Digest> snapshots;
  // Of controlled attempts: bytes that the file may carry, and runners whose calibrations may stand
  // in it.
  std::set<Digest> bytes;
  std::set<Digest> runners;
};

class Judge {
 public:
  // Requires: both outlive it.
  Judge(const Bundle& bundle, const VerifyOptions& options) : bundle_(bundle), options_(options) {}

  // In this order; each requires that all before it held.
  Finding check_subject();
  Finding check_objects();
  Finding check_founding();
  Finding check_keys();
  Finding check_checkpoint();
  Finding check_inclusion();
  Finding check_attestations();
  Finding check_seen();
  Finding check_documents();
  Finding check_comparison();
  Finding check_imports();
  Finding check_chains();
  Finding check_status();
  Finding check_heads();
  // These break no arrow.
  Finding check_witnesses();
  Finding check_size();
  Finding check_age();
  Finding check_standing();
  Finding check_level();

  // Reads the checkpoint and the status. Errors (invalid): those of reading them.
  Status read_parts();
  const SignedCheckpoint& checkpoint() const { return checkpoint_; }
  // Adds what was found out to the verdict.
  void describe(BundleVerdict& verdict) const;

 private:
  Finding read_objects(std::map<Digest, const std::string*>& by_digest) const;
  Finding read_statement(Part& part);
  Finding check_signed(const Part& part, std::string_view what) const;
  Finding check_withheld() const;
  void judge();
  Finding read_documents();
  Finding derive_row();
  Finding derive_attempts();
  std::map<Digest, const std::string*> carried_bytes() const;
  Finding check_range(const Part& import, const std::vector<const Part*>& claims) const;
  std::string claim_words() const;
  bool snapshot_before(const Digest& snapshot, std::uint64_t index) const;
  Finding check_needed() const;
  Finding check_previous(const Digest& subject) const;
  Finding check_status_signer(const Attestation& said) const;
  // Everything that a level depends on and that can have a chain. DESIGN section 6, `heads`.
  std::set<Digest> subjects() const;
  const Part* part(std::uint64_t index) const;
  // The chain entries about it, in order.
  const std::vector<const Part*>& chain(const Digest& subject) const;
  const TreeHead& head() const { return checkpoint_.checkpoint.head; }
  std::string reason_of(std::uint64_t index) const;

  const Bundle& bundle_;
  const VerifyOptions& options_;

  // read_parts
  SignedCheckpoint checkpoint_;
  std::optional<Envelope> status_envelope_;
  std::optional<Attestation> status_said_;
  // check_objects
  std::vector<Part> parts_;                            // in order of index
  std::map<Digest, std::vector<const Part*>> chains_;  // of them, by subject
  // check_founding, check_keys
  std::string origin_;
  std::optional<Digest> ledger_id_;
  KeyBook keys_;
  // check_inclusion
  TreeQuestions questions_;
  std::optional<SharedNodes> nodes_;
  // check_attestations
  std::vector<ImportRange> imports_;  // in order of `first`
  Judgements judgements_;
  // check_documents
  std::map<Digest, Manifest> documents_;  // by document digest
  std::map<Digest, std::shared_ptr<const SubjectRow>> rows_;
  Asked asked_;
  std::string row_bytes_;
  RunRow row_;           // its texts are views of row_bytes_
  EvidenceFacts facts_;  // attempts and acceptance
  // check_status
  bool complete_ = false;
  std::uint64_t notes_ = 0;
  // check_witnesses
  std::optional<std::uint64_t> quorum_time_;
  // check_level
  Evidence evidence_;
};

}  // namespace kernelindex::bundles
