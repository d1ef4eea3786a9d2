// SPDX-License-Identifier: Apache-2.0
// Products and sources: what there is of each, and the runs of one.
#include "ingest/sources.h"
#include "ledger/search_index.h"
#include "tools/display_text.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/serve/pages/runs_table.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kRunsShown = 50;
constexpr std::size_t kRecordsShown = 12;

std::unexpected<Error> no_such(std::string_view what, std::string_view name) {
  return fail(ErrorKind::not_found, "NO_SUCH_ID", std::string(name),
              "no run in this ledger is of this " + std::string(what));
}

void append_tally(Html& html, const Tally& tally) {
  const Html::Element list = html.in("dl", {{"class", "figures"}});
  const std::pair<std::string_view, std::size_t> figures[] = {
      {"runs", tally.runs},
      {"passed", tally.passed},
      {"comparison groups", tally.groups.size()},
      {"operations", tally.operations.size()}};
  for (const auto& [name, count] : figures) {
    const Html::Element item = html.in("div");
    html.add("dt", name).add("dd", tools::grouped(count));
  }
}

template <typename LinkOf, typename WordsOf>
void append_list(Html& html, const std::map<std::string, Tally>& tallies, std::string_view heading,
                 LinkOf link_of, WordsOf words_of) {
  const Html::Element section = html.in("section", {{"class", "section"}});
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table", {{"class", "stack"}});
  html.add("caption", {{"class", "visually-hidden"}}, heading);
  {
    const Html::Element head = html.in("thead");
    const Html::Element row = html.in("tr");
    html.add("th", {{"scope", "col"}}, heading);
    for (const std::string_view word : {"Operations", "Groups", "Runs"}) {
      html.add("th", {{"scope", "col"}, {"class", "number"}}, word);
    }
    html.add("th", {{"scope", "col"}}, "Newest");
  }
  const Html::Element body = html.in("tbody");
  for (const auto& [name, tally] : tallies) {
    const Html::Element row = html.in("tr");
    {
      const Html::Element cell = html.in("td", {{"data-label", heading}, {"class", "wide-text"}});
      html.name_link(link_of(name), words_of(name));
    }
    html.add("td", {{"data-label", "Operations"}, {"class", "number"}},
             tools::grouped(tally.operations.size()));
    html.add("td", {{"data-label", "Groups"}, {"class", "number"}},
             tools::grouped(tally.groups.size()));
    html.add("td", {{"data-label", "Runs"}, {"class", "number"}}, tools::grouped(tally.runs));
    const Html::Element cell = html.in("td", {{"data-label", "Newest"}});
    append_day(html, tally.newest);
  }
}

Result<RunPage> newest(const Site& site, RunFilter filter) {
  filter.limit = kRunsShown;
  return list_runs(site.reader, filter, site.policy());
}

template <typename Chosen>
void append_newest_records(Html& html, const SiteIndex& index, Chosen chosen) {
  std::vector<const RecordView*> records;
  for (const IndexedRecord& record : index.records) {
    if (records.size() == kRecordsShown) break;
    if (chosen(record.view)) records.push_back(&record.view);
  }
  if (records.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "records"}});
  html.add("h2", "Newest records");
  append_records_table(html, records, "The newest moves of records");
}

void append_newest_runs(Html& html, const RunPage& page, const Link& all) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "runs"}});
  html.add("h2", "Newest runs");
  append_runs_table(html, page.runs, {}, "Runs, newest observation first");
  if (page.next.empty()) return;
  const Html::Element line = html.in("p");
  html.link(all, "All runs");
}

}  // namespace

