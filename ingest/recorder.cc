// SPDX-License-Identifier: Apache-2.0
#include "ingest/recorder.h"

#include <algorithm>

#include "ingest/sources.h"
#include "ingest/text_cut.h"
#include "ledger/derive.h"
#include "ledger/key_layout.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

// A report keeps this many findings of each class in full; the rest are counted. An object of a
// report stays far below the limit of what is read at once.
constexpr std::size_t kFindingsKept = 10'000;

Value count(std::uint64_t number) { return Value(static_cast<double>(number)); }

Value count_map(Arena& arena, const std::map<std::string, std::uint64_t>& counts) {
  ObjectBuilder out(arena);
  for (const auto& [name, number] : counts) out.add(name, count(number));
  return out.finish();
}

Value findings_of(Arena& arena, const std::vector<Finding>& findings, FindingClass kind) {
  std::vector<Value> out;
  for (const Finding& finding : findings) {
    if (finding.kind != kind || out.size() == kFindingsKept) continue;
    out.push_back(arena.object({{"locator", arena.string(finding.locator)},
                                {"item", arena.string(finding.item)},
                                {"code", arena.string(finding.code)},
                                {"reason", arena.string(finding.reason)}}));
  }
  return arena.array(out);
}

std::uint64_t beyond_kept(const std::vector<Finding>& findings) {
  std::map<FindingClass, std::uint64_t> counts;
  for (const Finding& finding : findings) ++counts[finding.kind];
  std::uint64_t beyond = 0;
  for (const auto& [kind, number] : counts) {
    if (number > kFindingsKept) beyond += number - kFindingsKept;
  }
  return beyond;
}

Value append_counts(Arena& arena, const AppendCounts& counts) {
  return arena.object({{"manifests", count(counts.manifests)},
                       {"artifacts", count(counts.artifacts)},
                       {"snapshots", count(counts.snapshots)},
                       {"attestations", count(counts.attestations)}});
}

void add_source_part(Arena& arena, const ImportReport& report, ObjectBuilder& out) {
  out.add("source", report.source);
  out.add("selected", count(report.selected));
  out.add("skipped", count_map(arena, report.skipped));
  out.add("counted", count_map(arena, report.counted));
  out.add("claims", count_map(arena, report.claims));
  out.add("quarantined", findings_of(arena, report.findings, FindingClass::quarantined));
  out.add("review", findings_of(arena, report.findings, FindingClass::review));
  out.add("drift", findings_of(arena, report.findings, FindingClass::drift));
  const std::uint64_t beyond = beyond_kept(report.findings);
  if (beyond > 0) out.add("findingsNotListed", count(beyond));
}

// The digest that is known, else of the bytes.
Result<Digest> hash_of(const RecordedFile& file) {
  if (file.digest) return *file.digest;
  return digest_of(file);
}

std::string under(std::string_view source, std::string_view slug) {
  return key_layout::join(source, key_layout::kZero, slug);
}

// A reason as a statement may hold it: some text, one line, of a bounded length.
std::string one_line(std::string_view text) {
  constexpr std::size_t kUnits = 500;
  std::string out(first_utf16(text, kUnits));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (out.find_first_not_of(' ') == std::string::npos) return "the source gives no reason";
  return out;
}

}  // namespace

bool ImportReport::quarantined() const {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.kind == FindingClass::quarantined; });
}

std::string ImportReport::json() const {
  Arena arena;
  ObjectBuilder out(arena);
  add_source_part(arena, *this, out);
  if (const SourceInfo* info = find_source(source)) {
    out.add("license", info->license).add("terms", info->terms);
    out.add("attribution", info->attribution);
  }
  out.add("recorded", append_counts(arena, recorded));
  out.add("existing", append_counts(arena, existing));
  out.add("size", count(head.size));
  out.add("root", head.root.text());
  return json::canonical(out.finish());
}

std::string ImportReport::kept_json() const {
  Arena arena;
  ObjectBuilder out(arena);
  out.add("v", Value(1.0));
  add_source_part(arena, *this, out);
  if (!files.empty()) {
    std::vector<Value> list;
    for (const auto& [locator, digest] : files) {
      list.push_back(arena.object(
          {{"locator", arena.string(locator)}, {"snapshot", arena.string(digest.text())}}));
    }
    out.add("files", arena.array(list));
  }
  if (!fetch_records.empty()) {
    std::vector<Value> list;
    for (const Digest& digest : fetch_records) list.push_back(arena.string(digest.text()));
    out.add("fetchRecords", arena.array(list));
  }
  return json::canonical(out.finish());
}

