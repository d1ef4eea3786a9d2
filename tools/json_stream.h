// SPDX-License-Identifier: Apache-2.0
// A list that may be long, written item by item: one document a line with --jsonl, one document
// that holds them all with --json.
#pragma once

#include <string_view>

#include "schema/json_value.h"
#include "tools/output.h"

namespace kernelindex::tools {

class JsonStream {
 public:
  // `name`: the member that holds the list in the one document. Writes nothing for people.
  JsonStream(Output& out, std::string_view name);
  void item(const json::Value& value);
  // Ends the document. `members`: what stands beside the list, an object without a member `name`;
  // with --jsonl it is left out.
  void finish(const json::Value& members);

 private:
  Output& out_;
  bool first_ = true;
};

}  // namespace kernelindex::tools
