// SPDX-License-Identifier: Apache-2.0
// Statements of the root: signed and recorded here, or written for whoever holds the root key.
//
// With --unsigned FILE no key is needed. FILE gets the payload that is to be signed; `kernelindex
// key sign` signs it where the root key is, and `kernelindex attest --envelope` records the result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/attest.h"
#include "ledger/key_file.h"
#include "ledger/ledger.h"
#include "schema/result.h"
#include "tools/session.h"
#include "tools/signing.h"

namespace kernelindex::tools {

inline constexpr OptionSpec kUnsignedOption = {
    .name = "--unsigned",
    .value = "FILE",
    .help = "sign nothing: write the statement to FILE, for `key sign` where the root key is kept",
    .kind = ValueKind::output};

class RootDesk {
 public:
  // Requires: the verb has kKeyOption and kUnsignedOption. Errors: both of them given (usage),
  // those of signing_key() and open_ledger().
  static Result<RootDesk> open(const Session& session, const Arguments& arguments);

  Ledger& ledger() { return *ledger_; }
  // Null with --unsigned.
  const SigningKey* key() const { return key_ ? &key_->key : nullptr; }

  // Records what is said, or writes it, and tells which. `what` reads "enrolment of".
  Result<ExitCode> say(Session& session, std::string_view what, const Saying& saying);
  // The second alone. Requires: --unsigned was given.
  Result<ExitCode> write_unsigned(Session& session, const Saying& saying);

 private:
  std::unique_ptr<Ledger> ledger_;
  std::optional<KeyFile> key_;
  std::string unsigned_file_;
};

}  // namespace kernelindex::tools
