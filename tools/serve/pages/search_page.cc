// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "ledger/identify.h"
#include "ledger/search_index.h"
#include "tools/display_text.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kPageHits = 50;
constexpr std::size_t kTextBytes = 200;

// What has the text as its id, or the beginning of one; nothing for a text that is no form of an
// id.
std::vector<Candidate> by_id(const Site& site, const std::string& text) {
  constexpr std::size_t kMost = 5;
  Result<std::vector<Candidate>> found = candidates(site.reader, text, kMost);
  if (!found) return {};
  // Many are better listed among the hits, page by page.
  if (found->size() == kMost) return {};
  return std::move(*found);
}

Link link_of(const Candidate& candidate) {
  switch (candidate.what) {
    case Named::comparison_key:
      return group_link(candidate.digest);
    case Named::attestation:
      return Link("/api/v1/attestations/", candidate.digest.text());
    case Named::object:
      return Link("/log");
    case Named::manifest:
      break;
  }
  return manifest_link(candidate.kind.value_or(ManifestKind::benchmark_run), candidate.digest);
}

std::string_view words_of(const Candidate& candidate) {
  switch (candidate.what) {
    case Named::comparison_key:
      return "Comparison group";
    case Named::attestation:
      return "Attestation";
    case Named::object:
      return "Object that the log names";
    case Named::manifest:
      break;
  }
  return candidate.kind ? kind_name(*candidate.kind) : "Manifest";
}

void append_exact(Html& html, const std::vector<Candidate>& exact) {
  if (exact.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}});
  html.add("h2", "By id");
  const Html::Element list = html.in("ul", {{"class", "list"}});
  for (const Candidate& candidate : exact) {
    const Html::Element item = html.in("li");
    {
      const Html::Element line = html.in("p");
      html.name_link(link_of(candidate), candidate.label.empty() ? std::string(words_of(candidate))
                                                                 : readable_name(candidate.label));
    }
    const Html::Element line = html.in("p", {{"class", "dots small soft"}});
    html.add("span", words_of(candidate));
    html.add("span", {{"class", "mono"}}, short_digest(candidate.digest));
  }
}

// A hit with what tells it from others of the same name: for a run its value and hardware.
void append_hit(Html& html, const Site& site, const SearchHit& hit) {
  const Html::Element item = html.in("li");
  {
    const Html::Element line = html.in("p");
    const std::string name = readable_name(hit.label);
    html.name_link(manifest_link(hit.kind, hit.digest),
                   name.empty() ? short_digest(hit.digest) : name);
  }
  const Html::Element line = html.in("p", {{"class", "dots small soft"}});
  html.add("span", kind_name(hit.kind));
  const Result<std::optional<std::string>> bytes = site.reader.run_row(hit.digest);
  if (bytes && *bytes) {
    if (const Result<RunRow> row = decode_run_row(**bytes)) {
      const Amount amount = amount_of(*row);
      html.add("span", row->value ? amount.number + " " + amount.unit : std::string(row->status));
      const Html::Element hardware = html.in("span");
      html.name(row->hardware);
    }
  }
  for (const std::string& id : hit.external_ids) {
    const Html::Element span = html.in("span");
    html.name(id);
  }
  html.add("span", {{"class", "mono"}}, short_digest(hit.digest));
}

// How many hits each kind has, as links to those of one kind: names repeat from kind to kind.
void append_kinds(Html& html, std::string_view text, const std::vector<const SearchHit*>& hits,
                  std::optional<ManifestKind> chosen) {
  std::map<ManifestKind, std::size_t> counts;
  for (const SearchHit* hit : hits) ++counts[hit->kind];
  if (counts.size() < 2) return;
  const Html::Element nav = html.in("nav", {{"class", "pager"}, {"aria-label", "Kinds"}});
  const auto choice = [&](std::optional<ManifestKind> kind, std::size_t count) {
    const std::string name =
        std::string(kind ? kind_name(*kind) : "All") + " " + tools::grouped(count);
    if (kind == chosen) {
      html.add("strong", {{"aria-current", "true"}}, name);
      return;
    }
    Link link("/search");
    link.query("q", text);
    if (kind) link.query("kind", kind_name(*kind));
    html.link(link, name);
  };
  choice(std::nullopt, hits.size());
  // Runs first: they are what most people look for.
  const auto runs = counts.find(ManifestKind::benchmark_run);
  if (runs != counts.end()) choice(runs->first, runs->second);
  for (const auto& [kind, count] : counts) {
    if (kind != ManifestKind::benchmark_run) choice(kind, count);
  }
}

