// SPDX-License-Identifier: Apache-2.0
// Evidence bundles of the small ledger, and the ways to spoil them.
//
// A bundle that is remade has right proofs for whatever entries it is given: what an insider with
// the log could hand out. Only what it says can then show that something is wrong.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ledger/attest.h"
#include "tests/verify/ledger_fixture.h"
#include "verify/bundle.h"
#include "verify/bundle_format.h"
#include "verify/bundle_writer.h"

namespace kernelindex::test {

class BundleFixture {
 public:
  const LedgerFixture& ledger() const { return ledger_; }
  LedgerFixture& ledger() { return ledger_; }
  const SmallRecords& records() const { return ledger_.records(); }
  const Digest& run() const { return records().run.identity; }

  // Records what is said with the key of a role. Throws when it is refused.
  Attested say(const Digest& subject, const Predicate& predicate, Role role);

  // The bundle of a run at the head, by default with a status.
  std::string bundle(const Digest& run, bool with_status = true) const;
  std::string bundle() const { return bundle(run()); }
  SignedCheckpoint checkpoint() const;

  // The ledger id is pinned.
  VerifyOptions pinned() const;
  BundleVerdict verify(std::string_view bytes) const { return verify(bytes, pinned()); }
  BundleVerdict verify(std::string_view bytes, const VerifyOptions& options) const;

  // A bundle read, changed and written again.
  std::string edit(std::string_view bytes, const std::function<void(Bundle&)>& change) const;
  // Makes the proofs for the entries that stand in it, and for the objects that they name.
  void remake(Bundle& bundle) const;
  // A status as a signer would make it, by any key.
  std::string status(const Digest& run, const StatusStatement& says, const SigningKey& key) const;
  // What the status in a bundle says.
  static StatusStatement status_of(const Bundle& bundle);

 private:
  LedgerFixture ledger_;
};

// The line of a verdict. Throws when it has none of that name.
const BundleCheck& line(const BundleVerdict& verdict, std::string_view check);
// "inclusion ROOT_MISMATCH": the first line that is false; "true" when none is.
std::string first_false(const BundleVerdict& verdict);

}  // namespace kernelindex::test
