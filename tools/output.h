// SPDX-License-Identifier: Apache-2.0
// Standard output: text for people or canonical JSON for programs, and whether it arrived.
#pragma once

#include <string>
#include <string_view>

#include "schema/json_value.h"
#include "schema/result.h"
#include "tools/terminal.h"

namespace kernelindex::tools {

enum class OutputForm {
  text,   // readable tables
  json,   // one document
  jsonl,  // one document a line
};

// Collects what a verb says and writes it in blocks, in order. Not for sharing between threads.
class Output {
 public:
  Output(int descriptor, OutputForm form);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  bool for_people() const { return form_ == OutputForm::text; }
  OutputForm form() const { return form_; }
  const Terminal& terminal() const { return terminal_; }

  // As it is: bytes of a document, or text whose outside parts are already escaped.
  void write(std::string_view bytes);
  // One JSON document in canonical form, and a newline.
  void document(const json::Value& value);

  // Writes what is left. The first failure of any write is the error: a full disk behind a
  // redirection must not look like success.
  Status flush();

 private:
  void drain();

  int descriptor_;
  OutputForm form_;
  Terminal terminal_;
  std::string pending_;
  int error_ = 0;  // errno of the first failed write
};

}  // namespace kernelindex::tools
