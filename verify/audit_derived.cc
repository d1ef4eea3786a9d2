// SPDX-License-Identifier: Apache-2.0
// Derived data: runs joined again with what they refer to, and every key of the derived space
// compared with what follows from the log, both ways.
#include <algorithm>

#include "ledger/key_layout.h"
#include "schema/canonical_json.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

constexpr std::size_t kRangeBytes = 8;  // first bytes of digests that one task takes

struct Table {
  char letter;
  bool shared_out;  // large, and its keys go on with a digest: a task for each range of them
  std::string_view name;
};

// Largest first, so that no thread begins a long task when the others are done.
constexpr std::array<Table, 19> kTables = {{
    {'s', true, "subject rows"},
    {'x', false, "external ids"},
    {'d', true, "dependents"},
    {'g', true, "comparison groups"},
    {'r', true, "run rows"},
    {'w', false, "runs by time"},
    {'y', false, "runs by hardware"},
    {'l', false, "slugs"},
    {'j', false, "replacements by sources"},
    {'n', false, "attestations about subjects"},
    {'m', false, "chain heads"},
    {'q', false, "snapshots by fingerprint"},
    {'p', false, "entries of contents"},
    {'a', false, "attestations"},
    {'i', false, "import statements"},
    {'k', false, "key statements"},
    {'v', false, "attestations on chains"},
    {'b', false, "notes by day"},
    {'z', false, "layout and size of derived data"},
}};

std::string table_letters() {
  std::string out;
  for (const Table& table : kTables) out += table.letter;
  return out;
}

std::string table_name(char letter) {
  const auto table = std::ranges::find(kTables, letter, &Table::letter);
  return table != kTables.end() ? std::string(table->name) : std::string(1, letter);
}

bool is_row(char letter) { return letter == 's' || letter == 'r' || letter == 'g'; }

// What is shown of a value: short ones whole, rows by digest.
std::string value_text(char letter, std::string_view value) {
  if (!is_row(letter)) return to_hex(value);
  return std::to_string(value.size()) + " bytes, " + sha256(value).text();
}

bool is_run(ManifestKind kind) {
  return kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run;
}

// Rows as they follow from the log, whatever the store has.
class DerivedRows final : public RowSource {
 public:
  explicit DerivedRows(const AuditState& state) : state_(state) {}

  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override {
    const auto row = state_.rows.find(identity);
    if (row != state_.rows.end()) return row->second;
    const SubjectFact* subject = find_subject(state_, identity);
    if (subject == nullptr || !is_run(subject->kind)) return std::shared_ptr<const SubjectRow>();
    return fold_subject(state_, *subject);
  }
  Result<bool> artifact_held(const Digest& digest) override {
    return state_.artifacts.contains(digest) && state_.objects.kept(digest);
  }
  Result<bool> object_kept(const Digest& digest) override { return state_.objects.kept(digest); }
  Result<bool> superseded(std::string_view external_id) override {
    return state_.superseded.contains(external_id);
  }

  static const SubjectFact* find_subject(const AuditState& state, const Digest& identity) {
    const auto found =
        std::ranges::lower_bound(state.subjects, identity, {}, &SubjectFact::subject);
    return found != state.subjects.end() && found->subject == identity ? &*found : nullptr;
  }

 private:
  const AuditState& state_;
};

struct JoinedRun {
  std::vector<DerivedPair> pairs;
  bool in_group = false;
};

// Joins a run whose own row is `self`. Nothing when a document of it cannot be read.
std::optional<JoinedRun> join_run(const AuditState& state, const SubjectFact& subject,
                                  const SubjectRow& self) {
  if (!subject.sound) return std::nullopt;
  const Manifest* document = nullptr;  // the first that is not withheld
  for (const std::uint64_t index : subject.claims) {
    const LeafFact* claim = state.leaf(index);
    const ObjectFact* object = claim != nullptr ? state.objects.find(claim->content) : nullptr;
    if (object == nullptr) return std::nullopt;
    document = object->manifest.get();
    if (document != nullptr || !object->withheld) break;
  }
  if (document == nullptr) return std::nullopt;
  DerivedRows rows(state);
  const Result<DerivedRun> run = derive_run(self, document->kind, document->facts, rows);
  if (!run) return std::nullopt;
  const Result<RunRow> row = decode_run_row(run->bytes);
  if (!row) return std::nullopt;
  return JoinedRun{run_pairs(subject.subject, *run, *row), row->group.has_value()};
}

// The same from the log alone.
std::optional<JoinedRun> join_run(const AuditState& state, const SubjectFact& subject) {
  const std::shared_ptr<const SubjectRow> self = fold_subject(state, subject);
  return self != nullptr ? join_run(state, subject, *self) : std::nullopt;
}

