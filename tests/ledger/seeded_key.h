// SPDX-License-Identifier: Apache-2.0
// Keys that are the same in every run; the letter chooses one.
#pragma once

#include <string>

#include "ledger/signing_key.h"

namespace kernelindex::test {

inline SigningKey seeded(char letter) {
  return SigningKey::from_seed(std::string(32, letter)).value();
}

}  // namespace kernelindex::test
