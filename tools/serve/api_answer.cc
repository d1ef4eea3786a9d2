// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/api_answer.h"

#include "schema/canonical_json.h"

namespace kernelindex::serve {

Response open_answer(Response response) {
  response.headers.push_back({"Access-Control-Allow-Origin", "*"});
  return response;
}

Response json_answer(const json::Value& document, CachePolicy cache) {
  return open_answer(answer(json::canonical(document), kJson, cache));
}

bool wants_lines(const Request& request) {
  return request.text("format") == "jsonl" || accepts(request.accept, kJsonLines);
}

Response lines_answer(std::function<Result<bool>(std::string& lines)> page) {
  Response response;
  response.content_type = kJsonLines;
  response.cache = CachePolicy::no_store;
  response.source = [page = std::move(page), more = true]() mutable -> Result<std::string> {
    std::string lines;
    // An empty piece would end the body.
    while (more && lines.empty()) {
      const Result<bool> follows = page(lines);
      if (!follows) return fail(follows.error());
      more = *follows;
    }
    return lines;
  };
  return open_answer(std::move(response));
}

void append_line(const json::Value& value, std::string& lines) {
  json::append_canonical(value, lines);
  lines += '\n';
}

std::string id_of_segments(std::span<const std::string_view> segments) {
  std::string id;
  for (const std::string_view segment : segments) {
    if (!id.empty()) id += '/';
    id += segment;
  }
  return id;
}

Result<Candidate> find_manifest_of(const Site& site, const std::string& id,
                                   std::optional<ManifestKind> kind) {
  return identify(site.reader, id, {Named::manifest}, kind);
}

}  // namespace kernelindex::serve
