// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/runs_table.h"

#include "tools/run_output.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/units.h"

namespace kernelindex::serve {
namespace {

void heading(Html& html, std::string_view word, bool number = false) {
  html.add("th", {{"scope", "col"}, {"class", number ? "number" : "words"}}, word);
}

Html::Element cell(Html& html, std::string_view label, std::string_view css_class) {
  return html.in("td", {{"data-label", label}, {"class", css_class}});
}

void append_run(Html& html, const RunView& run, const RunColumns& columns) {
  const RunRow& row = run.row;
  const Html::Element line = html.in("tr");
  {
    const Html::Element value = cell(html, "Value", "number");
    html.link(run_link(run.digest), row.value ? tools::value_text(row) : std::string(row.status));
  }
  {
    const Html::Element rank = cell(html, "Rank", "number");
    if (run.rank) {
      html.text("#" + std::to_string(*run.rank));
    } else {
      html.add("span", {{"aria-label", "no rank"}}, "–");
    }
  }
  if (columns.operation) {
    const Html::Element name = cell(html, "Operation", "wide-text");
    if (row.operation && row.kind == ManifestKind::benchmark_run) {
      html.name_link(operation_link(*row.operation), readable_name(row.operation_name));
    } else {
      html.name(readable_name(row.operation_name));
    }
  }
  if (columns.implementation) {
    const Html::Element name = cell(html, "Implementation", "wide-text");
    html.name(tools::implementation_text(row));
  }
  if (columns.hardware) {
    const Html::Element name = cell(html, "Hardware", "nowrap");
    html.name(row.hardware);
  }
  {
    const Html::Element level = cell(html, "Evidence", "words");
    append_level(html, run.evidence.level);
  }
  {
    const Html::Element observed = cell(html, "Observed", "words");
    append_day(html, row.observed_at);
  }
  const Html::Element source = cell(html, "Source", "nowrap");
  html.name(source_title(row.source));
}

void append_record(Html& html, const RecordView& record) {
  const Html::Element line = html.in("tr");
  {
    const Html::Element observed = cell(html, "Observed", "words");
    append_day(html, record.at);
  }
  {
    const Html::Element value = cell(html, "Value", "number");
    html.link(run_link(record.run), tools::format_quantity(record.value, record.unit));
  }
  {
    const Html::Element name = cell(html, "Operation", "wide-text");
    html.name_link(group_link(record.key), readable_name(record.operation_name));
  }
  {
    const Html::Element name = cell(html, "Implementation", "wide-text");
    html.name(tools::without_ending(record.implementation_name, record.operation_name));
  }
  {
    const Html::Element name = cell(html, "Hardware", "nowrap");
    html.name(record.hardware);
  }
  {
    const Html::Element source = cell(html, "Source", "nowrap");
    html.name(source_title(record.source));
  }
  const Html::Element mark = cell(html, "Move", "nowrap");
  if (record.late) {
    html.add("span", {{"class", "badge warn"}}, "LATE");
  } else if (record.previous) {
    html.link(
        Link("/compare").query("run", record.run.text()).query("run", record.previous->text()),
        "vs. before");
  } else {
    html.add("span", {{"class", "soft"}}, "first");
  }
}

}  // namespace

void append_runs_table(Html& html, std::span<const RunView> runs, const RunColumns& columns,
                       std::string_view caption) {
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table", {{"class", "stack"}});
  html.add("caption", {{"class", "visually-hidden"}}, caption);
  {
    const Html::Element head = html.in("thead");
    const Html::Element line = html.in("tr");
    heading(html, "Value", true);
    heading(html, "Rank", true);
    if (columns.operation) heading(html, "Operation");
    if (columns.implementation) heading(html, "Implementation");
    if (columns.hardware) heading(html, "Hardware");
    heading(html, "Evidence");
    heading(html, "Observed");
    heading(html, "Source");
  }
  const Html::Element body = html.in("tbody");
  for (const RunView& run : runs) append_run(html, run, columns);
}

void append_records_table(Html& html, std::span<const RecordView* const> records,
                          std::string_view caption) {
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table", {{"class", "stack"}});
  html.add("caption", {{"class", "visually-hidden"}}, caption);
  {
    const Html::Element head = html.in("thead");
    const Html::Element line = html.in("tr");
    heading(html, "Observed");
    heading(html, "Value", true);
    for (const std::string_view word :
         {"Operation", "Implementation", "Hardware", "Source", "Move"}) {
      heading(html, word);
    }
  }
  const Html::Element body = html.in("tbody");
  for (const RecordView* record : records) append_record(html, *record);
}

}  // namespace kernelindex::serve
