// SPDX-License-Identifier: Apache-2.0
// This server as a witness of other logs (C2SP tlog-witness):
//
//   POST /add-checkpoint                             cosigns what continues the last one
//   GET  /<lower hex of SHA-256(origin)>/checkpoint  the newest one cosigned of a log
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ledger/note.h"
#include "ledger/signing_key.h"
#include "ledger/witness.h"
#include "tools/serve/router.h"

namespace kernelindex::serve {

// Whose checkpoints are cosigned, and how. Shared by the routes; safe to use from several threads.
struct WitnessDesk {
  std::string name;                   // of the cosignatures
  SigningKey key;                     // for this name alone
  std::vector<VerifierKey> log_keys;  // fewer than 64 of one origin
  std::unique_ptr<WitnessState> state;
  std::function<std::uint64_t()> now;  // POSIX seconds, above 0
};

void register_witness(Router& router, std::shared_ptr<WitnessDesk> desk);

}  // namespace kernelindex::serve
