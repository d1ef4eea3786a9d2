// SPDX-License-Identifier: Apache-2.0
#include "tools/json_stream.h"

#include <string>

#include "schema/canonical_json.h"

namespace kernelindex::tools {

JsonStream::JsonStream(Output& out, std::string_view name) : out_(out) {
  if (out_.form() != OutputForm::json) return;
  std::string text = "{";
  json::append_string(name, text);
  out_.write(text + ":[");
}

void JsonStream::item(const json::Value& value) {
  if (out_.form() == OutputForm::jsonl) out_.document(value);
  if (out_.form() != OutputForm::json) return;
  if (!first_) out_.write(",");
  first_ = false;
  out_.write(json::canonical(value));
}

void JsonStream::finish(const json::Value& members) {
  if (out_.form() != OutputForm::json) return;
  std::string text = "]";
  for (const json::Member& member : members.object()) {
    text += ',';
    json::append_string(member.name, text);
    text += ':';
    json::append_canonical(member.value, text);
  }
  out_.write(text + "}\n");
}

}  // namespace kernelindex::tools
