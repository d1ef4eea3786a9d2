// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/group_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/display_text.h"
#include "tools/run_output.h"
#include "tools/serve/pages/chart.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/units.h"

namespace kernelindex::serve {
namespace {

// Sources whose runs are ranked, in the order of their leaders; one unnamed for a strict group.
std::vector<std::string_view> ranked_sources(const History& group) {
  if (!group.source_native) return {std::string_view()};
  std::vector<std::string_view> out;
  for (const RunView& run : group.runs) {
    if (run.eligible() && std::ranges::find(out, run.row.source) == out.end()) {
      out.push_back(run.row.source);
    }
  }
  return out;
}

bool belongs(const RunView& run, std::string_view source) {
  return source.empty() || run.row.source == source;
}

double leading_value(const History& group, const RunView& of) {
  for (const RunView& run : group.runs) {
    if (run.rank == 1u && run.row.value &&
        (!group.source_native || run.row.source == of.row.source))
      return *run.row.value;
  }
  return 0;
}

RecordChart chart_of(const History& group, std::string_view source) {
  std::set<std::size_t> records;
  std::set<std::size_t> late;
  for (const RecordMove& move : group.moves) {
    records.insert(move.run);
    if (move.late) late.insert(move.run);
  }
  RecordChart chart{group_subject(group), std::string(group.runs.front().row.unit), {}};
  for (std::size_t i = 0; i < group.runs.size(); ++i) {
    const RunView& run = group.runs[i];
    if (!run.eligible() || !run.row.value || !belongs(run, source)) continue;
    chart.runs.push_back({run.row.observed_at, *run.row.value,
                          std::string(tools::implementation_text(run.row)), records.contains(i),
                          late.contains(i)});
  }
  std::ranges::stable_sort(chart.runs, {}, &ChartRun::at);
  return chart;
}

// A cell whose heading is repeated where rows are shown as blocks.
Html::Element cell(Html& html, std::string_view label, std::string_view css_class = {}) {
  if (css_class.empty()) return html.in("td", {{"data-label", label}});
  return html.in("td", {{"data-label", label}, {"class", css_class}});
}

void append_reasons(Html& html, const RunView& run) {
  bool first = true;
  for (const std::string& reason : run.reasons) {
    if (!first) html.text(" ");
    html.add("code", reason);
    first = false;
  }
}

void append_ranking_row(Html& html, const History& group, const RunView& run, bool several_sources,
                        const Digest* here) {
  const RunRow& row = run.row;
  const bool is_here = here != nullptr && *here == run.digest;
  const Html::Element line = html.in("tr", {{"class", is_here          ? "here"
                                                      : run.rank == 1u ? "first"
                                                                       : "ranked"}});
  {
    const Html::Element rank = cell(html, "Rank", "number");
    if (run.rank) {
      html.text(std::to_string(*run.rank));
    } else {
      html.add("span", {{"aria-label", "no rank"}}, "–");
    }
  }
  {
    const Html::Element value = cell(html, "Value", "number");
    html.link(run_link(run.digest), tools::value_text(row));
  }
  {
    const Html::Element ratio = cell(html, "Of #1", run.eligible() ? "number" : "number empty");
    const double leader = leading_value(group, run);
    if (run.eligible() && leader > 0) html.text(tools::format_ratio(*row.value, leader));
  }
  {
    const Html::Element name = cell(html, "Implementation", "wide-text");
    html.name_link(implementation_link(row.implementation), tools::implementation_text(row));
    if (is_here) html.text(" ").add("span", {{"class", "badge"}}, "this run");
  }
  {
    const Html::Element level = cell(html, "Evidence");
    append_level(html, run.evidence.level);
  }
  {
    const Html::Element observed = cell(html, "Observed");
    append_day(html, row.observed_at);
  }
  {
    const Html::Element id = cell(html, "Source");
    if (several_sources || !group.source_native) html.name(source_title(row.source)).text(" ");
    html.name(tools::short_external_id(row));
  }
  const Html::Element reasons = cell(html, "No rank", run.reasons.empty() ? "empty" : "warn");
  append_reasons(html, run);
}

std::string left_out_text(const History& group) {
  std::map<std::string, std::size_t> reasons;
  for (const RunView& run : group.runs) {
    if (!run.eligible()) ++reasons[run.reasons.empty() ? "NOT_RANKED" : run.reasons.front()];
  }
  std::string text;
  for (const auto& [reason, count] : reasons) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
  }
  return text;
}

void append_move(Html& html, const History& group, const RecordMove& move, const Digest* here) {
  const RunView& run = group.runs[move.run];
  const RunView* before = move.previous ? &group.runs[*move.previous] : nullptr;
  const bool is_here = here != nullptr && *here == run.digest;
  const Html::Element line = html.in("tr", {{"class", is_here ? "here" : "move"}});
  {
    const Html::Element observed = cell(html, "Observed");
    append_day(html, run.row.observed_at);
  }
  {
    const Html::Element value = cell(html, "Value", "number");
    html.link(run_link(run.digest), tools::value_text(run.row));
  }
  {
    const Html::Element gain = cell(html, "Gain", before == nullptr ? "number empty" : "number");
    if (before != nullptr && before->row.value && run.row.value && *run.row.value > 0) {
      html.text(tools::format_ratio(*before->row.value, *run.row.value) + " faster");
    }
  }
  {
    const Html::Element name = cell(html, "Implementation", "wide-text");
    html.name(tools::implementation_text(run.row));
    if (is_here) html.text(" ").add("span", {{"class", "badge"}}, "this run");
    if (move.late) html.text(" ").add("span", {{"class", "badge warn"}}, "LATE");
  }
  const Html::Element previous = cell(html, "Before", before == nullptr ? "empty" : "wide-text");
  if (before != nullptr) {
    html.name_link(run_link(before->digest), tools::implementation_text(before->row));
  }
}

Html::Element open_table(Html& html, std::string_view css_class) {
  return html.in("table", {{"class", css_class}});
}

void append_headings(Html& html, std::initializer_list<std::string_view> words,
                     std::initializer_list<std::string_view> numbers) {
  const Html::Element head = html.in("thead");
  const Html::Element row = html.in("tr");
  for (const std::string_view word : words) {
    const bool number = std::ranges::find(numbers, word) != numbers.end();
    html.add("th", {{"scope", "col"}, {"class", number ? "number" : "words"}}, word);
  }
}

// Of the ranked runs of one source, ascending.
std::vector<double> ranked_values(const History& group, std::string_view source) {
  std::vector<double> values;
  for (const RunView& run : group.runs) {
    if (run.eligible() && run.row.value && belongs(run, source)) values.push_back(*run.row.value);
  }
  std::ranges::sort(values);
  return values;
}

void append_five_numbers(Html& html, const FiveNumbers& five, std::string_view unit) {
  const Html::Element list = html.in("dl", {{"class", "figures"}});
  const std::pair<std::string_view, double> shown[] = {{"least", five.least},
                                                       {"lower quartile", five.lower_quartile},
                                                       {"median", five.median},
                                                       {"upper quartile", five.upper_quartile},
                                                       {"greatest", five.greatest}};
  for (const auto& [name, value] : shown) {
    const Html::Element item = html.in("div");
    html.add("dt", name).add("dd", tools::format_quantity(value, unit));
  }
}

void append_bins(Html& html, const Histogram& histogram, std::string_view unit) {
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary", "The numbers of the chart");
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table");
  append_headings(html, {"From", "To", "Runs"}, {"From", "To", "Runs"});
  const Html::Element body = html.in("tbody");
  for (const Bin& bin : histogram.bins) {
    const Html::Element row = html.in("tr");
    html.add("td", {{"class", "number"}}, tools::format_quantity(bin.from, unit));
    html.add("td", {{"class", "number"}}, tools::format_quantity(bin.to, unit));
    html.add("td", {{"class", "number"}}, std::to_string(bin.count));
  }
}

// The values of one source: five numbers, and a chart with its table when they are enough.
void append_values(Html& html, const History& group, std::string_view source,
                   const std::vector<double>& values, std::string_view id) {
  constexpr std::size_t kWorthDrawing = 5;
  const std::string_view unit = group.runs.front().row.unit;
  const Histogram bins = histogram(values);
  const bool drawn = values.size() >= kWorthDrawing && bins.bins.size() > 1;
  if (drawn) {
    const std::string subject =
        group_subject(group) + (source.empty() ? "" : ", " + std::string(source_title(source)));
    const Html::Element figure = html.in("figure");
    append_histogram(html, bins, subject, unit, id);
    html.add("figcaption", bins.logarithmic
                               ? "Ranked runs by value; bins of equal ratio, logarithmic scale."
                               : "Ranked runs by value.");
  }
  append_five_numbers(html, five_numbers(values), unit);
  if (drawn) append_bins(html, bins, unit);
}

}  // namespace

