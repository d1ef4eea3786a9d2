// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/catalog_check.h"

#include <atomic>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/comparison_key.h"
#include "schema/digest.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/manifest.h"
#include "tests/bench/catalog_lines.h"

namespace kernelindex::bench {
namespace {

using json::Value;

constexpr std::size_t kRangeBytes = 512 * 1024;

// Row ids lie in the text of the catalog, which outlives the check.
struct Workload {
  std::string_view id;
  WorkloadFacts facts;
};
struct Run {
  std::string_view workload;
  std::string_view correctness_key;
  std::string_view comparison_key;
  BenchmarkRunFacts facts;  // only what the key is made of
};

// The ranges of whole lines that threads take one after the other.
std::vector<std::string_view> ranges_of(std::string_view text) {
  std::vector<std::string_view> ranges;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n', std::min(kRangeBytes, text.size()));
    const std::size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    ranges.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return ranges;
}

Digest digest_member(const Value& object, std::string_view name) {
  return Digest::parse(object.text(name)).value_or(Digest());
}

// What one thread read and counted.
class Checker {
 public:
  explicit Checker(bool schema) : schema_(schema) {}

  Status read(std::string_view lines) {
    for (CatalogLines each(lines); each.next();) {
      arena_.reset();
      text_ = each.line();
      const Result<Value> document =
          json::parse(text_, arena_, {limits::kSourceLineBytes, limits::kJsonDepth});
      if (!document) return fail(document.error());
      const Value* row = document->find("row");
      if (row == nullptr) return fail(ErrorKind::invalid, "NOT_A_CATALOG", {}, "a line has no row");
      if (Status status = take(document->text("table"), *row); !status) return status;
    }
    return {};
  }

  const std::vector<Workload>& workloads() const { return workloads_; }
  const std::vector<Run>& runs() const { return runs_; }
  CatalogCounts& counts() { return counts_; }

 private:
  Status take(std::string_view table, const Value& row) {
    if (table == "operations") return check(Checked::operation, row, "semanticDigest");
    if (table == "implementations") {
      return check(Checked::implementation, row, "implementationDigest");
    }
    if (table == "serving_runs") return check(Checked::serving_run, row, "runDigest");
    if (table == "workloads") return take_workload(row);
    if (table == "benchmark_runs") return take_run(row);
    return {};
  }

  // The identity of a manifest; its facts too when it was validated.
  Result<Digest> identity(const Value& manifest, KindFacts* facts) {
    if (schema_) {
      Result<Manifest> made = make_manifest(manifest, arena_);
      if (!made) return fail(made.error());
      if (facts != nullptr) *facts = std::move(made->facts);
      return made->identity;
    }
    const json::Member body[] = {{"apiVersion", *manifest.find("apiVersion")},
                                 {"kind", *manifest.find("kind")},
                                 {"spec", *manifest.find("spec")}};
    canonical_.clear();
    json::append_canonical(arena_.object(body), canonical_);
    return sha256(canonical_);
  }

  Status check(Checked what, const Value& row, std::string_view column,
               KindFacts* facts = nullptr) {
    const Result<Digest> found = identity(*row.find("manifest"), facts);
    if (!found) return fail(found.error());
    counts_.add(what, found->text() == row.text(column));
    return {};
  }

  // The text of a string that has no escapes, as it lies in the catalog.
  std::string_view in_text(const Value& value) const {
    return text_.substr(value.begin() + 1, value.string().size());
  }

  Status take_workload(const Value& row) {
    KindFacts facts;
    if (Status ok = check(Checked::workload, row, "workloadDigest", &facts); !ok) return ok;
    Workload& workload = workloads_.emplace_back();
    workload.id = in_text(*row.find("id"));
    if (schema_) {
      workload.facts = std::get<WorkloadFacts>(facts);
    } else {
      const Value& spec = *row.find({"manifest", "spec"});
      workload.facts.operation = digest_member(spec, "operationSpecDigest");
      workload.facts.correctness_key = correctness_key(*spec.find("correctness"));
    }
    return {};
  }

