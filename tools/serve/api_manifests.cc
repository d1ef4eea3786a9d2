// SPDX-License-Identifier: Apache-2.0
// /api/v1: manifests of all kinds, lists of them, and searches.
#include "ingest/catalog_export.h"
#include "ledger/search_index.h"
#include "tools/manifest_output.h"
#include "tools/provenance_output.h"
#include "tools/run_comparison.h"
#include "tools/run_output.h"
#include "tools/serve/api.h"
#include "tools/serve/api_answer.h"
#include "tools/serve/object_source.h"

namespace kernelindex::serve {
namespace {

using tools::JsonOutput;

Response hit_list(const Site& site, const char* name, std::span<const SearchHit* const> hits,
                  const SearchHit* next) {
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> items;
  for (const SearchHit* hit : hits) items.push_back(tools::hit_document(json, *hit));
  return json_answer(json.object()
                         .add(name, json.array(items))
                         .add("cursor", next == nullptr ? json::Value() : json.digest(next->digest))
                         .add("asOf", tools::head_document(json, site.reader.head()))
                         .finish());
}

// Manifests of one kind in the order of the log, which only grows at its end: a cursor is the
// digest of the last one and stays good.
Result<Response> list(const Site& site, const Request& request, const char* name,
                      ManifestKind kind) {
  const Result<const SearchIndex*> index = site.manifests.get();
  if (!index) return fail(index.error());
  const Result<std::uint64_t> limit = request.count("limit", kListDefault, kListMax);
  if (!limit) return fail(limit.error());
  const bool lines = wants_lines(request);
  const std::size_t most = lines ? (*index)->manifests().size()
                                 : static_cast<std::size_t>(std::max<std::uint64_t>(1, *limit));
  const std::string_view cursor = request.text("cursor");
  bool begun = cursor.empty();
  std::vector<const SearchHit*> hits;
  bool more = false;
  for (const SearchHit& hit : (*index)->manifests()) {
    if (hit.kind != kind) continue;
    if (!begun) {
      begun = hit.digest.text() == cursor;
      continue;
    }
    if (hits.size() == most) {
      more = true;
      break;
    }
    hits.push_back(&hit);
  }
  if (!begun) {
    return fail(ErrorKind::invalid, "BAD_CURSOR", "", "the cursor is not one that this list gave",
                "start again without a cursor");
  }
  if (!lines) return hit_list(site, name, hits, more ? hits.back() : nullptr);
  std::string body;
  for (const SearchHit* hit : hits) {
    json::Arena arena;
    append_line(tools::hit_document(JsonOutput(arena), *hit), body);
  }
  return open_answer(answer(std::move(body), kJsonLines));
}

Result<Response> manifest(const Site& site, const Captures& captures,
                          std::optional<ManifestKind> kind) {
  const std::string_view last = captures.back();
  const bool provenance = captures.size() > 1 && last == "provenance";
  const std::span<const std::string_view> id(captures.begin(),
                                             captures.size() - (provenance ? 1 : 0));
  const Result<Candidate> found = find_manifest_of(site, id_of_segments(id), kind);
  if (!found) return fail(found.error());
  json::Arena arena;
  const JsonOutput json(arena);
  if (provenance) {
    const Result<tools::ProvenanceStory> story = tools::tell_provenance(site.reader, *found);
    if (!story) return fail(story.error());
    return json_answer(tools::provenance_document(json, site.reader, *story));
  }
  const Result<tools::ShownFacts> shown = tools::look_up_manifest(site.reader, *found);
  if (!shown) return fail(shown.error());
  const Result<json::Value> parsed = tools::parse_shown(*shown, arena);
  if (!parsed) return fail(parsed.error());
  return json_answer(tools::manifest_answer(json, *shown, *parsed));
}

Handler of_kind(std::optional<ManifestKind> kind) {
  return [kind](const Site& site, const Request&, const Captures& captures) {
    return manifest(site, captures, kind);
  };
}

Handler list_of(const char* name, ManifestKind kind) {
  return [name, kind](const Site& site, const Request& request, const Captures&) {
    return list(site, request, name, kind);
  };
}

// The bytes of a document under their own digest: the one address of a manifest that never changes.
Result<Response> document(const Site& site, const Request&, const Captures& captures) {
  const Result<Digest> digest = Digest::parse(captures.front());
  if (!digest) return fail(digest.error());
  const Result<std::vector<Candidate>> named = candidates(site.reader, digest->text());
  if (!named) return fail(named.error());
  // Other objects are no JSON, or no documents: /object has them.
  for (const Candidate& candidate : *named) {
    if (candidate.what != Named::manifest || candidate.document != *digest) continue;
    Result<std::optional<Response>> response = object_answer(site.reader, *digest, kJson);
    if (!response) return fail(response.error());
    if (*response) return open_answer(std::move(**response));
  }
  return fail(ErrorKind::not_found, "NO_SUCH_DOCUMENT", digest->text(),
              "no manifest document with this digest is held",
              "/api/v1/manifests/ID lists the documents of a manifest");
}

Result<Response> search(const Site& site, const Request& request, const Captures&) {
  const Result<const SearchIndex*> index = site.manifests.get();
  if (!index) return fail(index.error());
  constexpr std::uint64_t kSearchDefault = 20;
  const Result<std::uint64_t> limit = request.count("limit", kSearchDefault, kListMax);
  if (!limit) return fail(limit.error());
  const Result<std::vector<const SearchHit*>> hits = (*index)->find(
      request.text("q"), static_cast<std::size_t>(std::max<std::uint64_t>(1, *limit)));
  if (!hits) return fail(hits.error());
  return hit_list(site, "hits", *hits, nullptr);
}

Result<Response> compare(const Site& site, const Request& request, const Captures&) {
  std::vector<Digest> runs;
  for (const std::string_view id : request.all("run")) {
    if (runs.size() > tools::kComparedRunsMax) break;
    const Result<Candidate> found = find_manifest_of(site, std::string(id));
    if (!found) return fail(found.error());
    runs.push_back(found->digest);
  }
  const Result<tools::RunComparison> comparison =
      tools::compare_runs(site.reader, runs, site.policy());
  if (!comparison) return fail(comparison.error());
  json::Arena arena;
  return json_answer(tools::comparison_document(JsonOutput(arena), *comparison));
}

// The whole ledger in the rows of a catalog, made as they are sent.
Result<Response> catalog(const Site& site, const Request&, const Captures&) {
  Result<ingest::CatalogExport> started = ingest::CatalogExport::start(site.reader);
  if (!started) return fail(started.error());
  auto rows = std::make_shared<ingest::CatalogExport>(std::move(*started));
  return lines_answer([rows](std::string& lines) { return rows->next(lines); });
}

}  // namespace

void register_api_manifests(Router& router) {
  router.get("/api/v1/catalog", catalog);
  router.get("/api/v1/operations", list_of("operations", ManifestKind::operation_spec));
  router.get("/api/v1/operations/{id...}", of_kind(ManifestKind::operation_spec));
  router.get("/api/v1/implementations",
             list_of("implementations", ManifestKind::implementation_revision));
  router.get("/api/v1/implementations/{id...}", of_kind(ManifestKind::implementation_revision));
  router.get("/api/v1/manifests/{id...}", of_kind(std::nullopt));
  router.get("/api/v1/documents/{digest}", document);
  router.get("/api/v1/search", search);
  router.get("/api/v1/compare", compare);
}

}  // namespace kernelindex::serve
