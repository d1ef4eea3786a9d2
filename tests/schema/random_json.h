// SPDX-License-Identifier: Apache-2.0
// Random JSON values for property tests: any depth that is allowed, names and texts with escapes,
// control characters and characters on both sides of the surrogates, doubles of all magnitudes.
#pragma once

#include <random>

#include "schema/json_value.h"

namespace kernelindex::test {

json::Value random_json(std::mt19937_64& random, json::Arena& arena, unsigned depth = 6);

// Any finite double, every exponent as likely as another.
double random_double(std::mt19937_64& random);

}  // namespace kernelindex::test