  Status take_run(const Value& row) {
    const Value& parts = *row.find("manifest");
    KindFacts facts;
    const Result<Digest> run = identity(*parts.find("run"), &facts);
    if (!run) return fail(run.error());
    const Result<Digest> protocol = identity(*parts.find("protocol"), nullptr);
    if (!protocol) return fail(protocol.error());
    const Result<Digest> environment = identity(*parts.find("environment"), nullptr);
    if (!environment) return fail(environment.error());
    Run& kept = runs_.emplace_back();
    kept.facts =
        schema_ ? std::get<BenchmarkRunFacts>(facts) : key_facts(*parts.find({"run", "spec"}));
    counts_.add(Checked::run, run->text() == row.text("runDigest"));
    counts_.add(Checked::protocol, *protocol == kept.facts.protocol);
    counts_.add(Checked::environment, *environment == kept.facts.environment);
    kept.workload = in_text(*row.find("workloadId"));
    kept.correctness_key = in_text(*row.find("correctnessKey"));
    kept.comparison_key = in_text(*row.find("comparisonKey"));
    return {};
  }

  static BenchmarkRunFacts key_facts(const Value& spec) {
    BenchmarkRunFacts facts;
    facts.workload = digest_member(spec, "workloadDigest");
    facts.protocol = digest_member(spec, "protocolDigest");
    facts.environment = digest_member(spec, "environmentDigest");
    if (const Value* timing = spec.find("timing")) {
      facts.primary.emplace();
      facts.primary->metric = "latency";
      facts.primary->statistic = timing->text("primaryStatistic");
      facts.primary->unit = "ns";
    } else if (const Value* list = spec.find("measurements"); list && !list->array().empty()) {
      const Value& first = list->array().front();
      facts.primary.emplace();
      facts.primary->metric = first.text("metric");
      facts.primary->statistic = first.text("statistic");
      facts.primary->unit = first.text("unit");
    }
    return facts;
  }

  bool schema_;
  json::Arena arena_;
  std::string_view text_;  // of the line
  std::string canonical_;
  std::vector<Workload> workloads_;
  std::vector<Run> runs_;
  CatalogCounts counts_;
};

// Calls work(i) on as many threads, each with its own number.
template <typename Work>
void in_parallel(unsigned threads, const Work& work) {
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back([&work, i] { work(i); });
  work(0u);
}

}  // namespace

void CatalogCounts::add(Checked what, bool equal) {
  Count& count = things[static_cast<std::size_t>(what)];
  ++(equal ? count.equal : count.different);
}

bool CatalogCounts::all_equal() const {
  for (const Count& count : things) {
    if (count.different != 0) return false;
  }
  return true;
}

std::string CatalogCounts::json() const {
  constexpr std::array<std::string_view, kCheckedThings> kNames = {
      "operation", "workload",    "implementation", "servingRun",   "run",
      "protocol",  "environment", "correctnessKey", "comparisonKey"};
  std::string out = "{";
  for (std::size_t i = 0; i < things.size(); ++i) {
    if (i > 0) out += ",";
    out += "\"" + std::string(kNames[i]) + "\":{\"equal\":" + std::to_string(things[i].equal) +
           ",\"different\":" + std::to_string(things[i].different) + "}";
  }
  return out + "}";
}

Result<CatalogCounts> check_catalog(std::string_view text, unsigned threads, bool schema) {
  const std::vector<std::string_view> ranges = ranges_of(text);
  std::vector<Checker> checkers;
  for (unsigned i = 0; i < threads; ++i) checkers.emplace_back(schema);
  std::vector<Status> done(threads);
  std::atomic<std::size_t> next = 0;
  in_parallel(threads, [&](unsigned thread) {
    for (std::size_t i = next++; i < ranges.size() && done[thread]; i = next++) {
      done[thread] = checkers[thread].read(ranges[i]);
    }
  });
  for (const Status& status : done) {
    if (!status) return fail(status.error());
  }

  // Runs come behind the workloads that they name, but perhaps in another thread's range.
  std::unordered_map<std::string_view, const WorkloadFacts*> workloads;
  for (const Checker& checker : checkers) {
    for (const Workload& workload : checker.workloads()) {
      workloads.emplace(workload.id, &workload.facts);
    }
  }
  in_parallel(threads, [&](unsigned thread) {
    CatalogCounts& counts = checkers[thread].counts();
    for (const Run& run : checkers[thread].runs()) {
      const auto workload = workloads.find(run.workload);
      const bool known = workload != workloads.end();
      counts.add(Checked::correctness_key,
                 known && workload->second->correctness_key.text() == run.correctness_key);
      counts.add(
          Checked::comparison_key,
          known && comparison_key(run.facts, *workload->second).text() == run.comparison_key);
    }
  });
  CatalogCounts all;
  for (Checker& checker : checkers) {
    for (std::size_t i = 0; i < kCheckedThings; ++i) {
      all.things[i].equal += checker.counts().things[i].equal;
      all.things[i].different += checker.counts().things[i].different;
    }
  }
  return all;
}

}  // namespace kernelindex::bench
