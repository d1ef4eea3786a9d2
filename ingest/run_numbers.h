// SPDX-License-Identifier: Apache-2.0
// Numbers that a catalog states beside its runs, against the runs: rows of measurements, and the
// events of record history. Small enough to hold for every run of a long file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ingest/catalog_row.h"

namespace kernelindex::ingest {

// What the runs' manifests give, and which of it the rows have said.
class MeasurementCheck {
 public:
  // For each run once, in order: run 0, 1, ...
  void add_run(const std::vector<CatalogMeasurement>& expected);
  // The row's number agrees with the run's manifest; else the fault, with both values.
  std::optional<Error> confirm(std::uint32_t run, const CatalogMeasurement& row);
  // Runs whose manifest gives a number that no row said.
  std::vector<std::uint32_t> incomplete_runs() const;

 private:
  struct Number {
    double value = 0;
    double samples = -1;     // below 0: none
    std::uint32_t name = 0;  // of metric, statistic and unit
    bool said = false;
  };
  std::uint32_t name_of(const CatalogMeasurement& measurement);
  std::size_t end_of(std::uint32_t run) const;

  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> names_;
  std::deque<Number> numbers_;       // deques: they grow with the file, and never move
  std::deque<std::uint32_t> first_;  // of each run
};

// Record history by the rule of the forerunner (ranking-v0): of each comparison key the eligible
// runs in order of observation, then of row id; each strictly smaller value than all before is a
// transition. Ascending even for metrics where more is better.
class RecordHistory {
 public:
  // For each run once, in order, by the columns of its row.
  void add_run(const Uuid& id, const RunColumns& run);
  // The run last added was set aside: the history of its group is doubtful, and rows that do not
  // follow from it are not judged. `derived_key` is the key that its manifest gives, if any.
  void doubt_run(const std::optional<Digest>& derived_key);

  enum class Answer : std::uint8_t { confirmed, doubtful, differs };
  struct Judgement {
    Answer answer = Answer::differs;
    std::optional<Error> fault;
  };
  Judgement judge(std::uint32_t run, const std::optional<Uuid>& previous,
                  const RecordEventColumns& row);
  // Runs that take the lead and of which no row said so.
  std::vector<std::uint32_t> untold_runs();

  // A run takes the lead of its group.
  struct Move {
    std::uint32_t run = 0;
    Uuid id;
    std::optional<Uuid> previous;
    Digest key;
    UtcMicros at = 0;
  };
  // All of them, in the order of the runs that take the lead.
  std::vector<Move> moves();

 private:
  struct Run {
    Uuid id;
    std::uint32_t key = 0;  // index into keys_; kNoKey when it takes no part
    bool set_aside = false;
    UtcMicros observed_at = 0;
    double value = 0;
  };
  struct Transition {
    std::uint32_t run = 0;
    std::optional<std::uint32_t> previous;
    bool told = false;
  };
  std::uint32_t key_of(const Digest& key);
  bool is_doubtful(const std::optional<Digest>& key, std::uint32_t run) const;
  // Derives the transitions at the first question; no run may be added afterwards.
  void derive();
  Transition* transition_of(std::uint32_t run);

  std::deque<Run> runs_;
  std::vector<Digest> keys_;
  std::unordered_map<Digest, std::uint32_t> key_index_;
  std::vector<bool> doubtful_;           // by key
  std::vector<Transition> transitions_;  // by run
  bool derived_ = false;
};

}  // namespace kernelindex::ingest
