// SPDX-License-Identifier: Apache-2.0
#include "ledger/identify.h"
#include "schema/canonical_json.h"
#include "tools/display_text.h"
#include "tools/run_comparison.h"
#include "tools/run_output.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"

namespace kernelindex::serve {
namespace {

Link compare_link(const tools::RunComparison& comparison) {
  Link link("/compare");
  for (const RunView& run : comparison.runs) link.query("run", run.digest.text());
  return link;
}

// What stands there before two runs are named.
Response asking_page(const Site& site, const Request& request) {
  return page_response(site, {"Compare runs", Part::runs, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("h1", "Compare runs");
      html.add("p", {{"class", "lead"}},
               "Two to eight runs, side by side. Each by its digest, an id of its source or its "
               "KernelIndex id.");
    }
    const Html::Element form = html.in("form", {{"class", "filters"},
                                                {"method", "get"},
                                                {"aria-label", "Runs to compare"},
                                                Attribute::action(Link("/compare"))});
    const std::vector<std::string_view> given = request.all("run");
    for (std::size_t i = 0; i < 2; ++i) {
      const Html::Element label = html.in("label");
      html.text("Run " + std::to_string(i + 1));
      html.leaf("input", {{"type", "text"},
                          {"name", "run"},
                          {"required"},
                          {"maxlength", "300"},
                          {"value", i < given.size() ? given[i] : std::string_view()}});
    }
    html.add("button", {{"type", "submit"}}, "Compare");
  });
}

void append_column_heads(Html& html, const tools::RunComparison& comparison) {
  const Html::Element head = html.in("thead");
  const Html::Element row = html.in("tr");
  html.add("th", {{"scope", "col"}}, "Field");
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const RunView& run = comparison.runs[i];
    const Html::Element cell = html.in("th", {{"scope", "col"}});
    html.name_link(run_link(run.digest), tools::implementation_text(run.row));
    if (comparison.winner == i) {
      html.text(" ").add("span", {{"class", "badge good"}}, "in front");
    }
    html.leaf("br");
    html.add("code", {{"class", "soft"}}, short_digest(run.digest));
  }
  html.add("th", {{"scope", "col"}}, "Equal?");
}

void append_value(Html& html, const tools::ComparedRow& row, const std::string& value) {
  if (value.empty()) {
    html.add("span", {{"class", "soft"}, {"aria-label", "not said"}}, "–");
  } else if (row.digest) {
    const Result<Digest> digest = Digest::parse(value);
    html.add("code", digest ? short_digest(*digest) : value);
  } else if (row.section == "operation" && row.name == "name") {
    html.name(readable_name(value));
  } else {
    html.name(value);
  }
}

void append_rows(Html& html, const tools::RunComparison& comparison) {
  const std::string columns = std::to_string(comparison.runs.size() + 2);
  const Html::Element body = html.in("tbody");
  std::string section;
  for (std::size_t at = 0; at < comparison.rows.size(); ++at) {
    const tools::ComparedRow& row = comparison.rows[at];
    if (row.section != section) {
      section = row.section;
      const Html::Element line = html.in("tr", {{"class", "group"}});
      const Html::Element cell = html.in("th", {{"scope", "rowgroup"}, {"colspan", columns}});
      std::string words = section;
      words[0] = static_cast<char>(words[0] - 'a' + 'A');
      html.text(words);
      if (row.material) {
        html.text(" ").add("span", {{"class", "small soft"}}, "part of the comparison key");
      }
    }
    const bool first = comparison.first_mismatch == at;
    const Html::Element line = html.in("tr", {{"class", first         ? "first-mismatch"
                                                        : row.differs ? "differs"
                                                                      : "equal"}});
    {
      const Html::Element cell = html.in("th", {{"scope", "row"}});
      html.name(row.name);
    }
    for (const std::string& value : row.values) {
      const Html::Element cell = html.in("td");
      append_value(html, row, value);
    }
    const Html::Element cell = html.in("td");
    if (first) {
      html.add("span", {{"class", "badge warn"}}, "first mismatch");
    } else if (row.differs) {
      html.text("differs");
    } else {
      html.add("span", {{"class", "soft"}}, "equal");
    }
  }
}

