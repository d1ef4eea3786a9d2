// SPDX-License-Identifier: Apache-2.0
// The verdict on an evidence bundle: who claimed a run, from which bytes, what was said of it
// since, and how strong the evidence is, without a database and without trusting whoever gave the
// file. DESIGN section 6; FORMATS section 12: every arrow is checked, each has a line.
//
// One needs the file and one thing that was known before: the ledger id (the attestation id of
// entry 0), or, which is weaker, the log's verifier key.
//
//   format         the bytes are a bundle                              (else an error, no verdict)
//   subject        it is about the run that was asked for
//   objects        each entry is one that this program knows; each object has the digest that an
//                  entry names; each envelope says what its entry repeats
//   founding       entry 0 is signed by the root key it names, and is the ledger that was pinned
//   keys           each key statement is signed by the root; who may sign follows, by index
//   checkpoint     signed by a log key that is valid at its size
//   inclusion      each entry is a leaf of the tree of that size and root
//   attestations   each is signed, for this ledger, by a key enrolled then for what it says
//   seen           each tree that a signer saw is a prefix of this one
//   documents      canonical, valid, of the identity and kind that their entries say
//   comparison     the comparison key, made anew
//   imports        each claim lies in a range of leaves that an importer signed
//   chains         `previous` leads from each subject's last entry to its first, all of them here
//   status         a statement of the status key about this very checkpoint
//   heads          the chains end where it says: nothing was left out
//   witnesses      cosignatures, by the reader's policy
//   size, age      what the reader asked for
//   standing       what was said of the run; whether all of it could be read
//   level          by evidence-v1, from the facts in the file alone
//
// The first arrow that breaks ends the judgement: the lines after it say that they were not judged,
// and there is no level. A status that is missing, witnesses, size, age and standing break no
// arrow: they make the verdict false and leave the level to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/evidence_policy.h"
#include "ledger/merkle.h"
#include "ledger/note.h"
#include "ledger/witness_policy.h"
#include "schema/digest.h"
#include "schema/result.h"
#include "schema/utc_time.h"
#include "verify/reader_policy.h"

namespace kernelindex {

struct VerifyOptions {
  // What the reader knew before; at least one of the two. Both must hold when both are given.
  std::optional<Digest> ledger_id;
  std::optional<VerifierKey> log_key;
  std::optional<Digest> subject;  // the run that is asked for; absent: whichever the file is about
  std::optional<ReaderPolicy> policy;            // absent: no runner counts
  std::optional<WitnessPolicy> witness_policy;   // its logs are replaced by the keys of the file
  std::optional<std::uint64_t> expect_at_least;  // entries
  std::optional<std::uint64_t> max_age;          // seconds, by cosignature times alone
  bool allow_unknown_currency = false;           // a file without status is not false for that
  UtcMicros now = 0;                             // for max_age alone
};

struct BundleCheck {
  std::string_view check;  // the words above
  bool ok = false;
  std::string code;    // UPPER_SNAKE_CASE, of what is wrong or remarkable; else empty
  std::string detail;  // one sentence; may hold names from outside
};

struct BundleVerdict {
  Digest subject;
  TreeHead as_of;  // of the checkpoint
  std::string origin;
  std::optional<Digest> ledger_id;       // of entry 0, once it is proved to be signed by its root
  std::optional<Digest> comparison_key;  // once its documents are proved
  Level level = Level::none;
  std::vector<LevelReason> reasons;
  std::string trust;  // "none", or the name of the reader policy
  std::vector<BundleCheck> checks;
  // The size up to which a status statement says that nothing was left out.
  std::optional<std::uint64_t> complete_to;
  std::optional<std::uint64_t> witnessed_at;  // POSIX seconds: a quorum saw the checkpoint then

  bool ok() const;
  // DESIGN section 10.1, canonical, without a newline.
  std::string json() const;
};

// Errors: those of parse_bundle(), when the bytes are no bundle. Everything else is a verdict.
// Requires: an anchor in the options.
Result<BundleVerdict> verify_bundle(std::string_view bytes, const VerifyOptions& options);

}  // namespace kernelindex
