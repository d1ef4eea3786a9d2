// SPDX-License-Identifier: Apache-2.0
#include "tools/run_output.h"

#include <algorithm>

#include "tools/units.h"

namespace kernelindex::tools {

std::string time_text(UtcMicros time) {
  return time % 1000 == 0 ? format_utc_millis(time) : format_utc_micros(time);
}

std::string day_text(UtcMicros time) {
  const std::string text = format_utc_millis(time);
  return text.substr(0, text.find('T'));
}

std::vector<std::string_view> level_reasons(const Evidence& evidence) {
  std::vector<std::string_view> names;
  for (const LevelReason reason : evidence.reasons) names.push_back(reason_name(reason));
  return names;
}

std::string value_text(const RunRow& row) {
  return row.value ? format_quantity(*row.value, row.unit) : "-";
}

json::ObjectBuilder& add_run(json::ObjectBuilder& object, const JsonOutput& json,
                             const RunView& run) {
  const RunRow& row = run.row;
  const bool serving = row.kind == ManifestKind::serving_run;
  object.add("digest", json.digest(run.digest))
      .add("externalIds", json.texts(row.external_ids))
      .add("source", row.source)
      .add(serving ? "configuration" : "implementation", json.digest(row.implementation))
      .add(serving ? "configurationName" : "implementationName", row.implementation_name)
      .add("hardware", row.hardware)
      .add("status", row.status)
      .add("value", row.value ? json::Value(*row.value) : json::Value())
      .add("unit", row.unit)
      .add("metric", row.metric)
      .add("statistic", row.statistic)
      .add("level", level_name(run.evidence.level))
      .add("levelReasons", json.texts(level_reasons(run.evidence)))
      .add("observedAt", json.text(time_text(row.observed_at)));
  if (row.project) {
    object.add("project", row.project_name).add("projectDigest", json.digest(*row.project));
  }
  if (!serving) {
    object.add("rank", run.rank ? json.count(*run.rank) : json::Value())
        .add("reasons", json.texts(run.reasons));
  }
  return object;
}

json::Value run_document(const JsonOutput& json, const RunView& run) {
  const RunRow& row = run.row;
  const bool serving = row.kind == ManifestKind::serving_run;
  json::ObjectBuilder document = json.object();
  add_run(document, json, run)
      .add(serving ? "model" : "operation", json.digest(row.operation))
      .add(serving ? "modelName" : "operationName", row.operation_name)
      .add("workload", json.digest(row.workload))
      .add("workloadName", row.workload_name)
      .add(serving ? "cohortKey" : "comparisonKey", json.digest(row.group));
  return document.finish();
}

json::Value hit_document(const JsonOutput& json, const SearchHit& hit) {
  return json.object()
      .add("digest", json.digest(hit.digest))
      .add("kind", kind_name(hit.kind))
      .add("name", hit.label)
      .add("source", hit.source)
      .add("externalIds", json.texts(hit.external_ids))
      .finish();
}

json::Value head_document(const JsonOutput& json, const TreeHead& head) {
  return json.object()
      .add("size", json.count(head.size))
      .add("root", json.digest(head.root))
      .finish();
}

json::Value record_document(const JsonOutput& json, const RecordView& record) {
  return json.object()
      .add("comparisonKey", json.digest(record.key))
      .add("source", record.source)
      .add("run", json.digest(record.run))
      .add("previous", json.digest(record.previous))
      .add("operationName", record.operation_name)
      .add("implementationName", record.implementation_name)
      .add("hardware", record.hardware)
      .add("value", json::Value(record.value))
      .add("unit", record.unit)
      .add("at", json.text(time_text(record.at)))
      .add("cause", "new_run")
      .add("late", json::Value(record.late))
      .finish();
}

std::string_view without_ending(std::string_view text, std::string_view name) {
  if (name.empty() || !text.ends_with(name)) return text;
  const std::string_view rest = text.substr(0, text.size() - name.size());
  for (const std::string_view separator : {" · ", ": "}) {
    if (rest.ends_with(separator) && rest.size() > separator.size()) {
      return rest.substr(0, rest.size() - separator.size());
    }
  }
  return text;
}

std::string_view implementation_text(const RunRow& row) {
  return without_ending(row.implementation_name.empty() ? row.label : row.implementation_name,
                        row.operation_name);
}

std::string_view short_external_id(const RunRow& row) {
  for (const std::string_view id : row.external_ids) {
    if (id.starts_with(row.source) && id.substr(row.source.size()).starts_with(':')) {
      return id.substr(row.source.size() + 1);
    }
  }
  return row.external_ids.empty() ? std::string_view() : row.external_ids.front();
}

}  // namespace kernelindex::tools
