// SPDX-License-Identifier: Apache-2.0
#include "tools/run_comparison.h"

#include <algorithm>
#include <set>

#include "schema/comparison_key.h"
#include "tools/display_text.h"
#include "tools/run_facts.h"
#include "tools/run_output.h"
#include "tools/units.h"

namespace kernelindex::tools {
namespace {

// Collects the rows of one section: a name a row, in the order in which runs first say it.
class Section {
 public:
  Section(RunComparison& comparison, std::string_view name, bool material)
      : comparison_(comparison), name_(name), material_(material) {}

  void add(std::string_view name, std::vector<std::string> values, bool digest = false) {
    ComparedRow row{
        std::string(name_), std::string(name), std::move(values), digest, material_, false};
    row.differs = std::ranges::any_of(
        row.values, [&](const std::string& value) { return value != row.values.front(); });
    comparison_.rows.push_back(std::move(row));
  }

  // Facts of each run under their names; those of one name stand in one row.
  void add_facts(const std::vector<Facts>& facts) {
    std::vector<std::string> names;
    for (const Facts& of_run : facts) {
      for (const Fact& fact : of_run) {
        if (std::ranges::find(names, fact.name) == names.end()) names.push_back(fact.name);
      }
    }
    for (const std::string& name : names) {
      std::vector<std::string> values;
      for (const Facts& of_run : facts) {
        const auto found = std::ranges::find(of_run, name, &Fact::name);
        values.push_back(found == of_run.end() ? std::string() : found->value);
      }
      add(name, std::move(values));
    }
  }

