// SPDX-License-Identifier: Apache-2.0
#include "tools/manifest_output.h"

#include <vector>

#include "schema/json_reader.h"

namespace kernelindex::tools {

Result<ShownFacts> look_up_manifest(const Reader& reader, const Candidate& found) {
  Result<ShownManifest> manifest = show_manifest(reader, found.digest, found.document);
  if (!manifest) return fail(manifest.error());
  ShownFacts shown{std::move(*manifest), found.label, std::nullopt};
  const ManifestKind kind = shown.manifest.kind;
  if (kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run) {
    const Result<RunView> run = view_run(reader, found.digest);
    if (!run) return fail(run.error());
    shown.evidence = run->evidence;
  }
  return shown;
}

Result<json::Value> parse_shown(const ShownFacts& shown, json::Arena& arena) {
  if (shown.manifest.bytes.empty()) return json::Value();
  Result<json::Value> parsed = json::parse(shown.manifest.bytes, arena);
  if (!parsed) return fail_in(shown.manifest.identity.text(), parsed.error());
  return parsed;
}

json::Value manifest_answer(const JsonOutput& json, const ShownFacts& shown,
                            const json::Value& manifest) {
  std::vector<json::Value> documents;
  for (const ShownManifest::Document& document : shown.manifest.documents) {
    documents.push_back(json.object()
                            .add("digest", json.digest(document.digest))
                            .add("index", json.count(document.index))
                            .add("source", document.source)
                            .finish());
  }
  std::vector<json::Value> entries;
  for (const std::uint64_t index : shown.manifest.entries) entries.push_back(json.count(index));
  const bool serving = shown.manifest.kind == ManifestKind::serving_run;
  json::ObjectBuilder value = json.object();
  value.add("digest", json.digest(shown.manifest.identity))
      .add("kind", kind_name(shown.manifest.kind))
      .add("manifest", manifest)
      .add("documents", json.array(documents))
      .add("entries", json.array(entries))
      .add("externalIds", json.texts(shown.manifest.external_ids));
  if (shown.evidence) {
    value.add(serving ? "cohortKey" : "comparisonKey", json.digest(shown.manifest.comparison_key))
        .add("level", level_name(shown.evidence->level));
  }
  if (manifest.is_null()) value.add("withheld", json::Value(true));
  return value.finish();
}

}  // namespace kernelindex::tools
