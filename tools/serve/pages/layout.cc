// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/layout.h"

#include <array>
#include <utility>

#include "ingest/sources.h"
#include "ledger/reader.h"
#include "tools/display_text.h"
#include "tools/run_output.h"
#include "tools/serve/pages/assets.h"
#include "tools/units.h"

namespace kernelindex::serve {
namespace {

struct NavigationItem {
  Part part;
  Constant path;
  std::string_view words;
};
constexpr std::array<NavigationItem, 6> kNavigation = {{
    {Part::records, "/records", "Records"},
    {Part::runs, "/runs", "Runs"},
    {Part::operations, "/operations", "Operations"},
    {Part::hardware, "/hardware", "Hardware"},
    {Part::sources, "/sources", "Sources"},
    {Part::log, "/log", "Log"},
}};

void append_head(Html& html, const PageHead& head) {
  const Html::Element element = html.in("head");
  html.leaf("meta", {{"charset", "utf-8"}});
  html.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.leaf("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  html.add("title", head.title.empty() ? "KernelIndex" : head.title + " · KernelIndex");
  html.leaf("link", {{"rel", "icon"}, Attribute::href(Link("/assets/", icon().name))});
  html.leaf("link", {{"rel", "stylesheet"}, Attribute::href(Link("/assets/", stylesheet().name))});
  html.add("script", {{"defer"}, Attribute::src(Link("/assets/", script().name))});
  html.leaf("link", {{"rel", "alternate"},
                     {"type", "application/atom+xml"},
                     {"title", "Record transitions"},
                     Attribute::href(Link("/records.atom"))});
  if (head.json) {
    html.leaf("link",
              {{"rel", "alternate"}, {"type", "application/json"}, Attribute::href(*head.json)});
  }
}

void append_header(Html& html, Part part) {
  const Html::Element header = html.in("header", {{"class", "site-header"}});
  const Html::Element frame = html.in("div", {{"class", "frame"}});
  html.link(Link("/"), "KernelIndex", "wordmark");
  {
    const Html::Element nav = html.in("nav", {{"class", "site-nav"}, {"aria-label", "Site"}});
    const Html::Element list = html.in("ul");
    for (const NavigationItem& item : kNavigation) {
      const Html::Element entry = html.in("li");
      const Link link(item.path);
      if (item.part == part) {
        html.add("a", {Attribute::href(link), {"aria-current", "true"}}, item.words);
      } else {
        html.link(link, item.words);
      }
    }
  }
  const Html::Element form = html.in("form", {{"class", "site-search"},
                                              {"role", "search"},
                                              {"method", "get"},
                                              Attribute::action(Link("/search"))});
  html.leaf("input", {{"type", "search"},
                      {"id", "site-search"},
                      {"name", "q"},
                      {"maxlength", "200"},
                      {"aria-label", "Search names, digests and ids"},
                      {"placeholder", "Name, digest or id"}});
  html.add("button", {{"type", "submit"}}, "Search");
}

void append_footer(Html& html, const Site& site) {
  const Html::Element footer = html.in("footer", {{"class", "site-footer"}});
  const Html::Element frame = html.in("div", {{"class", "frame"}});
  {
    const Html::Element paragraph = html.in("p");
    html.text("Ledger ").name(site.reader.format().origin);
    html.text(" as of size " + tools::grouped(site.reader.head().size) + ". ");
    html.link(Link("/log"), "Checkpoint, witnesses and how to verify");
    html.text(". ").link(Link("/records.atom"), "Feed of record transitions").text(".");
  }
  html.add("p",
           "A page is a view, not evidence: what it says rests on this server. Only an evidence "
           "bundle can be checked without it. Reported says who said a number and from which "
           "bytes, not that it is so; and whoever runs a benchmark can invent samples that "
           "recompute.");
}

}  // namespace

std::string page(const Site& site, const PageHead& head, const std::function<void(Html&)>& body) {
  Html html;
  html.doctype();
  {
    const Html::Element root = html.in("html", {{"lang", "en"}});
    append_head(html, head);
    const Html::Element element = html.in("body");
    html.add("a", {{"class", "skip"}, Attribute::href(Link("").fragment("main"))},
             "Skip to the content");
    append_header(html, head.part);
    {
      const Html::Element main = html.in("main", {{"id", "main"}, {"tabindex", "-1"}});
      const Html::Element frame = html.in("div", {{"class", "frame"}});
      body(html);
    }
    append_footer(html, site);
  }
  return html.take() + "\n";
}

Response page_response(const Site& site, const PageHead& head,
                       const std::function<void(Html&)>& body) {
  return answer(page(site, head, body), kHtml);
}

Link run_link(const Digest& run) { return Link("/runs/", run.text()); }
Link group_link(const Digest& key) { return Link("/groups/", key.text()); }
Link operation_link(const Digest& operation) { return Link("/operations/", operation.text()); }
Link implementation_link(const Digest& implementation) {
  return Link("/implementations/", implementation.text());
}
Link project_link(const Digest& project) { return Link("/projects/", project.text()); }
Link hardware_link(std::string_view product) { return Link("/hardware").query("product", product); }
Link source_link(std::string_view source) { return Link("/sources/", source); }

Link manifest_link(ManifestKind kind, const Digest& identity) {
  switch (kind) {
    case ManifestKind::benchmark_run:
    case ManifestKind::serving_run:
      return run_link(identity);
    case ManifestKind::operation_spec:
      return operation_link(identity);
    case ManifestKind::implementation_revision:
      return implementation_link(identity);
    case ManifestKind::software_project:
      return project_link(identity);
    default:
      return Link("/manifests/", identity.text());
  }
}

std::string short_digest(const Digest& digest) {
  constexpr std::size_t kShown = 12;
  return "sha256:" + digest.hex().substr(0, kShown) + "…";
}

void append_digest(Html& html, const Digest& digest, std::string_view id) {
  const Html::Element details = html.in("details", {{"class", "digest"}});
  {
    const Html::Element summary = html.in("summary");
    html.add("code", short_digest(digest));
  }
  const Html::Element full = html.in("div", {{"class", "full"}});
  html.add("code", {{"id", id}}, digest.text());
  html.add("button", {{"type", "button"}, {"class", "quiet"}, {"hidden"}, {"data-copy", id}},
           "Copy");
}

void append_level(Html& html, Level level) {
  static constexpr std::array<std::string_view, 5> kSteps = {"○○○○", "●○○○", "●●○○", "●●●○",
                                                             "●●●●"};
  const Html::Element span = html.in("span", {{"class", "level"}});
  html.text(level_name(level));
  html.add("span", {{"class", "steps"}, {"aria-hidden", "true"}},
           kSteps[static_cast<std::size_t>(level)]);
}

void append_day(Html& html, UtcMicros time) {
  html.add("time", {{"datetime", tools::time_text(time)}, {"class", "nowrap"}},
           tools::day_text(time));
}

void append_fact(Html& html, std::string_view name, const std::function<void(Html&)>& value) {
  const Html::Element row = html.in("div");
  html.add("dt", name);
  const Html::Element definition = html.in("dd");
  value(html);
}

void append_fact(Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  append_fact(html, name, [&](Html& inner) { inner.name(value); });
}

void append_copyable(Html& html, std::string_view text, std::string_view id, bool wrap) {
  const Html::Element box = html.in("div", {{"class", "copyable"}});
  {
    const Html::Element pre =
        html.in("pre", {{"id", id}, {"class", wrap ? "wrap" : "code"}, {"tabindex", "0"}});
    html.lines(text);
  }
  html.add("button", {{"type", "button"}, {"class", "quiet"}, {"hidden"}, {"data-copy", id}},
           "Copy");
}

std::string source_title(std::string_view slug) {
  const ingest::SourceInfo* source = ingest::find_source(slug);
  return std::string(source == nullptr || source->name != slug ? slug : source->title);
}

Amount amount_of(const RunRow& row) {
  if (!row.value) return {"–", ""};
  const std::string text = tools::format_quantity(*row.value, row.unit);
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return {text, ""};
  return {text.substr(0, space), text.substr(space + 1)};
}

}  // namespace kernelindex::serve
