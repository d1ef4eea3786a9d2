// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_numbers.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "ingest/column_check.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

constexpr std::uint32_t kNoKey = std::numeric_limits<std::uint32_t>::max();

std::string number_text(double value) {
  std::string text;
  json::append_number(value, text);
  return text;
}

std::string label(const CatalogMeasurement& measurement) {
  return measurement.metric + ":" + measurement.statistic + ":" + measurement.unit;
}

double samples_of(const CatalogMeasurement& measurement) {
  return measurement.sample_count.value_or(-1);
}

std::string samples_text(double samples) {
  return samples < 0 ? "no sample count" : number_text(samples) + " samples";
}

}  // namespace

std::uint32_t MeasurementCheck::name_of(const CatalogMeasurement& measurement) {
  const auto next = static_cast<std::uint32_t>(names_.size());
  return names_.try_emplace({measurement.metric, measurement.statistic, measurement.unit}, next)
      .first->second;
}

void MeasurementCheck::add_run(const std::vector<CatalogMeasurement>& expected) {
  first_.push_back(static_cast<std::uint32_t>(numbers_.size()));
  for (const CatalogMeasurement& measurement : expected) {
    numbers_.push_back({measurement.value, samples_of(measurement), name_of(measurement), false});
  }
}

std::size_t MeasurementCheck::end_of(std::uint32_t run) const {
  return run + 1 < first_.size() ? first_[run + 1] : numbers_.size();
}

std::optional<Error> MeasurementCheck::confirm(std::uint32_t run, const CatalogMeasurement& row) {
  const std::uint32_t name = name_of(row);
  for (std::size_t i = first_[run]; i < end_of(run); ++i) {
    Number& number = numbers_[i];
    if (number.name != name) continue;
    if (number.said) {
      return Error{ErrorKind::invalid,
                   "DUPLICATE_ROW",
                   label(row),
                   "another row has said this number of the run",
                   {}};
    }
    number.said = true;
    if (number.value != row.value) {
      return both_values("MEASUREMENT_DIFFERS", label(row), number_text(row.value),
                         number_text(number.value));
    }
    if (number.samples != samples_of(row)) {
      return both_values("MEASUREMENT_DIFFERS", label(row), samples_text(samples_of(row)),
                         samples_text(number.samples));
    }
    return std::nullopt;
  }
  return both_values("MEASUREMENT_DIFFERS", label(row), number_text(row.value), "no such number");
}

std::vector<std::uint32_t> MeasurementCheck::incomplete_runs() const {
  std::vector<std::uint32_t> runs;
  for (std::uint32_t run = 0; run < first_.size(); ++run) {
    for (std::size_t i = first_[run]; i < end_of(run); ++i) {
      if (numbers_[i].said) continue;
      runs.push_back(run);
      break;
    }
  }
  return runs;
}

std::uint32_t RecordHistory::key_of(const Digest& key) {
  const auto next = static_cast<std::uint32_t>(keys_.size());
  const auto [entry, is_new] = key_index_.try_emplace(key, next);
  if (is_new) {
    keys_.push_back(key);
    doubtful_.push_back(false);
  }
  return entry->second;
}

void RecordHistory::add_run(const Uuid& id, const RunColumns& run) {
  assert(!derived_);
  Run& added = runs_.emplace_back(Run{id, kNoKey, false, run.observed_at, 0});
  if (!run.comparison_key || !run.eligible) return;
  added.key = key_of(*run.comparison_key);
  added.value = run.primary_value.value_or(0);
}

void RecordHistory::doubt_run(const std::optional<Digest>& derived_key) {
  Run& run = runs_.back();
  run.set_aside = true;
  if (run.key != kNoKey) doubtful_[run.key] = true;
  if (derived_key) doubtful_[key_of(*derived_key)] = true;
}

bool RecordHistory::is_doubtful(const std::optional<Digest>& key, std::uint32_t run) const {
  if (runs_[run].set_aside) return true;
  const auto known = key ? key_index_.find(*key) : key_index_.end();
  return known != key_index_.end() && doubtful_[known->second];
}

void RecordHistory::derive() {
  if (std::exchange(derived_, true)) return;
  std::vector<std::uint32_t> order;
  for (std::uint32_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run].key != kNoKey) order.push_back(run);
  }
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const auto rank = [&](const Run& run) { return std::tie(run.key, run.observed_at, run.id); };
    return rank(runs_[a]) < rank(runs_[b]);
  });
  std::uint32_t leader = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Run& run = runs_[order[i]];
    const bool first = i == 0 || runs_[order[i - 1]].key != run.key;
    if (!first && !(run.value < runs_[leader].value)) continue;
    transitions_.push_back({order[i], first ? std::nullopt : std::optional(leader), false});
    leader = order[i];
  }
  std::ranges::sort(transitions_, {}, &Transition::run);
}

RecordHistory::Transition* RecordHistory::transition_of(std::uint32_t run) {
  const auto found = std::ranges::lower_bound(transitions_, run, {}, &Transition::run);
  return found != transitions_.end() && found->run == run ? &*found : nullptr;
}

RecordHistory::Judgement RecordHistory::judge(std::uint32_t run,
                                              const std::optional<Uuid>& previous,
                                              const RecordEventColumns& row) {
  derive();
  Transition* transition = transition_of(run);
  const auto differs = [&](std::string_view column, const std::string& row_says,
                           const std::string& derived) -> Judgement {
    if (is_doubtful(row.comparison_key, run)) return {Answer::doubtful, std::nullopt};
    Error fault = {ErrorKind::invalid,
                   "RECORD_EVENT_DIFFERS",
                   std::string(column),
                   "the row says " + row_says + ", the runs of this file give " + derived,
                   {}};
    return {Answer::differs, std::move(fault)};
  };
  if (transition == nullptr) {
    return differs("runId", runs_[run].id.text() + " takes the lead", "no such transition");
  }
  if (std::exchange(transition->told, true)) {
    Error fault = {
        ErrorKind::invalid, "DUPLICATE_ROW", "runId", "another row has said this transition", {}};
    return {Answer::differs, std::move(fault)};
  }
  const Digest& key = keys_[runs_[run].key];
  if (row.comparison_key != key) {
    return differs("comparisonKey", row.comparison_key ? row.comparison_key->text() : "none",
                   key.text());
  }
  const std::optional<Uuid> led =
      transition->previous ? std::optional(runs_[*transition->previous].id) : std::nullopt;
  if (previous != led) {
    return differs("previousRunId", previous ? previous->text() : "null",
                   led ? led->text() : "null");
  }
  if (row.at != runs_[run].observed_at) {
    return differs("at", row.at ? format_utc_millis(*row.at) : "none",
                   format_utc_millis(runs_[run].observed_at));
  }
  if (row.cause != "new_run") return differs("cause", row.cause, "new_run");
  return {Answer::confirmed, std::nullopt};
}

std::vector<std::uint32_t> RecordHistory::untold_runs() {
  derive();
  std::vector<std::uint32_t> runs;
  for (const Transition& transition : transitions_) {
    if (!transition.told && !doubtful_[runs_[transition.run].key]) runs.push_back(transition.run);
  }
  return runs;
}

std::vector<RecordHistory::Move> RecordHistory::moves() {
  derive();
  std::vector<Move> out;
  for (const Transition& transition : transitions_) {
    const Run& run = runs_[transition.run];
    Move& move =
        out.emplace_back(Move{transition.run, run.id, {}, keys_[run.key], run.observed_at});
    if (transition.previous) move.previous = runs_[*transition.previous].id;
  }
  return out;
}

}  // namespace kernelindex::ingest
