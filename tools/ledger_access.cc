// SPDX-License-Identifier: Apache-2.0
#include "tools/ledger_access.h"

#include "tools/display_text.h"
#include "tools/input_file.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kPassphraseBytes = 1024;

}  // namespace

Result<LedgerOptions> ledger_options(const Session& session) {
  LedgerOptions options;
  options.directory = session.ledger_path();
  options.keys = session.keys_path();
  if (session.fixed_now()) options.clock = fixed_clock(*session.fixed_now());
  if (session.passphrase_file()) {
    Result<std::string> text = read_input(session.passphrase_file()->string(), kPassphraseBytes);
    if (!text) return fail(text.error());
    options.passphrase = text->substr(0, text->find_first_of("\r\n"));
    wipe(*text);
    if (options.passphrase.empty()) {
      return fail(ErrorKind::invalid, "NO_PASSPHRASE", session.passphrase_file()->string(),
                  "the first line of the passphrase file is empty");
    }
  }
  return options;
}

Result<std::unique_ptr<Ledger>> open_ledger(const Session& session, Access access) {
  Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  options->read_only = access != Access::write;
  Result<std::unique_ptr<Ledger>> ledger = Ledger::open(*options);
  if (!ledger) {
    Error error = ledger.error();
    if (error.code == "NO_LEDGER" && error.remedy.empty()) {
      error.remedy = "Make one with 'kernelindex init', or name another with --ledger";
    }
    return fail(std::move(error));
  }
  if (const auto& reason = (*ledger)->read_only_reason()) {
    session.note("kernelindex: this ledger can only be read: " + escape_text(reason->message) +
                 " (" + reason->code + ")");
  }
  if (access == Access::query && (*ledger)->derived_fault()) {
    Error error = *(*ledger)->derived_fault();
    if (error.remedy.empty()) error.remedy = "The log is readable; 'kernelindex reindex' cures it";
    return fail(std::move(error));
  }
  return ledger;
}

}  // namespace kernelindex::tools