std::string group_subject(const History& group) {
  const RunRow& row = group.runs.front().row;
  std::string text = readable_name(row.operation_name);
  if (!row.hardware.empty()) text += " on " + std::string(row.hardware);
  return text;
}

void append_ranking(Html& html, const History& group, const Digest* here) {
  const bool several = ranked_sources(group).size() > 1;
  {
    const Html::Element box = html.in("div", {{"class", "table-box"}});
    const Html::Element table = open_table(html, "stack");
    html.add("caption", {{"class", "visually-hidden"}}, "Runs of this group, best first");
    append_headings(
        html,
        {"Rank", "Value", "Of #1", "Implementation", "Evidence", "Observed", "Source", "No rank"},
        {"Rank", "Value", "Of #1"});
    const Html::Element body = html.in("tbody");
    for (const RunView& run : group.runs) {
      append_ranking_row(html, group, run, several, here);
    }
  }
  const std::string left_out = left_out_text(group);
  if (!left_out.empty()) {
    html.add("p", {{"class", "small soft"}}, "Without a rank: " + left_out + ".");
  }
}

void append_record_history(Html& html, const History& group, const Digest* here) {
  if (group.moves.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "record"}});
  html.add("h2", "Record over time");
  std::size_t number = 0;
  const std::vector<std::string_view> sources = ranked_sources(group);
  for (const std::string_view source : sources) {
    const RecordChart chart = chart_of(group, source);
    if (!worth_drawing(chart)) continue;
    const Html::Element figure = html.in("figure");
    append_record_chart(html, chart, "record-" + std::to_string(number++));
    const Html::Element caption = html.in("figcaption");
    if (sources.size() > 1) html.name(source_title(source)).text(". ");
    html.text(
        "The line is the record, filled marks are the runs that moved it, hollow ones all "
        "other ranked runs. Lower is better.");
  }
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = open_table(html, "stack");
  html.add("caption",
           "How the record moved, in order of observation. LATE: recorded after a record "
           "that it displaces in time.");
  append_headings(html, {"Observed", "Value", "Gain", "Implementation", "Before"},
                  {"Value", "Gain"});
  const Html::Element body = html.in("tbody");
  for (const RecordMove& move : group.moves) append_move(html, group, move, here);
}

void append_distribution(Html& html, const History& group) {
  const std::vector<std::string_view> sources = ranked_sources(group);
  // Sources measure in their own ways: values of two of them make no distribution.
  std::vector<std::pair<std::string_view, std::vector<double>>> shown;
  for (const std::string_view source : sources) {
    std::vector<double> values = ranked_values(group, source);
    if (values.size() >= 2) shown.emplace_back(source, std::move(values));
  }
  if (shown.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "distribution"}});
  html.add("h2", "Distribution of values");
  std::size_t number = 0;
  for (const auto& [source, values] : shown) {
    if (sources.size() > 1) {
      const Html::Element title = html.in("h3");
      html.name(source_title(source));
    }
    append_values(html, group, source, values, "spread-" + std::to_string(number++));
  }
}

}  // namespace kernelindex::serve
