// SPDX-License-Identifier: Apache-2.0
// What a witness remembers, in files: DIR/<64 hex digits of SHA-256(origin)>, each the newest
// cosigned checkpoint of one log as a signed note, and DIR/lock.
//
// The name is the one by which a witness publishes that checkpoint (C2SP tlog-witness), so a folder
// can be served as it is. A file is replaced as ledger/file_steps.h says, under flock(2) on
// DIR/lock: of processes and threads that cross, one writes. flock belongs to the open file, so it
// is not lost when another descriptor of it is closed, as fcntl's locks are (PITFALLS 16). Files
// are read back under the witness's own cosignature: a damaged one is an error, never a log that
// was not yet seen.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "ledger/file_steps.h"
#include "ledger/witness.h"

namespace kernelindex {

class WitnessStateFile final : public WitnessState {
 public:
  // Makes the folder when it is not there. `own` is the witness's verifier key, of type 0x04.
  // Errors: those of the steps. Lends `steps`.
  static Result<WitnessStateFile> open(std::filesystem::path directory, VerifierKey own,
                                       FileSteps& steps = system_file_steps());

  // Error STATE_DAMAGED (corrupt): no checkpoint of this origin, or without our valid cosignature.
  Result<std::optional<WitnessRecord>> latest(std::string_view origin) override;
  // Errors: the same, and those of the steps and of locking (system).
  Result<bool> advance(std::string_view origin, const std::optional<TreeHead>& expected,
                       const WitnessRecord& next) override;

  // The file that keeps a log's checkpoint.
  std::filesystem::path file_of(std::string_view origin) const;

 private:
  WitnessStateFile(std::filesystem::path directory, VerifierKey own, FileSteps& steps)
      : directory_(std::move(directory)), own_(std::move(own)), steps_(&steps) {}

  std::filesystem::path directory_;
  VerifierKey own_;
  FileSteps* steps_;
};

}  // namespace kernelindex
