// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/lookup.h"

#include <algorithm>

#include "tools/display_text.h"
#include "tools/serve/pages/readable_name.h"

namespace kernelindex::serve {
namespace {

std::unexpected<Error> no_such(const std::string& id) {
  return fail(ErrorKind::not_found, "NO_SUCH_ID", id, "nothing in this ledger has this id",
              "Search finds by name");
}

Link link_of(const Candidate& candidate) {
  if (candidate.what == Named::comparison_key) return group_link(candidate.digest);
  return manifest_link(candidate.kind.value_or(ManifestKind::benchmark_run), candidate.digest);
}

Response choice(const Site& site, const std::string& id, const std::vector<Candidate>& found) {
  Response response =
      page_response(site, {"Which one?", Part::none, std::nullopt}, [&](Html& html) {
        {
          const Html::Element head = html.in("div", {{"class", "page-head"}});
          html.add("h1", "Which one?");
          const Html::Element lead = html.in("p", {{"class", "lead"}});
          html.name(id).text(" is the beginning of " +
                             (found.size() >= kCandidatesShown
                                  ? "at least " + tools::counted(found.size(), "id")
                                  : tools::counted(found.size(), "id")) +
                             ". Nothing is chosen for you; more digits make it one.");
        }
        append_candidates(html, site, found);
      });
  response.status = 300;
  return response;
}

Response go_to(const Link& link) { return redirect(link.text()); }

Result<std::vector<Candidate>> candidates_of(const Site& site, const std::string& id) {
  return candidates(site.reader, id, kCandidatesShown);
}

}  // namespace

std::string joined_id(const Captures& captures) {
  std::string id;
  for (const std::string_view segment : captures) {
    if (!id.empty()) id += '/';
    id += segment;
  }
  return id;
}

Result<Found> find_manifest(const Site& site, const Captures& captures,
                            std::span<const ManifestKind> kinds) {
  const std::string id = joined_id(captures);
  if (const Result<Digest> digest = Digest::parse(id)) {
    const Result<std::optional<SubjectRow>> row = site.reader.subject(*digest);
    if (!row) return fail(row.error());
    if (*row && std::ranges::find(kinds, (*row)->kind) != kinds.end()) return Found(*digest);
  }
  Result<std::vector<Candidate>> found = candidates_of(site, id);
  if (!found) return fail(found.error());
  std::erase_if(*found, [&](const Candidate& candidate) {
    return candidate.what != Named::manifest || !candidate.kind ||
           std::ranges::find(kinds, *candidate.kind) == kinds.end();
  });
  if (found->empty()) return no_such(id);
  if (found->size() == 1) return Found(go_to(link_of(found->front())));
  return Found(choice(site, id, *found));
}

Result<Found> find_group(const Site& site, const Captures& captures) {
  const std::string id = joined_id(captures);
  Result<std::vector<Candidate>> found = candidates_of(site, id);
  if (!found) return fail(found.error());
  std::vector<Candidate> groups;
  for (const Candidate& candidate : *found) {
    if (candidate.what == Named::comparison_key) groups.push_back(candidate);
  }
  if (groups.size() == 1) {
    if (groups.front().digest.text() == id) return Found(groups.front().digest);
    return Found(go_to(group_link(groups.front().digest)));
  }
  if (!groups.empty()) return Found(choice(site, id, groups));
  std::vector<Candidate> runs;
  for (const Candidate& candidate : *found) {
    if (candidate.kind == ManifestKind::benchmark_run ||
        candidate.kind == ManifestKind::serving_run) {
      runs.push_back(candidate);
    }
  }
  if (runs.size() == 1) {
    const Result<RunView> run = view_run(site.reader, runs.front().digest, site.policy());
    if (!run) return fail(run.error());
    if (run->row.group) return Found(go_to(group_link(*run->row.group)));
  }
  if (runs.size() > 1) return Found(choice(site, id, runs));
  return no_such(id);
}

void append_candidates(Html& html, const Site& site, std::span<const Candidate> candidates) {
  const Html::Element list = html.in("ul", {{"class", "list"}});
  for (const Candidate& candidate : candidates) {
    const Html::Element item = html.in("li");
    {
      const Html::Element line = html.in("div", {{"class", "line"}});
      const std::string label =
          candidate.what == Named::comparison_key ? "Comparison group" : candidate.label;
      html.name_link(link_of(candidate), label.empty() ? candidate.digest.text() : label);
    }
    const Html::Element line = html.in("div", {{"class", "dots small"}});
    if (candidate.kind) html.add("span", kind_name(*candidate.kind));
    if (!candidate.external_id.empty()) {
      const Html::Element span = html.in("span");
      html.name(candidate.external_id);
    }
    const Result<std::optional<std::string>> bytes = site.reader.run_row(candidate.digest);
    if (bytes && *bytes) {
      if (const Result<RunRow> row = decode_run_row(**bytes)) {
        const Amount amount = amount_of(*row);
        html.add("span", amount.number + " " + amount.unit);
        const Html::Element span = html.in("span");
        html.name(row->hardware);
      }
    }
    html.add("span", {{"class", "mono"}}, short_digest(candidate.digest));
  }
}

}  // namespace kernelindex::serve
