// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ledger/group_view.h"
#include "ledger/key_layout.h"
#include "ledger/reader_attempts.h"
#include "ledger/run_evidence.h"

namespace kernelindex {

RunJudge::RunJudge(const Reader& reader, std::uint64_t size, RankingPolicy ranking)
    : reader_(reader),
      size_(size),
      ranking_(ranking),
      keys_(reader.keys(size)),
      judgements_(reader.judgements(size)),
      earlier_(reader, size) {}

Result<std::optional<std::string>> RunJudge::row_of(const Digest& identity) {
  if (current()) return reader_.run_row(identity);
  Result<std::optional<DerivedRun>> run = earlier_.run(identity);
  if (!run) return fail(run.error());
  if (!*run) return std::nullopt;
  return std::move((*run)->bytes);
}

Result<std::optional<RunView>> RunJudge::read(const Digest& identity) {
  Result<std::optional<std::string>> row = row_of(identity);
  if (!row) return fail(row.error());
  if (!*row) return std::nullopt;
  Result<RunView> view = judge(identity, std::move(**row));
  if (!view) return fail(view.error());
  return std::move(*view);
}

Result<RunView> RunJudge::judge(const Digest& identity, std::string row) {
  auto owned = std::make_unique<const std::string>(std::move(row));
  Result<RunRow> decoded = decode_run_row(*owned);
  if (!decoded) return fail_in(identity.text(), decoded.error());
  RunView view(identity, std::move(owned), std::move(*decoded));
  const SubjectJudgement* said = judgements_->find(identity);
  Result<Evidence> evidence = judge_evidence(view.row, identity);
  if (!evidence) return fail(evidence.error());
  view.evidence = std::move(*evidence);
  if (said == nullptr) return view;
  view.retracted = said->retracted();
  view.cannot_judge = said->cannot_judge;
  // Only the source whose number it is can withdraw it.
  view.withdrawn = std::ranges::any_of(said->withdrawn_ids, [&](std::string_view id) {
    return id.size() > view.row.source.size() && id.starts_with(view.row.source) &&
           id[view.row.source.size()] == ':';
  });
  if (Status status = judge_successors(view, *said); !status) return fail(status.error());
  return view;
}

Result<Evidence> RunJudge::judge_evidence(const RunRow& row, const Digest& run) {
  const std::vector<ImportRange>& imports = reader_.state().imports;
  EvidenceFacts facts = evidence_facts(row, run, {imports, *keys_, *judgements_, size_});
  if (facts.controlled || measured(reader_, run)) {
    if (Status status = judge_attempts(run, facts); !status) return fail(status.error());
  }
  return evidence_v1(facts);
}

Status RunJudge::judge_attempts(const Digest& run, EvidenceFacts& facts) {
  if (size_ == 0) return {};
  ReaderAttempts source(reader_, size_);
  const Result<AttemptContext> context = source.own_context();
  if (!context) return fail(context.error());
  const Result<std::shared_ptr<const SubjectRow>> row = source.subject(run);
  if (!row) return fail(row.error());
  if (*row == nullptr) return {};
  return add_attempts(source, *context, run, **row, facts);
}

Status RunJudge::judge_successors(RunView& run, const SubjectJudgement& said) {
  for (const SubjectJudgement::Successor& successor : said.successors) {
    run.successor = successor.by;
    if (run.superseded) continue;
    const Result<bool> stands = eligible(successor.by);
    if (!stands) return fail(stands.error());
    run.superseded = *stands;
  }
  return {};
}

Result<bool> RunJudge::eligible(const Digest& run) {
  // A cycle cannot be recorded; in a ledger that holds one all the same, nobody in it stands.
  const auto [known, fresh] = eligible_.try_emplace(run, false);
  if (!fresh) return known->second;
  Result<std::optional<RunView>> view = read(run);
  if (!view) return fail(view.error());
  if (!*view || !own_reasons(candidate_of(**view), ranking_).empty()) return false;
  const Result<bool> replaced = replaced_at_source(**view);
  if (!replaced) return fail(replaced.error());
  return eligible_[run] = !*replaced;
}

// As ranking its group would say, without asking about successors of the others.
Result<bool> RunJudge::replaced_at_source(const RunView& run) {
  const RunRow& row = run.row;
  if (ranking_ == RankingPolicy::v0 || !row.group || row.native_external_id.empty()) return false;
  std::vector<RankCandidate> same;
  std::vector<RunView> views;
  StoreCursor cursor = reader_.view().scan(Space::derived, key_layout::group(*row.group));
  for (; cursor.valid(); cursor.next()) {
    const Digest identity = key_layout::last_digest(cursor.key());
    Result<std::optional<std::string>> bytes = row_of(identity);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) continue;
    auto owned = std::make_unique<const std::string>(std::move(**bytes));
    Result<RunRow> other = decode_run_row(*owned);
    if (!other) return fail_in(identity.text(), other.error());
    if (other->group != row.group || other->source != row.source ||
        other->native_external_id != row.native_external_id) {
      continue;
    }
    RunView view(identity, std::move(owned), std::move(*other));
    Result<Evidence> evidence = judge_evidence(view.row, identity);
    if (!evidence) return fail(evidence.error());
    view.evidence = std::move(*evidence);
    views.push_back(std::move(view));
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  for (const RunView& view : views) same.push_back(candidate_of(view));
  const GroupRanking ranking = rank_group(same, ranking_);
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (same[i].run != run.digest) continue;
    return std::ranges::find(ranking.runs[i].reasons, "REPLACED_AT_SOURCE") !=
           ranking.runs[i].reasons.end();
  }
  return false;
}

}  // namespace kernelindex