Recorder::Recorder(Ledger& ledger, Appender* appender, std::string source,
                   std::span<const RecordedFile> files, bool keep_locators)
    : ledger_(ledger),
      appender_(appender),
      reader_(ledger.read()),
      files_(files),
      keep_locators_(keep_locators),
      snapshots_(files.size()) {
  report_.source = std::move(source);
}

SnapshotEntry Recorder::snapshot_entry(const RecordedFile& file) const {
  return {file.source.empty() ? report_.source : file.source, file.locator, file.fetched_at,
          file.fetched_at.empty() ? "supplied" : "fetched"};
}

Status Recorder::begin_file(std::size_t file) {
  if (snapshots_[file]) return {};
  if (appender_ == nullptr) return count_dry_file(file);
  const RecordedFile& given = files_[file];
  const SnapshotEntry entry = snapshot_entry(given);
  Result<std::unique_ptr<ByteSource>> bytes = given.open();
  if (!bytes) return fail_in(given.locator, bytes.error());
  Result<Recorded> recorded = appender_->snapshot(entry, given.media_type, **bytes);
  if (!recorded) return fail_in(given.locator, recorded.error());
  if (given.digest && recorded->content != *given.digest) {
    return fail(ErrorKind::invalid, "CHANGED_WHILE_READ", given.locator,
                "the file changed while it was read", "Run the command again");
  }
  snapshots_[file] = recorded->content;
  return {};
}

Status Recorder::claim(Draft draft) {
  if (Status status = begin_file(draft.file); !status) return status;
  if (draft.manifest.kind == ManifestKind::software_project && !draft.facts.slug.empty()) {
    Result<std::optional<Digest>> known = known_project(draft);
    if (!known) return fail(known.error());
    if (*known) {
      replaced_projects_[draft.manifest.identity] = **known;
      finding({FindingClass::review, files_[draft.file].locator, draft.item, "PROJECT_DIFFERS",
               "the project \"" + draft.facts.slug +
                   "\" is known with other facts and keeps its manifest " + (*known)->text()});
      return {};
    }
  }
  if (draft.manifest.kind == ManifestKind::operation_spec && !draft.facts.slug.empty()) {
    if (Status status = review_slug(draft); !status) return status;
  }
  if (draft.facts.project) {
    const auto replaced = replaced_projects_.find(*draft.facts.project);
    if (replaced != replaced_projects_.end()) draft.facts.project = replaced->second;
  }
  ++report_.claims[std::string(kind_name(draft.manifest.kind))];
  if (appender_ == nullptr) return count_dry(draft);
  ManifestEntry entry;
  entry.source = std::move(draft.source);
  entry.via = std::move(draft.via);
  entry.external_ids = std::move(draft.external_ids);
  entry.snapshot = snapshots_[draft.file];
  entry.item = std::move(draft.item);
  entry.facts = std::move(draft.facts);
  const std::string item = entry.item;
  Result<Recorded> recorded = appender_->claim(std::move(entry), draft.manifest);
  if (recorded) return {};
  if (recorded.error().kind != ErrorKind::invalid) return fail(recorded.error());
  // Too large for an entry: this item is set aside, the rest goes on.
  finding({FindingClass::quarantined, files_[draft.file].locator, item, recorded.error().code,
           recorded.error().message});
  return {};
}

Status Recorder::count_dry(const Draft& draft) {
  std::vector<std::string> ids = draft.external_ids;
  std::ranges::sort(ids);
  const Digest fingerprint = claim_fingerprint(draft.manifest.document, draft.source, draft.via,
                                               ids, files_[draft.file].fetched_at.empty());
  Result<std::optional<SubjectRow>> row = reader_.subject(draft.manifest.identity);
  if (!row) return fail(row.error());
  const bool known = *row && find_claim(**row, draft.manifest.document, draft.source, draft.via,
                                        ids, files_[draft.file].fetched_at.empty()) != nullptr;
  const bool fresh = !known && dry_fingerprints_.insert(fingerprint).second;
  ++(fresh ? report_.recorded : report_.existing).manifests;
  const bool inserted = !*row && dry_identities_.insert(draft.manifest.identity).second;
  report_.proposals.push_back({!fresh     ? ProposedAction::exists
                               : inserted ? ProposedAction::insert
                                          : ProposedAction::new_claim,
                               draft.manifest.kind, draft.manifest.identity,
                               draft.manifest.document, draft.manifest.label(), draft.source,
                               std::move(ids), files_[draft.file].locator, draft.item});
  return {};
}