// Joins every run once: with its stored row where that was found right, which saves reading its
// entries again, and from the log otherwise.
class Joins {
 public:
  explicit Joins(AuditState& state) : state_(state), joined_(state.subjects.size(), 0) {}

  // A stored row that is what it must be. From any thread; each subject once.
  void take_right_row(unsigned worker, const Digest& identity, std::string_view row) {
    const SubjectFact* subject = DerivedRows::find_subject(state_, identity);
    if (subject == nullptr || !is_run(subject->kind)) return;
    const Result<SubjectRow> self = decode_subject_row(row);
    if (self) expect(worker, *subject, join_run(state_, *subject, *self));
  }

  void join_others() {
    std::vector<const SubjectFact*> others;
    for (const SubjectFact& subject : state_.subjects) {
      if (is_run(subject.kind) && joined_[position(subject)] == 0) others.push_back(&subject);
    }
    state_.workers.run(others.size(), [&](std::size_t number, unsigned worker) {
      expect(worker, *others[number], join_run(state_, *others[number]));
    });
    state_.report.checked.comparison_keys += keys_;
  }

 private:
  std::size_t position(const SubjectFact& subject) const {
    return static_cast<std::size_t>(&subject - state_.subjects.data());
  }

  void expect(unsigned worker, const SubjectFact& subject, const std::optional<JoinedRun>& run) {
    joined_[position(subject)] = 1;
    if (!run) return;
    if (run->in_group) ++keys_;
    for (const auto& [key, value] : run->pairs) {
      state_.other_pairs.expect(worker, key, value, subject.claims.front());
    }
  }

  AuditState& state_;
  std::vector<std::uint8_t> joined_;  // by position of the subject
  std::atomic<std::uint64_t> keys_ = 0;
};

// ---- comparing ----

class Comparison {
 public:
  explicit Comparison(AuditState& state) : state_(state) {
    for (const SubjectFact& subject : state.subjects) {
      if (!subject.sound) unsound_.insert(subject.subject);
    }
  }

  // The rows of subjects; the right ones go on to `joins`.
  void scan_subjects(Joins& joins) {
    const auto subjects = std::ranges::find(kTables, 's', &Table::letter);
    state_.workers.run(256 / kRangeBytes, [&](std::size_t number, unsigned worker) {
      scan(*subjects, number * kRangeBytes, [&](std::string_view key, std::string_view value) {
        if (key.size() == 33) joins.take_right_row(worker, Digest::from_raw(key.substr(1)), value);
      });
    });
  }

  // All other tables, and then what neither has.
  void scan_others() {
    struct Range {
      Table table;
      std::size_t first;
    };
    std::vector<Range> ranges;
    for (const Table& table : kTables) {
      if (table.letter == 's') continue;
      const std::size_t step = table.shared_out ? kRangeBytes : 256;
      for (std::size_t first = 0; first < 256; first += step) ranges.push_back({table, first});
    }
    state_.workers.run(ranges.size(), [&](std::size_t number, unsigned) {
      scan(ranges[number].table, ranges[number].first, [](std::string_view, std::string_view) {});
    });
    report_missing(state_.subject_rows);
    report_missing(state_.other_pairs);
    state_.report.checked.rows += state_.subject_rows.size() + state_.other_pairs.size();
  }

 private:
  template <typename OnRight>
  void scan(const Table& table, std::size_t first, const OnRight& on_right) {
    const char from = static_cast<char>(first);
    StoreCursor cursor =
        state_.reader.view().scan_once(Space::derived, std::string_view(&table.letter, 1),
                                       table.shared_out ? std::string_view(&from, 1) : "");
    PairSet& pairs = set_of(table.letter);
    for (; cursor.valid() && !state_.faults.full(); cursor.next()) {
      const std::string_view key = cursor.key();
      if (table.shared_out && key.size() > 1 &&
          static_cast<std::uint8_t>(key[1]) >= first + kRangeBytes) {
        return;
      }
      const PairSet::Match match = pairs.meet(key, cursor.value());
      if (match == PairSet::Match::same) on_right(key, cursor.value());
      if (match == PairSet::Match::unknown) extra(key, cursor.value());
      if (match == PairSet::Match::different) differs(pairs, key, cursor.value());
    }
    if (const Status status = cursor.status(); !status) {
      Fault place;
      place.derived = true;
      state_.faults.add(place, status.error());
      damaged_.store(true);
    }
  }

  PairSet& set_of(char letter) { return letter == 's' ? state_.subject_rows : state_.other_pairs; }

