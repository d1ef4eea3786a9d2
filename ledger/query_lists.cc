// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <unordered_map>

#include "ledger/group_view.h"
#include "ledger/key_layout.h"

namespace kernelindex {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool matches(const RunFilter& filter, const RunView& run) {
  const RunRow& row = run.row;
  if ((row.kind == ManifestKind::serving_run) != filter.serving) return false;
  if (!filter.source.empty() && row.source != filter.source) return false;
  if (filter.operation && row.operation != filter.operation) return false;
  if (filter.implementation && row.implementation != *filter.implementation) return false;
  if (filter.project && row.project != filter.project) return false;
  if (filter.workload && row.workload != *filter.workload) return false;
  if (!filter.hardware.empty() && lower(row.hardware) != lower(filter.hardware)) return false;
  if (!filter.status.empty() && row.status != filter.status) return false;
  if (filter.level && run.evidence.level != *filter.level) return false;
  if (filter.since && row.observed_at < *filter.since) return false;
  if (filter.until && row.observed_at >= *filter.until) return false;
  return true;
}

// The narrowest index that holds all runs the filter may choose; its keys end in (newest first
// time, run), so that every index gives the same order.
std::string index_prefix(const RunFilter& filter) {
  for (const std::optional<Digest>& digest : {filter.implementation, filter.operation}) {
    if (digest) return key_layout::dependents(*digest);
  }
  return key_layout::by_time(filter.serving ? ManifestKind::serving_run
                                            : ManifestKind::benchmark_run);
}

// Rank and reasons of runs, each group judged once.
class Ranks {
 public:
  Ranks(const Reader& reader, const ReadPolicy& policy) : reader_(reader), policy_(policy) {}

  Status fill(RunView& run) {
    if (!run.row.group || run.row.kind == ManifestKind::serving_run) {
      History alone;
      alone.ranking = policy_.ranking;
      const std::vector<RankCandidate> only = {candidate_of(run)};
      const GroupRanking ranking = rank_group(only, policy_.ranking);
      run.reasons = ranking.runs.front().reasons;
      return {};
    }
    const auto known = groups_.find(*run.row.group);
    if (known == groups_.end()) {
      Result<History> group = judge_group(reader_, *run.row.group, policy_);
      if (!group) return fail(group.error());
      Places places;
      for (const RunView& member : group->runs) {
        places.emplace(member.digest, std::pair(member.rank, member.reasons));
      }
      return assign(groups_.emplace(*run.row.group, std::move(places)).first->second, run);
    }
    return assign(known->second, run);
  }

 private:
  using Places =
      std::unordered_map<Digest, std::pair<std::optional<std::uint32_t>, std::vector<std::string>>>;

  static Status assign(const Places& places, RunView& run) {
    const auto found = places.find(run.digest);
    if (found == places.end()) {
      return kernelindex::fail(ErrorKind::corrupt, "DAMAGED_ROW", run.digest.text(),
                               "the run is missing in its comparison group",
                               "`kernelindex reindex` makes derived data anew");
    }
    std::tie(run.rank, run.reasons) = found->second;
    return {};
  }
  static std::unexpected<Error> fail(const Error& error) { return kernelindex::fail(error); }

  const Reader& reader_;
  const ReadPolicy& policy_;
  std::unordered_map<Digest, Places> groups_;
};

// A cursor is the hex of the last key's (time, run) part.
constexpr std::size_t kCursorBytes = 8 + 32;

Result<std::string> start_after(const std::string& cursor) {
  if (cursor.empty()) return std::string();
  std::optional<std::string> raw = from_hex(cursor);
  if (!raw || raw->size() != kCursorBytes) {
    return fail(ErrorKind::invalid, "BAD_CURSOR", {}, "the cursor is not one that a list gave",
                "start again without a cursor");
  }
  raw->push_back('\0');  // the next key after it
  return std::move(*raw);
}

}  // namespace

Result<RunPage> list_runs(const Reader& reader, const RunFilter& filter, const ReadPolicy& policy) {
  const Result<std::uint64_t> size = size_of(reader, policy);
  if (!size) return fail(size.error());
  const Result<std::string> from = start_after(filter.cursor);
  if (!from) return fail(from.error());
  RunJudge judge(reader, *size, policy.ranking);
  Ranks ranks(reader, policy);
  RunPage page;
  StoreCursor cursor = reader.view().scan(Space::derived, index_prefix(filter), *from);
  for (; cursor.valid(); cursor.next()) {
    const Digest identity = key_layout::last_digest(cursor.key());
    Result<std::optional<RunView>> run = judge.read(identity);
    if (!run) return fail(run.error());
    if (!*run || !matches(filter, **run)) continue;
    if (filter.limit > 0 && page.runs.size() == filter.limit) {
      const RunView& last = page.runs.back();
      page.next = to_hex(
          key_layout::join(key_layout::newest_first(last.row.observed_at), last.digest.raw()));
      break;
    }
    if (Status status = ranks.fill(**run); !status) return fail(status.error());
    page.runs.push_back(std::move(**run));
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  return page;
}

Result<std::vector<RecordView>> list_records(const Reader& reader, const RunFilter& filter,
                                             const ReadPolicy& policy) {
  std::vector<RecordView> out;
  std::optional<Digest> last;
  StoreCursor cursor = reader.view().scan(Space::derived, "g");
  for (; cursor.valid(); cursor.next()) {
    const Digest key = Digest::from_raw(cursor.key().substr(1, 32));
    if (last == key) continue;
    last = key;
    const std::string bytes(cursor.value());
    const Result<RunRow> first = decode_run_row(bytes);
    if (!first) return fail(first.error());
    if (first->kind != ManifestKind::benchmark_run) continue;
    Result<History> group = judge_group(reader, key, policy);
    if (!group) return fail(group.error());
    for (const RecordMove& move : group->moves) {
      const RunView& run = group->runs[move.run];
      if (!matches(filter, run)) continue;
      RecordView record{key,
                        run.digest,
                        {},
                        std::string(run.row.source),
                        std::string(run.row.operation_name),
                        std::string(run.row.implementation_name),
                        std::string(run.row.hardware),
                        std::string(run.row.unit),
                        run.row.value.value_or(0.0),
                        run.row.observed_at,
                        move.late};
      if (move.previous) record.previous = group->runs[*move.previous].digest;
      out.push_back(std::move(record));
    }
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  std::ranges::sort(out, [](const RecordView& a, const RecordView& b) {
    return std::tie(b.at, a.run) < std::tie(a.at, b.run);
  });
  if (filter.limit > 0 && out.size() > filter.limit) out.resize(filter.limit);
  return out;
}

}  // namespace kernelindex
