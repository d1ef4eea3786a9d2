// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/runs_table.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kRecordsShown = 12;

void figure(Html& html, std::string_view name, std::size_t count) {
  const Html::Element item = html.in("div");
  html.add("dt", name).add("dd", tools::grouped(count));
}

}  // namespace

Result<Response> home_page(const Site& site, const SiteIndex& index) {
  return page_response(site, {"", Part::none, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("h1", "Evidence for GPU-kernel benchmark results");
      html.add(
          "p", {{"class", "lead"}},
          "Each published number is kept as evidence: an immutable manifest that names the "
          "implementation, workload, protocol and environment by digest, with the bytes it came "
          "from, inside a log that anyone can check.");
      const Html::Element form = html.in("form", {{"class", "big-search"},
                                                  {"role", "search"},
                                                  {"aria-label", "Search the ledger"},
                                                  {"method", "get"},
                                                  Attribute::action(Link("/search"))});
      html.leaf("input",
                {{"type", "search"},
                 {"name", "q"},
                 {"maxlength", "200"},
                 {"aria-label", "Words, a digest or an id"},
                 {"placeholder", "swiglu backward, 01a0032e, sol-execbench:submission/15866"}});
      html.add("button", {{"type", "submit"}}, "Search");
    }
    {
      const Html::Element list = html.in("dl", {{"class", "figures"}});
      figure(html, "benchmark runs", index.all.runs);
      figure(html, "comparison groups", index.all.groups.size());
      figure(html, "operations", index.by_operation.size());
      figure(html, "sources", index.by_source.size());
      if (index.serving_runs > 0) figure(html, "serving runs", index.serving_runs);
      figure(html, "log entries", site.reader.head().size);
    }
    {
      const Html::Element section = html.in("section", {{"class", "section"}, {"id", "levels"}});
      html.add("h2", "Evidence");
      const Html::Element list = html.in("p", {{"class", "line"}});
      for (const auto& [level, count] : index.by_level) {
        const Html::Element item = html.in("span");
        append_level(html, level);
        html.text(" " + tools::grouped(count));
      }
    }
    const Html::Element section = html.in("section", {{"class", "section"}, {"id", "records"}});
    html.add("h2", "Newest records");
    std::vector<const RecordView*> records;
    for (const IndexedRecord& record : index.records) {
      if (records.size() == kRecordsShown) break;
      records.push_back(&record.view);
    }
    if (records.empty()) {
      html.add("p", {{"class", "soft"}}, "No record yet.");
      return;
    }
    append_records_table(html, records, "The newest moves of records");
    const Html::Element line = html.in("p");
    html.link(Link("/records"), "All records");
  });
}

}  // namespace kernelindex::serve