Status Recorder::count_dry_file(std::size_t file) {
  const RecordedFile& given = files_[file];
  const Result<Digest> digest = hash_of(given);
  if (!digest) return fail(digest.error());
  snapshots_[file] = *digest;
  const SnapshotEntry entry = snapshot_entry(given);
  const Digest fingerprint = snapshot_fingerprint(*digest, entry);
  std::string value;
  const Result<bool> known =
      reader_.view().get(Space::derived, key_layout::snapshot_fingerprint(fingerprint), value);
  if (!known) return fail(known.error());
  const bool fresh = !*known && dry_fingerprints_.insert(fingerprint).second;
  ++(fresh ? report_.recorded : report_.existing).snapshots;
  return {};
}

Status Recorder::count_dry_artifact(const Digest& digest) {
  const Result<std::vector<std::uint64_t>> entries =
      reader_.content_entries(digest, true, reader_.head().size);
  if (!entries) return fail(entries.error());
  const bool fresh = entries->empty() && dry_artifacts_.insert(digest).second;
  ++(fresh ? report_.recorded : report_.existing).artifacts;
  return {};
}

Status Recorder::artifact(ArtifactDraft artifact) {
  if (appender_ == nullptr) return count_dry_artifact(sha256(artifact.bytes));
  Result<Recorded> recorded = appender_->artifact(artifact.bytes, artifact.media_type);
  if (!recorded) return fail(recorded.error());
  return {};
}

Result<std::optional<Digest>> Recorder::keep_artifact(const RecordedFile& file) {
  if (appender_ == nullptr) {
    const Result<Digest> digest = hash_of(file);
    if (!digest) return fail(digest.error());
    if (Status counted = count_dry_artifact(*digest); !counted) return fail(counted.error());
    return std::nullopt;
  }
  const Result<std::unique_ptr<ByteSource>> bytes = file.open();
  if (!bytes) return fail_in(file.locator, bytes.error());
  const Result<Recorded> recorded = appender_->artifact(**bytes, file.media_type);
  if (!recorded) return fail_in(file.locator, recorded.error());
  return recorded->content;
}

Status Recorder::keep(const RecordedFile& file) {
  const Result<std::optional<Digest>> kept = keep_artifact(file);
  if (!kept) return fail(kept.error());
  return {};
}

Status Recorder::keep_fetch_record(const RecordedFile& file) {
  const Result<std::optional<Digest>> kept = keep_artifact(file);
  if (!kept) return fail(kept.error());
  if (*kept) report_.fetch_records.push_back(**kept);
  return {};
}

void Recorder::finding(Finding finding) { report_.findings.push_back(std::move(finding)); }
void Recorder::skipped(std::string_view reason) { ++report_.skipped[std::string(reason)]; }
void Recorder::selected() { ++report_.selected; }
void Recorder::counted(std::string_view what, std::uint64_t times) {
  report_.counted[std::string(what)] += times;
}

Status Recorder::withdrawn(WithdrawalDraft withdrawal) {
  withdrawals_.push_back(std::move(withdrawal));
  return {};
}

Status Recorder::record_withdrawals() {
  if (withdrawals_.empty()) return {};
  // What was said before is not said again, also when it was retracted since.
  std::set<std::pair<Digest, std::string>> said;
  for (const ChainFact& fact : *reader_.state().chain_facts) {
    if (fact.kind == ChainFact::Kind::withdrawal) said.emplace(fact.subject, fact.text);
  }
  std::map<std::string, bool> recorded_before;  // whether anything of a source is
  for (const WithdrawalDraft& draft : withdrawals_) {
    const auto [source, fresh] = recorded_before.try_emplace(draft.source, false);
    if (fresh) {
      StoreCursor any =
          reader_.view().scan(Space::derived, key_layout::external_prefix(draft.source, ""));
      source->second = any.valid();
      if (Status status = any.status(); !status) return status;
    }
    if (!source->second) continue;
    std::set<Digest> runs;
    StoreCursor cursor = reader_.view().scan(
        Space::derived, key_layout::external_exact(draft.source, draft.external_id));
    for (; cursor.valid(); cursor.next()) {
      const std::string_view key = cursor.key();
      const auto kind = static_cast<ManifestKind>(key[key.size() - 33]);
      if (kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run) {
        runs.insert(key_layout::last_digest(key));
      }
    }
    if (Status status = cursor.status(); !status) return status;
    const std::string id = draft.source + ":" + draft.external_id;
    for (const Digest& run : runs) {
      // Said or not: the report of the same dump is to be the same again.
      counted("withdrawn_at_source", 1);
      if (said.contains({run, id})) continue;
      if (appender_ == nullptr) {
        ++report_.recorded.attestations;
        continue;
      }
      const Result<Recorded> recorded =
          appender_->withdraw(run, Withdrawal{draft.source, draft.external_id, draft.state,
                                              one_line(draft.reason), *snapshots_[draft.file]});
      if (!recorded) return fail(recorded.error());
    }
  }
  return {};
}