 private:
  RunComparison& comparison_;
  std::string_view name_;
  bool material_;
};

using RunText = std::string (*)(const RunView&);

std::vector<std::string> texts(const std::vector<RunView>& runs, RunText text) {
  std::vector<std::string> out;
  for (const RunView& run : runs) out.push_back(text(run));
  return out;
}

std::string optional_digest(const std::optional<Digest>& digest) {
  return digest ? digest->text() : std::string();
}

Result<std::vector<json::Value>> read_all(Documents& documents, const std::vector<RunView>& runs,
                                          Digest (*which)(const RunView&)) {
  std::vector<json::Value> out;
  for (const RunView& run : runs) {
    const Result<json::Value> document = documents.read(which(run));
    if (!document) return fail(document.error());
    out.push_back(*document);
  }
  return out;
}

std::vector<Facts> facts_of(const std::vector<json::Value>& documents,
                            Facts (*facts)(const json::Value&)) {
  std::vector<Facts> out;
  for (const json::Value& document : documents) out.push_back(facts(document));
  return out;
}

// The C of the comparison key; empty for a workload that is not in the ledger.
std::string correctness_digest(const json::Value& workload) {
  const json::Value* rule = workload.find({"spec", "correctness"});
  return rule == nullptr ? std::string() : correctness_key(*rule).text();
}

Status add_material(RunComparison& comparison, Documents& documents) {
  const std::vector<RunView>& runs = comparison.runs;
  const auto workloads =
      read_all(documents, runs, [](const RunView& run) { return run.row.workload; });
  if (!workloads) return fail(workloads.error());
  const auto protocols =
      read_all(documents, runs, [](const RunView& run) { return run.row.protocol; });
  if (!protocols) return fail(protocols.error());
  const auto environments =
      read_all(documents, runs, [](const RunView& run) { return run.row.environment; });
  if (!environments) return fail(environments.error());

  Section operation(comparison, "operation", true);
  operation.add(
      "name", texts(runs, [](const RunView& run) { return std::string(run.row.operation_name); }));
  operation.add("digest",
                texts(runs, [](const RunView& run) { return optional_digest(run.row.operation); }),
                true);

  Section workload(comparison, "workload", true);
  std::vector<std::string> kinds;
  for (const json::Value& document : *workloads) kinds.push_back(workload_text(document));
  workload.add("workload", std::move(kinds));
  workload.add_facts(facts_of(*workloads, workload_facts));
  workload.add("digest", texts(runs, [](const RunView& run) { return run.row.workload.text(); }),
               true);

  Section protocol(comparison, "protocol", true);
  protocol.add_facts(facts_of(*protocols, protocol_facts));
  protocol.add("digest", texts(runs, [](const RunView& run) { return run.row.protocol.text(); }),
               true);

  Section environment(comparison, "environment", true);
  environment.add_facts(facts_of(*environments, environment_facts));
  environment.add("digest",
                  texts(runs, [](const RunView& run) { return run.row.environment.text(); }), true);

  Section correctness(comparison, "correctness", true);
  correctness.add_facts(facts_of(*workloads, correctness_facts));
  std::vector<std::string> rules;
  for (const json::Value& document : *workloads) rules.push_back(correctness_digest(document));
  correctness.add("digest", std::move(rules), true);

  Section metric(comparison, "metric", true);
  metric.add("metric", texts(runs, [](const RunView& run) { return std::string(run.row.metric); }));
  metric.add("statistic",
             texts(runs, [](const RunView& run) { return std::string(run.row.statistic); }));
  metric.add("unit", texts(runs, [](const RunView& run) { return std::string(run.row.unit); }));
  return {};
}

Status add_others(RunComparison& comparison, Documents& documents) {
  const std::vector<RunView>& runs = comparison.runs;
  const auto manifests = read_all(documents, runs, [](const RunView& run) { return run.digest; });
  if (!manifests) return fail(manifests.error());
  const auto implementations =
      read_all(documents, runs, [](const RunView& run) { return run.row.implementation; });
  if (!implementations) return fail(implementations.error());

  Section source(comparison, "source", false);
  source.add("source", texts(runs, [](const RunView& run) { return std::string(run.row.source); }));
  source.add("external id", texts(runs, [](const RunView& run) {
               return std::string(short_external_id(run.row));
             }));
  source.add("comparison key",
             texts(runs, [](const RunView& run) { return optional_digest(run.row.group); }), true);

  Section implementation(comparison, "implementation", false);
  implementation.add("name", texts(runs, [](const RunView& run) {
                       return std::string(implementation_text(run.row));
                     }));
  implementation.add(
      "project", texts(runs, [](const RunView& run) { return std::string(run.row.project_name); }));
  implementation.add_facts(facts_of(*implementations, implementation_facts));
  implementation.add("digest",
                     texts(runs, [](const RunView& run) { return run.row.implementation.text(); }),
                     true);

  Section result(comparison, "result", false);
  result.add("value", texts(runs, [](const RunView& run) { return value_text(run.row); }));
  result.add("status", texts(runs, [](const RunView& run) { return std::string(run.row.status); }));
  result.add("rank", texts(runs, [](const RunView& run) {
               return run.rank ? std::to_string(*run.rank) : std::string();
             }));
  result.add("why no rank", texts(runs, [](const RunView& run) {
               std::string text;
               for (const std::string& reason : run.reasons)
                 text += (text.empty() ? "" : " ") + reason;
               return text;
             }));
  result.add("level", texts(runs, [](const RunView& run) {
               return std::string(level_name(run.evidence.level));
             }));
  result.add("observed",
             texts(runs, [](const RunView& run) { return time_text(run.row.observed_at); }));
  result.add_facts(facts_of(*manifests, measurement_facts));
  result.add_facts(facts_of(*manifests, source_metric_facts));
  return {};
}

// Why no winner is named, once all material fields are equal.
std::string refusal_of(const std::vector<RunView>& runs) {
  for (const RunView& run : runs) {
    if (!run.row.group)
      return "A run has no comparison key yet: its workload is not in the ledger.";
    if (run.row.group != runs.front().row.group)
      return "The runs are of different comparison groups.";
  }
  const bool native =
      std::ranges::any_of(runs, [](const RunView& run) { return run.row.source_native; });
  if (native && std::ranges::any_of(runs, [&](const RunView& run) {
        return run.row.source != runs.front().row.source;
      })) {
    return "The comparison is source-native and the runs are of different sources, which rank "
           "their "
           "own.";
  }
  const auto eligible = std::ranges::count_if(runs, &RunView::eligible);
  if (eligible < 2) return "Fewer than two of the runs have a rank.";
  return {};
}

std::optional<std::size_t> winner_of(const std::vector<RunView>& runs) {
  std::optional<std::size_t> best;
  bool tied = false;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].rank) continue;
    if (!best || *runs[i].rank < *runs[*best].rank) {
      best = i;
      tied = false;
    } else if (*runs[i].rank == *runs[*best].rank) {
      tied = true;
    }
  }
  return tied ? std::nullopt : best;
}

