// SPDX-License-Identifier: Apache-2.0
// What answers of the API have in common.
#pragma once

#include <functional>
#include <string>

#include "ledger/identify.h"
#include "schema/json_value.h"
#include "tools/json_output.h"
#include "tools/serve/request.h"
#include "tools/serve/response.h"
#include "tools/serve/router.h"

namespace kernelindex::serve {

inline constexpr std::uint64_t kListDefault = 50;
inline constexpr std::uint64_t kListMax = 1000;

// The canonical bytes of a document.
Response json_answer(const json::Value& document, CachePolicy cache = CachePolicy::revalidate);
// A body that any page may read: all of the API is public.
Response open_answer(Response response);

// ?format=jsonl, or Accept: application/jsonl.
bool wants_lines(const Request& request);

// A list as JSON lines, page by page: `page` appends lines and says whether more follow. Nothing is
// cached: the list may be as long as the log.
Response lines_answer(std::function<Result<bool>(std::string& lines)> page);
void append_line(const json::Value& value, std::string& lines);

// The segments of an id that has slashes, "sol-execbench:submission/15866", joined again.
std::string id_of_segments(std::span<const std::string_view> segments);

// What an id names, of one kind. Errors: those of identify().
Result<Candidate> find_manifest_of(const Site& site, const std::string& id,
                                   std::optional<ManifestKind> kind = std::nullopt);

}  // namespace kernelindex::serve