Result<ImportReport> Recorder::finish() {
  if (appender_ == nullptr) {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (Status status = begin_file(file); !status) return fail(status.error());
    }
    if (Status status = record_withdrawals(); !status) return fail(status.error());
  } else {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (Status status = begin_file(file); !status) return fail(status.error());
      if (keep_locators_) report_.files.emplace_back(files_[file].locator, *snapshots_[file]);
    }
    if (Status status = record_withdrawals(); !status) return fail(status.error());
    if (Status status = appender_->finish(report_.kept_json()); !status) {
      return fail(status.error());
    }
    report_.recorded = appender_->recorded();
    report_.existing = appender_->existing();
  }
  report_.head = ledger_.read().head();
  return std::move(report_);
}

// The identity that was claimed first under a slug, other than `except`.
Result<std::optional<Digest>> Recorder::first_under_slug(ManifestKind kind, std::string_view slug,
                                                         std::string_view source, bool any_source,
                                                         const Digest& except) {
  std::optional<Digest> first;
  std::uint64_t first_index = 0;
  const std::string prefix =
      any_source ? key_layout::slug_prefix(kind, slug)
                 : key_layout::join(key_layout::slug_prefix(kind, slug), source, key_layout::kZero);
  StoreCursor cursor = reader_.view().scan(Space::derived, prefix);
  for (; cursor.valid(); cursor.next()) {
    const Digest identity = key_layout::last_digest(cursor.key());
    if (identity == except) continue;
    Result<std::optional<SubjectRow>> row = reader_.subject(identity);
    if (!row) return fail(row.error());
    if (!*row) continue;
    const std::uint64_t index = (*row)->claims.front().index;
    if (!first || index < first_index) {
      first = identity;
      first_index = index;
    }
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  return first;
}

Result<std::optional<Digest>> Recorder::known_project(const Draft& draft) {
  const std::string key = under(draft.source, draft.facts.slug);
  const auto [mine, fresh] = projects_.try_emplace(key, draft.manifest.identity);
  if (!fresh) {
    if (mine->second == draft.manifest.identity) return std::nullopt;
    return mine->second;
  }
  Result<std::optional<Digest>> known = first_under_slug(
      ManifestKind::software_project, draft.facts.slug, draft.source, false, Digest{});
  if (!known) return known;
  if (*known) mine->second = **known;
  if (*known == draft.manifest.identity) return std::nullopt;
  return known;
}

// A slug is a label: a second operation under it is recorded all the same, and a person is told. Of
// two the one claimed earlier is in the right, so the same import says the same again.
Status Recorder::review_slug(const Draft& draft) {
  const Digest& identity = draft.manifest.identity;
  std::optional<Digest> other;
  const auto [mine, fresh] = operations_.try_emplace(draft.facts.slug, identity);
  if (!fresh && mine->second != identity) other = mine->second;
  if (fresh) {
    Result<std::optional<Digest>> known =
        first_under_slug(ManifestKind::operation_spec, draft.facts.slug, {}, true, Digest{});
    if (!known) return fail(known.error());
    if (*known) mine->second = **known;
    if (*known && *known != identity) other = *known;
  }
  if (other) {
    finding({FindingClass::review, files_[draft.file].locator, draft.item, "SLUG_SHARED",
             "the slug \"" + draft.facts.slug + "\" also names the operation " + other->text()});
  }
  return {};
}

}  // namespace kernelindex::ingest