// How a run is called above its column.
std::string column_name(const RunView& run) {
  return std::string(implementation_text(run.row)) + " " + run.digest.text().substr(0, 19);
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : escape_text(text)) {
    if (std::string_view("\\`*_{}[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string csv_cell(std::string_view text) {
  std::string cell(text);
  if (!cell.empty() && std::string_view("=+-@\t\r").find(cell.front()) != std::string_view::npos) {
    cell.insert(cell.begin(), '\'');
  }
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string row_mark(const RunComparison& comparison, std::size_t at) {
  if (comparison.first_mismatch == at) return "first mismatch";
  return comparison.rows[at].differs ? "differs" : "same";
}

}  // namespace

Result<RunComparison> compare_runs(const Reader& reader, std::span<const Digest> runs,
                                   const ReadPolicy& policy) {
  if (runs.size() < kComparedRunsMin) {
    return fail(ErrorKind::usage, "TOO_FEW_RUNS", {}, "a comparison needs at least two runs",
                "Name two to eight runs");
  }
  if (runs.size() > kComparedRunsMax) {
    return fail(ErrorKind::usage, "TOO_MANY_RUNS", {}, "at most eight runs are compared at once",
                "Name two to eight runs");
  }
  if (std::set<Digest>(runs.begin(), runs.end()).size() != runs.size()) {
    return fail(ErrorKind::usage, "SAME_RUN", {}, "a run is named twice", "Name each run once");
  }
  RunComparison out;
  for (const Digest& digest : runs) {
    Result<RunView> run = view_run(reader, digest, policy);
    if (!run) return fail(run.error());
    if (run->row.kind != ManifestKind::benchmark_run) {
      return fail(ErrorKind::invalid, "NOT_A_BENCHMARK_RUN", digest.text(),
                  "only benchmark runs are compared: serving runs have no rank");
    }
    out.runs.push_back(std::move(*run));
  }
  Documents documents(reader);
  if (Status status = add_material(out, documents); !status) return fail(status.error());
  if (Status status = add_others(out, documents); !status) return fail(status.error());
  for (std::size_t i = 0; i < out.rows.size() && !out.first_mismatch; ++i) {
    if (out.rows[i].material && out.rows[i].differs) out.first_mismatch = i;
  }
  if (!out.first_mismatch) out.refusal = refusal_of(out.runs);
  if (out.comparable()) out.winner = winner_of(out.runs);
  return out;
}

std::string comparison_verdict(const RunComparison& comparison) {
  if (comparison.first_mismatch) {
    const ComparedRow& row = comparison.rows[*comparison.first_mismatch];
    return "Not ranked together: the runs differ in " + row.section + ", first in " + row.name +
           ". Numbers are ranked only inside one comparison group.";
  }
  if (!comparison.refusal.empty()) return "Not ranked together. " + comparison.refusal;
  if (!comparison.winner) return "The best of these runs share a rank.";
  const RunView& best = comparison.runs[*comparison.winner];
  std::string text =
      std::string(implementation_text(best.row)) + " is in front at " + value_text(best.row);
  const RunView* next = nullptr;
  for (const RunView& run : comparison.runs) {
    if (&run == &best || !run.rank) continue;
    if (next == nullptr || *run.rank < *next->rank) next = &run;
  }
  if (next != nullptr && next->row.value && best.row.value && *best.row.value > 0) {
    text += "; the next, " + std::string(implementation_text(next->row)) + ", takes " +
            format_ratio(*next->row.value, *best.row.value) + " as long";
  }
  return text + ".";
}

std::string comparison_markdown(const RunComparison& comparison) {
  std::string out = markdown_cell(comparison_verdict(comparison)) + "\n\n| | ";
  for (const RunView& run : comparison.runs) out += "| " + markdown_cell(column_name(run)) + " ";
  out += "| |\n|---|---";
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) out += "|---";
  out += "|---|\n";
  for (std::size_t at = 0; at < comparison.rows.size(); ++at) {
    const ComparedRow& row = comparison.rows[at];
    out += "| " + markdown_cell(row.section) + " | " + markdown_cell(row.name) + " ";
    for (const std::string& value : row.values) out += "| " + markdown_cell(value) + " ";
    out += "| " + row_mark(comparison, at) + " |\n";
  }
  return out;
}

std::string comparison_csv(const RunComparison& comparison) {
  std::string out = "section,field";
  for (const RunView& run : comparison.runs) out += "," + csv_cell(run.digest.text());
  out += ",comparison\r\n";
  for (std::size_t at = 0; at < comparison.rows.size(); ++at) {
    const ComparedRow& row = comparison.rows[at];
    out += csv_cell(row.section) + "," + csv_cell(row.name);
    for (const std::string& value : row.values) out += "," + csv_cell(value);
    out += "," + row_mark(comparison, at) + "\r\n";
  }
  return out;
}

json::Value comparison_document(const JsonOutput& json, const RunComparison& comparison) {
  std::vector<json::Value> runs;
  for (const RunView& run : comparison.runs) {
    json::ObjectBuilder document = json.object();
    add_run(document, json, run);
    runs.push_back(document.add("comparisonKey", json.digest(run.row.group)).finish());
  }
  std::vector<json::Value> rows;
  for (const ComparedRow& row : comparison.rows) {
    rows.push_back(json.object()
                       .add("section", row.section)
                       .add("field", row.name)
                       .add("values", json.texts(row.values))
                       .add("material", json::Value(row.material))
                       .add("differs", json::Value(row.differs))
                       .finish());
  }
  json::Value mismatch;
  if (comparison.first_mismatch) {
    const ComparedRow& row = comparison.rows[*comparison.first_mismatch];
    mismatch = json.object().add("section", row.section).add("field", row.name).finish();
  }
  return json.object()
      .add("runs", json.array(runs))
      .add("rows", json.array(rows))
      .add("comparable", json::Value(comparison.comparable()))
      .add("firstMismatch", mismatch)
      .add("refusal", comparison.refusal.empty() ? json::Value() : json.text(comparison.refusal))
      .add("winner", comparison.winner ? json.digest(comparison.runs[*comparison.winner].digest)
                                       : json::Value())
      .add("verdict", json.text(comparison_verdict(comparison)))
      .finish();
}

}  // namespace kernelindex::tools
