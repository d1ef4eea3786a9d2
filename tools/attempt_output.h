// SPDX-License-Identifier: Apache-2.0
// Measurement jobs and what became of them, as JSON and as words.
#pragma once

#include <string>
#include <vector>

#include "ledger/controlled_attempts.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

// "open", "expired", "answered", "accepted".
std::string_view job_state(const ControlledJob& job);

// The verdict that counts for a level, as a word: that of the last acceptance when the judgement
// agrees, else "refused"; empty while there is none.
std::string_view job_verdict(const ControlledJob& job);

// "confirms: 59.9 µs [59.8, 60.1] against 59.8 µs reported, ratio 1.002; confirming band [53.8,
// 65.8] µs". Empty when no numbers were compared.
std::string comparison_text(const JudgedResult& judged);

json::Value judged_document(const JsonOutput& json, const JudgedResult& judged);
json::Value job_value(const JsonOutput& json, const ControlledJob& job);
json::Value jobs_value(const JsonOutput& json, const std::vector<ControlledJob>& jobs);

// Lines for people: the first says job, owner and state, the others what was found. Unescaped.
std::vector<std::string> job_lines(const ControlledJob& job);

}  // namespace kernelindex::tools