void append_form(Html& html, std::string_view text) {
  const Html::Element form = html.in("form", {{"class", "big-search"},
                                              {"role", "search"},
                                              {"aria-label", "Search again"},
                                              {"method", "get"},
                                              Attribute::action(Link("/search"))});
  html.leaf("input", {{"type", "search"},
                      {"name", "q"},
                      {"maxlength", "200"},
                      {"aria-label", "Words, a digest or an id"},
                      {"value", text}});
  html.add("button", {{"type", "submit"}}, "Search");
}

}  // namespace

Result<Response> search_page(const Site& site, const Request& request) {
  const std::string text(request.text("q"));
  if (text.size() > kTextBytes) {
    return fail(ErrorKind::invalid, "SEARCH_TOO_LONG", "q",
                "a search has at most " + std::to_string(kTextBytes) + " bytes");
  }
  const Result<std::uint64_t> asked = request.count("page", 1, 1'000'000);
  if (!asked) return fail(asked.error());
  std::vector<const SearchHit*> hits;
  std::vector<Candidate> exact;
  const bool empty = text.find_first_not_of(" \t") == std::string::npos;
  if (!empty) {
    const Result<const SearchIndex*> index = site.manifests.get();
    if (!index) return fail(index.error());
    Result<std::vector<const SearchHit*>> found = (*index)->find(text, 0);
    if (!found) return fail(found.error());
    hits = std::move(*found);
    exact = by_id(site, text);
  }
  const std::optional<ManifestKind> chosen = kind_from_name(request.text("kind"));
  if (!chosen && !request.text("kind").empty()) {
    return fail(ErrorKind::invalid, "BAD_PARAMETER", "kind", "this is no kind of manifest");
  }
  const std::vector<const SearchHit*> of_all_kinds = hits;
  if (chosen) std::erase_if(hits, [&](const SearchHit* hit) { return hit->kind != *chosen; });
  const std::size_t pages = std::max<std::size_t>(1, (hits.size() + kPageHits - 1) / kPageHits);
  const std::size_t page = std::clamp<std::size_t>(static_cast<std::size_t>(*asked), 1, pages);
  Response response = page_response(
      site, {empty ? "Search" : "Search: " + text, Part::none, std::nullopt}, [&](Html& html) {
        {
          const Html::Element head = html.in("header", {{"class", "page-head"}});
          html.add("h1", "Search");
          append_form(html, text);
          html.add("p", {{"class", "small soft"}},
                   "Words of names, slugs, aliases and tags; digests, external ids and KernelIndex "
                   "ids, whole or in part. All words must occur.");
        }
        if (empty) return;
        append_exact(html, exact);
        const Html::Element section = html.in("section", {{"class", "section"}});
        html.add("h2",
                 tools::counted(hits.size(), "result") +
                     (pages > 1 ? ", page " + std::to_string(page) + " of " + std::to_string(pages)
                                : ""));
        append_kinds(html, text, of_all_kinds, chosen);
        if (hits.empty()) {
          html.add("p", {{"class", "soft"}}, "Nothing in this ledger has all of these words.");
          return;
        }
        {
          const Html::Element list = html.in("ul", {{"class", "list"}});
          const std::size_t first = (page - 1) * kPageHits;
          for (std::size_t i = first; i < std::min(first + kPageHits, hits.size()); ++i) {
            append_hit(html, site, *hits[i]);
          }
        }
        const Html::Element pager = html.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        const auto turn = [&](std::size_t to, std::string_view words) {
          Link link("/search");
          link.query("q", text);
          if (chosen) link.query("kind", kind_name(*chosen));
          html.link(link.query("page", std::to_string(to)), words);
        };
        if (page > 1) turn(page - 1, "← Previous");
        if (page < pages) turn(page + 1, "Next →");
      });
  return response;
}

}  // namespace kernelindex::serve