  // Keys of a subject whose evidence is damaged follow from nothing; that fault was named already.
  bool of_unsound(std::string_view key) const {
    if (unsound_.empty() || key.size() < 33) return false;
    return unsound_.contains(Digest::from_raw(key.substr(1, 32))) ||
           unsound_.contains(Digest::from_raw(key.substr(key.size() - 32)));
  }

  void extra(std::string_view key, std::string_view value) {
    if (of_unsound(key)) return;
    state_.faults.add_derived(
        Fault{}, "DERIVED_EXTRA",
        "the table of " + table_name(key[0]) +
            " has a key that does not follow from the log: " + to_hex(key.substr(1)),
        {}, value_text(key[0], value));
  }

  void differs(const PairSet& pairs, std::string_view key, std::string_view value) {
    const std::optional<std::uint64_t> index = pairs.entry_of(key);
    const std::string expected = index ? expected_value(*index, key) : std::string();
    state_.faults.add_derived(index ? at_entry(*index) : Fault{}, "DERIVED_DIFFERS",
                              "the table of " + table_name(key[0]) +
                                  " has another value than follows from the log under " +
                                  to_hex(key.substr(1)),
                              expected, value_text(key[0], value));
  }

  // What follows from an entry, made once more: only its hashes were kept.
  std::vector<DerivedPair> pairs_of(std::uint64_t index, char table) const {
    const Result<Entry> entry = state_.reader.entry(index);
    if (table == 'z') {
      return {{key_layout::derived_state(), key_layout::derived_state_of(state_.report.size)}};
    }
    if (!entry) return {};
    const auto* claim = std::get_if<ManifestEntry>(&entry->body);
    const std::string_view of_runs = "rgdwy";
    if (claim != nullptr && (table == 's' || of_runs.find(table) != std::string_view::npos)) {
      const SubjectFact* subject = DerivedRows::find_subject(state_, claim->subject);
      if (subject == nullptr) return {};
      if (table != 's') {
        std::optional<JoinedRun> run = join_run(state_, *subject);
        return run ? std::move(run->pairs) : std::vector<DerivedPair>();
      }
      const std::shared_ptr<const SubjectRow> row = fold_subject(state_, *subject);
      if (row == nullptr) return {};
      return {{key_layout::subject(claim->subject), encode_row(*row)}};
    }
    std::optional<Envelope> envelope;
    if (std::holds_alternative<AttestationEntry>(entry->body)) {
      const Result<std::optional<std::string>> bytes = state_.reader.object(entry->content.digest);
      Result<Envelope> read =
          bytes && *bytes ? read_stored_envelope(**bytes) : Result<Envelope>(fail(Error{}));
      if (!read) return {};
      envelope = std::move(*read);
    }
    Result<std::vector<DerivedPair>> pairs =
        entry_pairs(index, *entry, envelope ? &*envelope : nullptr);
    return pairs ? std::move(*pairs) : std::vector<DerivedPair>();
  }

  std::string expected_value(std::uint64_t index, std::string_view key) const {
    for (const DerivedPair& pair : pairs_of(index, key[0])) {
      if (pair.first == key) return value_text(key[0], pair.second);
    }
    return {};
  }

  void report_missing(const PairSet& pairs) {
    // Where a table could not be read, everything would be missing.
    if (damaged_.load()) return;
    std::set<std::pair<std::uint64_t, char>> origins;
    pairs.for_missing([&](char table, std::uint64_t index) {
      if (origins.size() < state_.options.faults_max) {
        origins.emplace(index, table);
      } else {
        state_.faults.add_derived(at_entry(index), "DERIVED_MISSING",
                                  "a key of the table of " + table_name(table) + " is missing");
      }
    });
    for (const auto& [index, table] : origins) {
      for (const auto& [key, value] : pairs_of(index, table)) {
        if (key[0] != table || !pairs.missed(key)) continue;
        state_.faults.add_derived(at_entry(index), "DERIVED_MISSING",
                                  "the table of " + table_name(table) +
                                      " lacks a key that follows from the log: " +
                                      to_hex(std::string_view(key).substr(1)),
                                  value_text(table, value));
      }
    }
  }

  AuditState& state_;
  std::unordered_set<Digest> unsound_;
  std::atomic<bool> damaged_ = false;
};

}  // namespace

void check_derived(AuditState& state) {
  if (state.options.since) return;
  if (!state.store.has_derived()) return;  // said when the store was opened
  state.subject_rows.seal(state.workers);
  Joins joins(state);
  Comparison comparison(state);
  comparison.scan_subjects(joins);
  joins.join_others();
  state.other_pairs.expect(0, key_layout::derived_state(),
                           key_layout::derived_state_of(state.report.size), 0);
  state.other_pairs.seal(state.workers);
  comparison.scan_others();
  check_tables(state, Space::derived, table_letters());
}

}  // namespace kernelindex::auditing
