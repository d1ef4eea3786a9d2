// SPDX-License-Identifier: Apache-2.0
#include "tools/group_output.h"

#include "tools/run_output.h"

namespace kernelindex::tools {
namespace {

json::Value ranked_document(const JsonOutput& json, const RunView& run) {
  json::ObjectBuilder document = json.object();
  add_run(document, json, run)
      .add("eligible", json::Value(run.eligible()))
      .add("index", json.count(run.row.index))
      .add("recordedAt", json.text(time_text(run.row.recorded_at)));
  return document.finish();
}

json::Value move_document(const JsonOutput& json, const History& group, const RecordMove& move) {
  const RunView& run = group.runs[move.run];
  return json.object()
      .add("at", json.text(time_text(run.row.observed_at)))
      .add("run", json.digest(run.digest))
      .add("previous",
           move.previous ? json.digest(group.runs[*move.previous].digest) : json::Value())
      .add("source", run.row.source)
      .add("value", run.row.value ? json::Value(*run.row.value) : json::Value())
      .add("unit", run.row.unit)
      .add("cause", "new_run")
      .add("late", json::Value(move.late))
      .finish();
}

}  // namespace

json::Value group_document(const JsonOutput& json, const History& group) {
  const RunRow& row = group.runs.front().row;
  const bool serving = row.kind == ManifestKind::serving_run;
  std::vector<json::Value> runs;
  for (const RunView& run : group.runs) runs.push_back(ranked_document(json, run));
  std::vector<json::Value> moves;
  for (const RecordMove& move : group.moves) moves.push_back(move_document(json, group, move));
  return json.object()
      .add(serving ? "cohortKey" : "comparisonKey", json.digest(group.key))
      .add("policy", policy_name(group.ranking))
      .add("evidencePolicy", kEvidencePolicy)
      .add("trust", kOwnTrust)
      .add("asOf", head_document(json, group.as_of))
      .add("profile", group.source_native ? "source_native" : "strict_exact")
      .add(serving ? "model" : "operation", json.digest(row.operation))
      .add(serving ? "modelName" : "operationName", row.operation_name)
      .add("workload", json.digest(row.workload))
      .add("workloadName", row.workload_name)
      .add("protocol", json.digest(row.protocol))
      .add("environment", json.digest(row.environment))
      .add("hardware", row.hardware)
      .add("runs", json.array(runs))
      .add("transitions", json.array(moves))
      .finish();
}

}  // namespace kernelindex::tools
