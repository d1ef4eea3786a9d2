// SPDX-License-Identifier: Apache-2.0
// What every verb is given beside its own arguments: where the ledger lies, which clock to use, and
// where to say things.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "schema/result.h"
#include "schema/utc_time.h"
#include "tools/output.h"
#include "tools/verb.h"

namespace kernelindex::tools {

class Session {
 public:
  // Reads the common options and the environment; opens nothing. An instant that is none, or --json
  // together with --jsonl, is a usage error.
  static Result<Session> start(const Arguments& common);
  Session(Session&&) = default;

  Output& out() { return *out_; }
  bool quiet() const { return quiet_; }

  // --ledger, $KERNELINDEX_LEDGER, or ./kernelindex.ledger.
  const std::filesystem::path& ledger_path() const { return ledger_path_; }
  // --keys, or the ledger's own `keys`.
  std::filesystem::path keys_path() const;
  const std::optional<std::filesystem::path>& passphrase_file() const { return passphrase_file_; }

  // The fixed clock of --now or $KERNELINDEX_NOW.
  const std::optional<UtcMicros>& fixed_now() const { return fixed_now_; }
  // The fixed clock, else the system's.
  UtcMicros now() const;

  // One line on standard error, for people; outside text in it must be escaped. Silent with
  // --quiet.
  void note(std::string_view line) const;

 private:
  Session() = default;

  std::unique_ptr<Output> out_;
  bool quiet_ = false;
  std::filesystem::path ledger_path_;
  std::optional<std::filesystem::path> keys_path_;
  std::optional<std::filesystem::path> passphrase_file_;
  std::optional<UtcMicros> fixed_now_;
};

}  // namespace kernelindex::tools
