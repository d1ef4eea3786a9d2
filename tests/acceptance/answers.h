// SPDX-License-Identifier: Apache-2.0
// What a ledger answers through the program, kept so that two states of it can be compared.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/json_reader.h"
#include "tests/acceptance/room.h"

namespace kernelindex::test {

// By command, standard output word for word.
using Answers = std::map<std::string, std::string>;

// Runs each command with --json and expects that it succeeds.
Answers ask(const Room& room, const std::vector<std::vector<std::string>>& commands);
// Every kind of question: status, runs, serving runs, records under both policies, search, and for
// each id history, show and provenance.
std::vector<std::vector<std::string>> all_questions(const std::vector<std::string>& ids);

// The first command whose answers differ, with both; empty when there is none.
std::string difference(const Answers& a, const Answers& b);

// A document in canonical form without the members of these names at any depth, and with arrays in
// the order of their items' texts: what must be equal when only the order of arrival differs.
std::string without(std::string_view document, const std::set<std::string_view>& names);

// One document, which lives as long as this object.
class Document {
 public:
  explicit Document(std::string_view text);
  const json::Value& operator*() const { return value_; }
  const json::Value* operator->() const { return &value_; }

 private:
  json::Arena arena_;
  json::Value value_;
};

}  // namespace kernelindex::test
