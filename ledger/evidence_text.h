// SPDX-License-Identifier: Apache-2.0
// The reasons of evidence levels in words: what each says, and what would lift the level.
#pragma once

#include <string_view>

#include "ledger/evidence_policy.h"

namespace kernelindex {

struct ReasonText {
  std::string_view means;   // a sentence without its period
  std::string_view needed;  // what the next level needs; empty when the reason holds nothing back
};

ReasonText reason_text(LevelReason reason);

// What a level says, in one sentence without its period.
std::string_view level_text(Level level);

}  // namespace kernelindex