Response comparison_page(const Site& site, const tools::RunComparison& comparison) {
  return page_response(site, {"Compare runs", Part::runs, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("p", {{"class", "eyebrow"}},
               "Comparison of " + tools::counted(comparison.runs.size(), "run"));
      {
        const Html::Element title = html.in("h1");
        bool first = true;
        for (const RunView& run : comparison.runs) {
          if (!first) html.text(" · ");
          html.name(tools::implementation_text(run.row)).text(" " + tools::value_text(run.row));
          first = false;
        }
      }
      const Html::Element line = html.in("p", {{"class", "head-links"}});
      html.link(compare_link(comparison).query("format", "markdown"), "Markdown");
      html.link(compare_link(comparison).query("format", "csv"), "CSV");
      html.link(compare_link(comparison).query("format", "json"), "JSON");
      if (comparison.comparable()) {
        html.link(group_link(*comparison.runs.front().row.group), "Their group");
      }
    }
    {
      const Html::Element section = html.in("section", {{"class", "section"}});
      html.add("h2", "Verdict");
      const Html::Element box = html.in(
          "div",
          {{"class", comparison.comparable() ? "notice" : "notice warn"}, {"id", "verdict"}});
      const Html::Element text = html.in("p");
      html.name(tools::comparison_verdict(comparison));
    }
    const Html::Element section = html.in("section", {{"class", "section"}});
    html.add("h2", "Field by field");
    const Html::Element box = html.in("div", {{"class", "table-box"},
                                              {"tabindex", "0"},
                                              {"role", "region"},
                                              {"aria-label", "Field by field, scrolls sideways"}});
    const Html::Element table = html.in("table", {{"class", "compare"}});
    html.add("caption", {{"class", "visually-hidden"}}, "The runs field by field");
    append_column_heads(html, comparison);
    append_rows(html, comparison);
  });
}

Response as_file(std::string body, std::string_view content_type, std::string_view ending) {
  Response response = answer(std::move(body), content_type);
  response.headers.push_back(
      {"Content-Disposition", "attachment; filename=\"comparison." + std::string(ending) + "\""});
  return response;
}

}  // namespace

Result<Response> compare_page(const Site& site, const Request& request) {
  const std::vector<std::string_view> ids = request.all("run");
  if (ids.size() < tools::kComparedRunsMin) return asking_page(site, request);
  std::vector<Digest> runs;
  for (const std::string_view id : ids) {
    if (runs.size() > tools::kComparedRunsMax) break;
    const Result<Candidate> found = identify(site.reader, id, {Named::manifest});
    if (!found) return fail(found.error());
    runs.push_back(found->digest);
  }
  const Result<tools::RunComparison> comparison =
      tools::compare_runs(site.reader, runs, site.policy());
  if (!comparison) return fail(comparison.error());
  const std::string_view format = request.text("format");
  if (format == "markdown") {
    return as_file(tools::comparison_markdown(*comparison), "text/markdown; charset=utf-8", "md");
  }
  if (format == "csv") {
    return as_file(tools::comparison_csv(*comparison), "text/csv; charset=utf-8", "csv");
  }
  if (format == "json") {
    json::Arena arena;
    return as_file(
        json::canonical(tools::comparison_document(tools::JsonOutput(arena), *comparison)) + "\n",
        kJson, "json");
  }
  if (!format.empty()) {
    return fail(ErrorKind::invalid, "BAD_PARAMETER", "format",
                "a comparison is had as markdown, csv or json");
  }
  return comparison_page(site, *comparison);
}

}  // namespace kernelindex::serve
