// SPDX-License-Identifier: Apache-2.0
// Putting manifests together: the envelope that every kind has, and values that are built from
// texts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/token_map.h"
#include "schema/json_value.h"
#include "schema/manifest.h"

namespace kernelindex::ingest {

// {apiVersion, kind, metadata, spec}; make_manifest() makes a manifest of it.
json::Value manifest_document(ManifestKind kind, json::Value metadata, json::Value spec,
                              json::Arena& arena);

// {"name": name}, and with a title {"name": name, "title": title}.
json::Value named(std::string_view name, std::string_view title, json::Arena& arena);

// {vendor, product, architecture}
json::Value hardware_value(const Hardware& hardware, json::Arena& arena);

// A list of texts, copied.
json::Value text_list(std::initializer_list<std::string_view> texts, json::Arena& arena);

// What a submission to a leaderboard is, before anything is known of its source: its version, the
// operation, its language, and the one device and the argument types that it was made for.
struct SubmissionParts {
  std::int64_t id = 0;
  Digest operation;
  std::string_view language;
  const Hardware& hardware;
  std::vector<json::Value> dtypes;  // of the inputs, in order; repeats are left to the schema
};
// The spec of its ImplementationRevision, to which a source may add; `licensing` stands in it
// empty.
json::ObjectBuilder submission_spec(const SubmissionParts& parts, json::Arena& arena);

}  // namespace kernelindex::ingest
