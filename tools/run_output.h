// SPDX-License-Identifier: Apache-2.0
// Runs and records as machine output and as words. DESIGN section 10.1.
#pragma once

#include <string>
#include <vector>

#include "ledger/query.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

// RFC 3339, milliseconds unless there is more.
std::string time_text(UtcMicros time);
// "2026-06-29".
std::string day_text(UtcMicros time);

std::vector<std::string_view> level_reasons(const Evidence& evidence);

// The value with its unit for people; "-" when there is none.
std::string value_text(const RunRow& row);

// Members that every listing of a run has.
json::ObjectBuilder& add_run(json::ObjectBuilder& object, const JsonOutput& json,
                             const RunView& run);
// One run of a list, with what it is a run of.
json::Value run_document(const JsonOutput& json, const RunView& run);
json::Value hit_document(const JsonOutput& json, const SearchHit& hit);
json::Value record_document(const JsonOutput& json, const RecordView& record);
// {size, root}
json::Value head_document(const JsonOutput& json, const TreeHead& head);

// The implementation's name, else the run's, without the operation's name at its end: a heading or
// another column says that already.
std::string_view implementation_text(const RunRow& row);
// A name without " · NAME" or ": NAME" at its end.
std::string_view without_ending(std::string_view text, std::string_view name);

// An external id without its source, "submission/15866"; empty when there is none.
std::string_view short_external_id(const RunRow& row);

}  // namespace kernelindex::tools
