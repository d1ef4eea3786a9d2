// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"
#include "tools/run_filter.h"
#include "tools/serve/pages/filter_form.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/runs_table.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kPageRuns = 50;

}  // namespace

Result<Response> runs_page(const Site& site, const SiteIndex& index, const Request& request) {
  Result<RunFilter> filter = tools::read_filter(
      site.reader, [&](std::string_view name) { return std::string(request.text(name)); }, "");
  if (!filter) return fail(filter.error());
  filter->serving = request.text("serving") == "true";
  filter->cursor = request.text("cursor");
  filter->limit = kPageRuns;
  const Result<RunPage> page = list_runs(site.reader, *filter, site.policy());
  if (!page) return fail(page.error());
  const std::string_view title = filter->serving ? "Serving runs" : "Runs";
  return page_response(
      site, {std::string(title), Part::runs, Link("/api/v1/runs")}, [&](Html& html) {
        {
          const Html::Element head = html.in("header", {{"class", "page-head"}});
          html.add("h1", title);
          html.add("p", {{"class", "lead"}},
                   "Newest observation first. Numbers of different groups are not comparable: a "
                   "rank is one inside the run's own group.");
          const Html::Element line = html.in("p", {{"class", "head-links"}});
          if (filter->serving) {
            html.link(Link("/runs"), "Benchmark runs");
          } else if (index.serving_runs > 0) {
            html.link(Link("/runs").query("serving", "true"),
                      tools::counted(index.serving_runs, "serving run"));
          }
        }
        if (!filter->serving) {
          append_filter_form(html, Link("/runs"), index, request, {true},
                             "Operation (id or digest)");
        }
        const Html::Element section = html.in("section", {{"class", "section"}});
        html.add("h2", {{"class", "visually-hidden"}}, "List");
        if (page->runs.empty()) {
          html.add("p", {{"class", "soft"}}, "No run matches.");
        } else {
          append_runs_table(html, page->runs, {}, "Runs, newest observation first");
        }
        if (page->next.empty()) return;
        const Html::Element pager = html.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        Link next = with_choices(Link("/runs"), request);
        if (filter->serving) next.query("serving", "true");
        html.link(next.query("cursor", page->next), "Older →");
      });
}

}  // namespace kernelindex::serve
