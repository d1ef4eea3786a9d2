// SPDX-License-Identifier: Apache-2.0
// Every small way to spoil the predicate of an attestation, systematically.
#pragma once

#include <string>
#include <vector>

#include "ledger/predicates.h"

namespace kernelindex::test {

struct Mutation {
  enum class Kind {
    missing,   // a member is left out
    unknown,   // an object has one member more
    type,      // a value is of another JSON type
    text,      // a text is empty, endless, has a control character or a newline at its end
    number,    // a number is negative, no integer or above 2^53 - 1
    repeated,  // the first item of a list stands there twice
    reversed,  // a list of two or more is turned round
  };
  Kind kind{};
  std::string path;       // of what was changed, "predicate.seen.root"
  std::string predicate;  // the spoilt predicate in canonical JSON
  std::string payload;    // the whole statement around it
};

// "missing predicate.reason".
std::string name_of(const Mutation& mutation);

std::vector<Mutation> mutations_of(const Attestation& attestation);

// The member `predicate` of a payload, in canonical JSON.
std::string predicate_of(const std::string& payload);

}  // namespace kernelindex::test