Result<Response> hardware_page(const Site& site, const SiteIndex& index, const Request& request) {
  const std::string product(request.text("product"));
  if (product.empty()) {
    return page_response(site, {"Hardware", Part::hardware, std::nullopt}, [&](Html& html) {
      {
        const Html::Element head = html.in("header", {{"class", "page-head"}});
        html.add("h1", "Hardware");
        html.add("p", {{"class", "lead"}},
                 tools::counted(index.by_hardware.size(), "product") +
                     ", each under the name that its sources give it.");
      }
      append_list(html, index.by_hardware, "Product", hardware_link,
                  [](const std::string& name) { return name; });
    });
  }
  const auto tally = index.by_hardware.find(product);
  if (tally == index.by_hardware.end()) {
    // Products of serving runs are no comparison groups' hardware.
    return no_such("product", product);
  }
  RunFilter filter;
  filter.hardware = product;
  const Result<RunPage> page = newest(site, filter);
  if (!page) return fail(page.error());
  return page_response(site, {product, Part::hardware, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("p", {{"class", "eyebrow"}}, "Hardware");
      const Html::Element title = html.in("h1");
      html.name(product);
    }
    append_tally(html, tally->second);
    append_newest_records(html, index,
                          [&](const RecordView& record) { return record.hardware == product; });
    append_newest_runs(html, *page, Link("/runs").query("hardware", product));
  });
}

Result<Response> sources_page(const Site& site, const SiteIndex& index) {
  return page_response(site, {"Sources", Part::sources, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("h1", "Sources");
      html.add("p", {{"class", "lead"}},
               "Whose numbers they are. A source answers for what it says; "
               "this ledger for having kept it.");
    }
    append_list(html, index.by_source, "Source", source_link, source_title);
    if (!index.serving_by_source.empty()) {
      html.add("h2", {{"class", "section"}}, "Of serving runs");
      append_list(html, index.serving_by_source, "Serving source", source_link, source_title);
    }
  });
}

Result<Response> source_page(const Site& site, const SiteIndex& index, const Captures& captures) {
  const std::string slug(captures.front());
  const auto kernel = index.by_source.find(slug);
  const auto serving = index.serving_by_source.find(slug);
  const bool has_serving = serving != index.serving_by_source.end();
  const bool has_runs = kernel != index.by_source.end() || has_serving;
  if (!has_runs) {
    // Who claims no run may claim other manifests: a file that was added is `local`.
    const Result<const SearchIndex*> manifests = site.manifests.get();
    if (!manifests) return fail(manifests.error());
    if (!(*manifests)->sources().contains(slug)) return no_such("source", slug);
  }
  RunFilter filter;
  filter.source = slug;
  filter.serving = kernel == index.by_source.end() && has_serving;
  const Result<RunPage> page = newest(site, filter);
  if (!page) return fail(page.error());
  const ingest::SourceInfo* info = ingest::find_source(slug);
  if (info != nullptr && info->name != slug) info = nullptr;
  const std::string title = source_title(slug);
  return page_response(site, {title, Part::sources, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("p", {{"class", "eyebrow"}}, "Source");
      {
        const Html::Element heading = html.in("h1");
        html.name(title);
      }
      const Html::Element list = html.in("dl", {{"class", "facts"}});
      append_fact(html, "slug", slug);
      if (info != nullptr) {
        if (const std::optional<Link> link = Link::https(info->url)) {
          append_fact(html, "address", [&](Html& inner) {
            inner.add("a", {Attribute::href(*link), {"rel", "noreferrer"}}, info->url);
          });
        }
        append_fact(html, "licence of its facts", info->license);
        append_fact(html, "terms", info->terms);
        append_fact(html, "attribution", info->attribution);
      }
    }
    if (!has_runs) {
      html.add("p", {{"class", "section soft"}}, "No run in this ledger is of this source.");
      return;
    }
    append_tally(html, filter.serving ? serving->second : kernel->second);
    append_newest_records(html, index,
                          [&](const RecordView& record) { return record.source == slug; });
    Link all = Link("/runs").query("source", slug);
    if (filter.serving) all.query("serving", "true");
    append_newest_runs(html, *page, all);
  });
}

}  // namespace kernelindex::serve
