// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"
#include "tools/run_facts.h"
#include "tools/run_output.h"
#include "tools/serve/pages/api_links.h"
#include "tools/serve/pages/group_parts.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/lookup.h"
#include "tools/serve/pages/readable_name.h"

namespace kernelindex::serve {
namespace {

void append_head(Html& html, const History& group, const std::string& workload) {
  const RunRow& row = group.runs.front().row;
  const bool serving = row.kind == ManifestKind::serving_run;
  const Html::Element head = html.in("header", {{"class", "page-head"}});
  html.add("p", {{"class", "eyebrow"}}, serving ? "Serving cohort" : "Comparison group");
  {
    const Html::Element title = html.in("h1");
    const std::string name = readable_name(row.operation_name);
    html.name(name.empty() ? "Operation not in the ledger" : name);
  }
  {
    const Html::Element line = html.in("p", {{"class", "dots"}});
    {
      const Html::Element span = html.in("span");
      html.name(workload);
    }
    if (!row.hardware.empty()) html.name_link(hardware_link(row.hardware), row.hardware);
    html.add("span", group.source_native ? "source-native comparison" : "strict comparison");
    html.add("span", tools::counted(group.runs.size(), "run"));
  }
  const Html::Element line = html.in("p", {{"class", "head-links"}});
  if (row.operation && !serving) html.link(operation_link(*row.operation), "Operation");
  html.link(api_group(group.key), "JSON");
}

void append_key(Html& html, const History& group) {
  const RunRow& row = group.runs.front().row;
  const bool serving = row.kind == ManifestKind::serving_run;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "key"}});
  html.add("h2", "What is held equal");
  html.add("p", {{"class", "soft"}},
           "Runs are ranked only when all of this is equal; the implementation is what they differ "
           "in.");
  const Html::Element list = html.in("dl", {{"class", "facts"}});
  append_fact(html, serving ? "cohort key" : "comparison key",
              [&](Html& inner) { append_digest(inner, group.key, "digest-key"); });
  const auto reference = [&](std::string_view name, ManifestKind kind, const Digest& digest,
                             std::string_view id) {
    append_fact(html, name, [&](Html& inner) {
      inner.link(manifest_link(kind, digest), name).text(" ");
      append_digest(inner, digest, id);
    });
  };
  if (row.operation) {
    reference(serving ? "model" : "operation",
              serving ? ManifestKind::model_revision : ManifestKind::operation_spec, *row.operation,
              "digest-operation");
  }
  reference("workload", serving ? ManifestKind::serving_workload : ManifestKind::workload_case,
            row.workload, "digest-workload");
  if (!serving) {
    reference("protocol", ManifestKind::benchmark_protocol, row.protocol, "digest-protocol");
    reference("environment", ManifestKind::execution_environment, row.environment,
              "digest-environment");
  }
  append_fact(
      html, "metric",
      std::string(row.metric) + " · " + std::string(row.statistic) + " · " + std::string(row.unit));
}

}  // namespace

Result<Response> group_page(const Site& site, const Captures& captures) {
  Result<Found> found = find_group(site, captures);
  if (!found) return fail(found.error());
  if (auto* elsewhere = std::get_if<Response>(&*found)) return std::move(*elsewhere);
  const Result<History> group = history(site.reader, std::get<Digest>(*found), site.policy());
  if (!group) return fail(group.error());
  const RunRow& row = group->runs.front().row;
  tools::Documents documents(site.reader);
  const Result<json::Value> workload = documents.read(row.workload);
  if (!workload) return fail(workload.error());
  std::string words = tools::workload_text(*workload);
  if (words.empty()) words = row.workload_name;
  const bool serving = row.kind == ManifestKind::serving_run;
  return page_response(site, {group_subject(*group), Part::operations, api_group(group->key)},
                       [&](Html& html) {
                         append_head(html, *group, words);
                         {
                           const Html::Element section =
                               html.in("section", {{"class", "section"}, {"id", "ranking"}});
                           html.add("h2", serving ? "Runs" : "Ranking");
                           append_ranking(html, *group);
                           if (!serving && group->runs.size() >= 2) {
                             const Html::Element line = html.in("p", {{"class", "small"}});
                             html.link(Link("/compare")
                                           .query("run", group->runs[0].digest.text())
                                           .query("run", group->runs[1].digest.text()),
                                       "Compare the first two");
                           }
                         }
                         if (!serving) {
                           append_record_history(html, *group);
                           append_distribution(html, *group);
                         }
                         append_key(html, *group);
                         html.add("p", {{"class", "small soft"}},
                                  "Ranking policy " + std::string(policy_name(group->ranking)) +
                                      ", as of size " + tools::grouped(group->as_of.size) + ".");
                       });
}

}  // namespace kernelindex::serve
