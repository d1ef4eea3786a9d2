// SPDX-License-Identifier: Apache-2.0
// /api/v1: runs, their evidence, groups, records.
#include "ledger/query.h"
#include "tools/evidence_output.h"
#include "tools/group_output.h"
#include "tools/manifest_output.h"
#include "tools/provenance_output.h"
#include "tools/run_filter.h"
#include "tools/run_output.h"
#include "tools/serve/api.h"
#include "tools/serve/api_answer.h"
#include "verify/bundle_writer.h"

namespace kernelindex::serve {
namespace {

using tools::JsonOutput;

constexpr std::size_t kPieceRuns = 250;  // of a list as JSON lines

Result<RunFilter> filter_of(const Site& site, const Request& request) {
  Result<RunFilter> filter = tools::read_filter(
      site.reader, [&](std::string_view name) { return std::string(request.text(name)); }, "");
  if (!filter) return filter;
  filter->serving = request.text("serving") == "true";
  filter->cursor = request.text("cursor");
  return filter;
}

// What every judged answer says of how it was judged.
void add_policy(json::ObjectBuilder& object, const JsonOutput& json, const Site& site) {
  object.add("policy", policy_name(site.options.ranking))
      .add("evidencePolicy", kEvidencePolicy)
      .add("trust", kOwnTrust)
      .add("asOf", tools::head_document(json, site.reader.head()));
}

Result<Response> run_lines(const Site& site, RunFilter filter) {
  // Asked once before the first byte is sent, so that a wrong cursor is a problem and no cut list.
  filter.limit = 1;
  if (const Result<RunPage> probe = list_runs(site.reader, filter, site.policy()); !probe) {
    return fail(probe.error());
  }
  filter.limit = kPieceRuns;
  return lines_answer(
      [&site, filter = std::move(filter)](std::string& lines) mutable -> Result<bool> {
        const Result<RunPage> page = list_runs(site.reader, filter, site.policy());
        if (!page) return fail(page.error());
        for (const RunView& run : page->runs) {
          json::Arena arena;
          append_line(tools::run_document(JsonOutput(arena), run), lines);
        }
        filter.cursor = page->next;
        return !page->next.empty();
      });
}

Result<Response> runs(const Site& site, const Request& request, const Captures&) {
  Result<RunFilter> filter = filter_of(site, request);
  if (!filter) return fail(filter.error());
  if (wants_lines(request)) return run_lines(site, std::move(*filter));
  const Result<std::uint64_t> limit = request.count("limit", kListDefault, kListMax);
  if (!limit) return fail(limit.error());
  // 0 would be all of them.
  filter->limit = std::max<std::uint64_t>(1, *limit);
  const Result<RunPage> page = list_runs(site.reader, *filter, site.policy());
  if (!page) return fail(page.error());
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> items;
  for (const RunView& run : page->runs) items.push_back(tools::run_document(json, run));
  json::ObjectBuilder document = json.object();
  document.add("runs", json.array(items))
      .add("cursor", page->next.empty() ? json::Value() : json.text(page->next));
  add_policy(document, json, site);
  return json_answer(document.finish());
}

bool is_run(const Candidate& found) {
  return found.kind == ManifestKind::benchmark_run || found.kind == ManifestKind::serving_run;
}

Result<Candidate> find_run(const Site& site, const std::string& id) {
  Result<Candidate> found = find_manifest_of(site, id);
  if (!found || is_run(*found)) return found;
  return fail(ErrorKind::not_found, "NOT_A_RUN", id, "this is no run",
              "/api/v1/manifests has manifests of all kinds");
}

Result<Response> run_itself(const Site& site, const Candidate& found) {
  const Result<tools::ShownFacts> shown = tools::look_up_manifest(site.reader, found);
  if (!shown) return fail(shown.error());
  const Result<RunView> run = view_run(site.reader, found.digest, site.policy());
  if (!run) return fail(run.error());
  json::Arena arena;
  const JsonOutput json(arena);
  const Result<json::Value> manifest = tools::parse_shown(*shown, arena);
  if (!manifest) return fail(manifest.error());
  json::ObjectBuilder document = json.object();
  const json::Value listed = tools::run_document(json, *run);
  for (const json::Member& member : listed.object()) document.add(member.name, member.value);
  const json::Value told = tools::manifest_answer(json, *shown, *manifest);
  for (const json::Member& member : told.object()) {
    if (listed.find(member.name) == nullptr) document.add(member.name, member.value);
  }
  document.add("eligible", json::Value(run->eligible()))
      .add("index", json.count(run->row.index))
      .add("recordedAt", json.text(tools::time_text(run->row.recorded_at)));
  add_policy(document, json, site);
  return json_answer(document.finish());
}

Result<Response> run_evidence(const Site& site, const Candidate& found) {
  const Result<tools::EvidenceFacts> facts =
      tools::gather_evidence(site.reader, found.digest, site.policy());
  if (!facts) return fail(facts.error());
  json::Arena arena;
  return json_answer(tools::evidence_document(JsonOutput(arena), *facts));
}

Result<Response> run_provenance(const Site& site, const Candidate& found) {
  const Result<tools::ProvenanceStory> story = tools::tell_provenance(site.reader, found);
  if (!story) return fail(story.error());
  json::Arena arena;
  return json_answer(tools::provenance_document(JsonOutput(arena), site.reader, *story));
}

Result<Response> run_bundle(const Site& site, const Candidate& found,
                            const SigningKey* status_key) {
  if (site.checkpoint == nullptr) {
    return fail(ErrorKind::not_found, "NO_CHECKPOINT", "",
                "no checkpoint of this log was released yet, and a bundle proves against one");
  }
  Result<std::string> bundle = make_bundle(site.reader, found.digest, *site.checkpoint, status_key);
  if (!bundle) return fail(bundle.error());
  Response response = open_answer(answer(std::move(*bundle), kJson));
  const std::string name = found.digest.hex().substr(0, 12);
  response.headers.push_back(
      {"Content-Disposition", "attachment; filename=\"" + name + ".bundle.json\""});
  // Without a status nobody says that nothing was left out.
  response.headers.push_back({"KernelIndex-Status", status_key != nullptr ? "signed" : "none"});
  return response;
}

Result<Response> group(const Site& site, const Request&, const Captures& captures) {
  const Result<Digest> key = tools::identify_group(site.reader, id_of_segments(captures));
  if (!key) return fail(key.error());
  const Result<History> found = history(site.reader, *key, site.policy());
  if (!found) return fail(found.error());
  json::Arena arena;
  return json_answer(tools::group_document(JsonOutput(arena), *found));
}

Result<Response> records(const Site& site, const Request& request, const Captures&) {
  Result<RunFilter> filter = filter_of(site, request);
  if (!filter) return fail(filter.error());
  const bool lines = wants_lines(request);
  const Result<std::uint64_t> limit = request.count("limit", kListDefault, kListMax);
  if (!limit) return fail(limit.error());
  filter->limit = lines ? 0 : std::max<std::uint64_t>(1, *limit);
  const Result<std::vector<RecordView>> moves = list_records(site.reader, *filter, site.policy());
  if (!moves) return fail(moves.error());
  json::Arena arena;
  const JsonOutput json(arena);
  if (lines) {
    std::string body;
    for (const RecordView& move : *moves) append_line(tools::record_document(json, move), body);
    return open_answer(answer(std::move(body), kJsonLines));
  }
  std::vector<json::Value> items;
  for (const RecordView& move : *moves) items.push_back(tools::record_document(json, move));
  json::ObjectBuilder document = json.object();
  document.add("records", json.array(items));
  add_policy(document, json, site);
  return json_answer(document.finish());
}

}  // namespace

void register_api_runs(Router& router, const ApiOptions& options) {
  router.get("/api/v1/runs", runs);
  router.get("/api/v1/runs/{id...}",
             [key = options.status_key](const Site& site, const Request&,
                                        const Captures& captures) -> Result<Response> {
               // An id may have slashes; what is asked of it stands last.
               const std::string_view last = captures.back();
               const bool part = captures.size() > 1 &&
                                 (last == "evidence" || last == "provenance" || last == "bundle");
               const std::span<const std::string_view> id(captures.begin(),
                                                          captures.size() - (part ? 1 : 0));
               const Result<Candidate> found = find_run(site, id_of_segments(id));
               if (!found) return fail(found.error());
               if (!part) return run_itself(site, *found);
               if (last == "evidence") return run_evidence(site, *found);
               if (last == "provenance") return run_provenance(site, *found);
               return run_bundle(site, *found, key);
             });
  router.get("/api/v1/groups/{key...}", group);
  router.get("/api/v1/records", records);
}

}  // namespace kernelindex::serve
