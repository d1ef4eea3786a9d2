// SPDX-License-Identifier: Apache-2.0
#include "verify/reimport.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ledger/kept_bytes.h"
#include "ledger/key_layout.h"
#include "ledger/ledger.h"
#include "ledger/stored_object.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "verify/fault_list.h"
#include "verify/json_difference.h"

namespace kernelindex {
namespace {

using auditing::about;
using auditing::at_entry;

constexpr std::size_t kFieldsOfClaim = 20;  // differences named of one claim

std::string entry_name(std::uint64_t index) { return "entry " + std::to_string(index); }

// A claim of the log, compactly.
struct Recorded {
  std::uint64_t index = 0;
  Digest snapshot;
  std::string item;
  ManifestKind kind{};
  bool matched = false;
};

// What one pass over the log finds out.
struct LogFacts {
  std::unordered_map<Digest, std::uint64_t> claims;     // fingerprint to first index
  std::unordered_map<Digest, bool> supplied;            // snapshot to how it came last
  std::unordered_map<Digest, std::uint64_t> snapshots;  // to the last entry that records it
  std::unordered_set<std::string> projects;             // "source slug" of software projects
  std::unordered_set<Digest> subjects;
};

std::string project_key(std::string_view source, std::string_view slug) {
  return std::string(source) + " " + std::string(slug);
}

void remember(LogFacts& log, std::uint64_t index, const Entry& entry) {
  if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry.body)) {
    log.supplied[entry.content.digest] = snapshot->acquired == "supplied";
    log.snapshots[entry.content.digest] = index;
  }
  const auto* claim = std::get_if<ManifestEntry>(&entry.body);
  if (claim == nullptr) return;
  bool supplied = true;
  if (claim->snapshot) {
    const auto known = log.supplied.find(*claim->snapshot);
    supplied = known == log.supplied.end() || known->second;
  }
  log.claims.emplace(claim_fingerprint(entry.content.digest, claim->source, claim->via,
                                       claim->external_ids, supplied),
                     index);
  log.subjects.insert(claim->subject);
  if (claim->kind == ManifestKind::software_project) {
    log.projects.insert(project_key(claim->source, claim->facts.slug));
  }
}

// ---- one import ----

class ImportCheck {
 public:
  ImportCheck(const Reader& reader, const LogFacts& log, const ImportEvent& import,
              std::vector<Recorded> recorded, auditing::FaultList& faults)
      : reader_(reader),
        log_(log),
        import_(import),
        recorded_(std::move(recorded)),
        faults_(faults) {
    for (std::size_t i = 0; i < recorded_.size(); ++i) by_index_[recorded_[i].index] = i;
  }

  Status take(ReparsedClaim claim) {
    ++claims_;
    std::ranges::sort(claim.external_ids);
    const auto repeated = std::ranges::unique(claim.external_ids);
    claim.external_ids.erase(repeated.begin(), repeated.end());
    const auto how = log_.supplied.find(claim.snapshot);
    const bool supplied = how == log_.supplied.end() || how->second;
    const auto known = log_.claims.find(claim_fingerprint(claim.manifest.document, claim.source,
                                                          claim.via, claim.external_ids, supplied));
    if (known == log_.claims.end()) {
      if (not_recorded(claim)) return {};
      if (unmatched_.size() < kMostUnmatched) unmatched_.push_back(std::move(claim));
      return {};
    }
    const auto mine = by_index_.find(known->second);
    if (mine == by_index_.end()) return {};  // known before, or told of in an earlier import
    Recorded& recorded = recorded_[mine->second];
    if (recorded.matched) return {};  // the source says it twice
    recorded.matched = true;
    if (recorded.index < newest_) {
      faults_.add(at_entry(recorded.index), "ORDER_DIFFERS",
                  entry_name(recorded.index) + " stands in another order than the parser gives",
                  "after " + entry_name(newest_), entry_name(recorded.index));
    }
    newest_ = std::max(newest_, recorded.index);
    compare(recorded, claim);
    return {};
  }

  // After the last claim.
  void finish() {
    for (const ReparsedClaim& claim : unmatched_) {
      const auto counterpart = std::ranges::find_if(recorded_, [&](const Recorded& recorded) {
        return !recorded.matched && recorded.kind == claim.manifest.kind &&
               recorded.snapshot == claim.snapshot && recorded.item == claim.item;
      });
      if (counterpart != recorded_.end()) {
        counterpart->matched = true;
        compare(*counterpart, claim);
      } else if (import_.finished) {
        faults_.add(
            about(import_.end - 1, claim.manifest.identity), "CLAIM_MISSING",
            "the parser gives a claim at item " + claim.item + " that the ledger does not have",
            std::string(kind_name(claim.manifest.kind)) + " " + claim.manifest.document.text());
      }
    }
    for (const Recorded& recorded : recorded_) {
      if (recorded.matched) continue;
      faults_.add(about(recorded.index, recorded.snapshot), "CLAIM_NOT_GIVEN",
                  "the parser does not give the claim of " + entry_name(recorded.index) +
                      " from its snapshot");
    }
  }

  std::uint64_t claims() const { return claims_; }

 private:
  static constexpr std::size_t kMostUnmatched = 1000;

  // What the importer gave and the recorder, as its rules say, did not record: a project under a
  // known slug, and what is too large for an entry.
  bool not_recorded(const ReparsedClaim& claim) const {
    if (claim.manifest.kind == ManifestKind::software_project &&
        log_.projects.contains(project_key(claim.source, claim.facts.slug))) {
      return !altered_project(claim);
    }
    Entry entry;
    entry.content.digest = claim.manifest.document;
    entry.content.media_type = kManifestMediaType;
    entry.body = entry_of(claim, std::nullopt);
    return !encode_entry(entry).has_value();
  }

  // A project of this import at the same place is not an older one: its manifest was changed.
  bool altered_project(const ReparsedClaim& claim) const {
    return std::ranges::any_of(recorded_, [&](const Recorded& recorded) {
      return recorded.kind == claim.manifest.kind && recorded.snapshot == claim.snapshot &&
             recorded.item == claim.item;
    });
  }

  static ManifestEntry entry_of(const ReparsedClaim& claim, std::optional<std::uint64_t> previous) {
    ManifestEntry entry;
    entry.kind = claim.manifest.kind;
    entry.subject = claim.manifest.identity;
    entry.previous = previous;
    entry.source = claim.source;
    entry.via = claim.via;
    entry.external_ids = claim.external_ids;
    entry.snapshot = claim.snapshot;
    entry.item = claim.item;
    entry.facts = claim.facts;
    return entry;
  }

  // Names every field of entry and document that differs.
  void compare(const Recorded& recorded, const ReparsedClaim& claim) {
    const Result<std::string> leaf = reader_.leaf(recorded.index);
    const Result<Entry> entry = leaf ? decode_entry(*leaf) : Result<Entry>(fail(leaf.error()));
    if (!entry) {
      faults_.add(at_entry(recorded.index), entry.error());
      return;
    }
    compare_documents(recorded, entry->content.digest, claim);
    const auto& found = std::get<ManifestEntry>(entry->body);
    ManifestEntry expected = entry_of(claim, found.previous);
    // PROJECT_DIFFERS: the claim refers to the project that was known under the slug.
    if (expected.facts.project && !log_.subjects.contains(*expected.facts.project)) {
      expected.facts.project = found.facts.project;
    }
    // What follows from the document is told of the document.
    expected.subject = found.subject;
    const Result<std::string> again =
        encode_entry(Entry{entry->recorded_at, entry->content, std::move(expected)});
    if (again && *again == *leaf) return;
    if (!again) {
      faults_.add(at_entry(recorded.index), again.error());
      return;
    }
    name_differences(recorded, "ENTRY_DIFFERS", {}, *again, *leaf);
  }

  void compare_documents(const Recorded& recorded, const Digest& document,
                         const ReparsedClaim& claim) {
    std::string value;
    const Result<bool> found =
        reader_.view().get(Space::evidence, key_layout::object(document), value);
    if (!found) {
      faults_.add(about(recorded.index, document), found.error());
      return;
    }
    // The bytes as they lie there, whatever their digest: what was changed is to be named.
    if (!*found || !stored_object::is_whole(value)) return;
    const std::string_view bytes = std::string_view(value).substr(1);
    if (bytes == claim.manifest.bytes) return;
    name_differences(recorded, "MANIFEST_DIFFERS", document, claim.manifest.bytes, bytes);
  }

  void name_differences(const Recorded& recorded, const std::string& code,
                        std::optional<Digest> digest, std::string_view expected,
                        std::string_view found) {
    json::Arena arena;
    const Result<json::Value> expected_value = json::parse(expected, arena);
    const Result<json::Value> found_value = json::parse(found, arena);
    const Fault place = digest ? about(recorded.index, *digest) : at_entry(recorded.index);
    if (!expected_value || !found_value) {
      faults_.add(place, code, entry_name(recorded.index) + " is not what the parser gives");
      return;
    }
    for (JsonDifference& difference :
         json_differences(*expected_value, *found_value, kFieldsOfClaim)) {
      faults_.add(place, code,
                  entry_name(recorded.index) + ": " +
                      (difference.path.empty() ? "the document" : difference.path) +
                      " is not what the parser gives from the snapshot",
                  std::move(difference.expected), std::move(difference.found));
    }
  }

  const Reader& reader_;
  const LogFacts& log_;
  const ImportEvent& import_;
  std::vector<Recorded> recorded_;
  std::unordered_map<std::uint64_t, std::size_t> by_index_;
  auditing::FaultList& faults_;
  std::vector<ReparsedClaim> unmatched_;
  std::uint64_t newest_ = 0;
  std::uint64_t claims_ = 0;
};

// ---- all imports ----

class Reimport {
 public:
  Reimport(const Reader& reader, Reparser& reparser, std::size_t faults_max)
      : reader_(reader), reparser_(reparser), faults_(faults_max) {}

  ReimportReport run() {
    for (std::uint64_t index = 0; index < reader_.head().size; ++index) {
      const Result<Entry> entry = reader_.entry(index);
      if (!entry) {
        faults_.add(at_entry(index), entry.error());
        continue;
      }
      remember(log_, index, *entry);
      if (const auto* claim = std::get_if<ManifestEntry>(&entry->body)) {
        pending_.push_back(
            {index, claim->snapshot.value_or(Digest{}), claim->item, claim->kind, false});
      }
      if (const auto* attestation = std::get_if<AttestationEntry>(&entry->body)) {
        take_statement(index, *attestation);
      }
    }
    end_import();
    AuditReport found;
    faults_.move_to(found);
    report_.faults = std::move(found.faults);
    report_.faults_left_out = found.faults_left_out;
    return std::move(report_);
  }

 private:
  void take_statement(std::uint64_t index, const AttestationEntry& entry) {
    const PredicateType* type = find_predicate_type(entry.predicate_type);
    if (type == nullptr || type->name != "import/v1") return;
    const Result<Attestation> statement = read_attestation(reader_, index);
    if (!statement) {
      faults_.add(at_entry(index), statement.error());
      return;
    }
    const auto& says = std::get<ImportStatement>(statement->predicate);
    if (import_ &&
        (import_->parser != says.parser || import_->parser_version != says.parser_version ||
         import_->options != says.options)) {
      // The claims that are pending belong to this statement, not to the import before.
      std::vector<Recorded> mine;
      std::ranges::copy_if(pending_, std::back_inserter(mine),
                           [&](const Recorded& claim) { return claim.index >= says.first; });
      std::erase_if(pending_, [&](const Recorded& claim) { return claim.index >= says.first; });
      end_import();
      pending_ = std::move(mine);
    }
    if (!import_) {
      import_.emplace();
      import_->first = says.first;
      import_->parser = says.parser;
      import_->parser_version = says.parser_version;
      import_->options = says.options;
    }
    import_->end = index + 1;
    for (const Digest& snapshot : says.snapshots) add_snapshot(snapshot);
    if (!says.report) return;
    import_->finished = true;
    take_files_of_report(*says.report);
    end_import();
  }

  void add_snapshot(const Digest& digest) {
    const bool known = std::ranges::any_of(
        import_->snapshots, [&](const ImportedSnapshot& other) { return other.digest == digest; });
    if (known) return;
    const auto recorded = log_.snapshots.find(digest);
    if (recorded == log_.snapshots.end()) {
      faults_.add(about(import_->end - 1, digest), "SNAPSHOT_NOT_RECORDED",
                  "an import names a snapshot that no earlier entry records");
      return;
    }
    const Result<Entry> entry = reader_.entry(recorded->second);
    if (!entry) return;
    const auto& body = std::get<SnapshotEntry>(entry->body);
    import_->snapshots.push_back({digest, body.source, body.locator, entry->content.media_type,
                                  body.fetched_at, entry->content.size,
                                  [this, digest] { return open_kept_bytes(reader_, digest); }});
  }

  // A report may list the files that were given: with all their paths, where snapshots alone would
  // make one of two files of one content.
  void take_files_of_report(const Digest& report) {
    const Result<std::optional<std::string>> bytes = reader_.object(report);
    if (!bytes || !*bytes) return;
    json::Arena arena;
    const Result<json::Value> document =
        json::parse(**bytes, arena, {limits::kSourceJsonBytes, limits::kJsonDepth});
    const json::Value* files = document ? document->find("files") : nullptr;
    if (files == nullptr || !files->is_array()) return;
    std::vector<ImportedSnapshot> listed;
    for (const json::Value& file : files->array()) {
      const Result<Digest> digest = Digest::parse(file.text("snapshot"));
      if (!digest) return;
      add_snapshot(*digest);  // one that was known, and of which nothing was claimed
      const auto read = std::ranges::find(import_->snapshots, *digest, &ImportedSnapshot::digest);
      if (read == import_->snapshots.end()) return;
      listed.push_back(*read);
      listed.back().locator = file.text("locator");
    }
    import_->snapshots = std::move(listed);
  }

  void end_import() {
    if (!import_) return;
    const ImportEvent import = std::move(*import_);
    import_.reset();
    std::vector<Recorded> recorded = std::exchange(pending_, {});
    std::erase_if(recorded, [&](const Recorded& claim) { return claim.index < import.first; });
    if (recorded.empty()) return;
    ++report_.imports;
    ImportCheck check(reader_, log_, import, std::move(recorded), faults_);
    const Status status = reparser_.reparse(
        import, [&](ReparsedClaim claim) { return check.take(std::move(claim)); });
    report_.claims += check.claims();
    if (!status) {
      Fault place = at_entry(import.end - 1);
      faults_.add(place, status.error().code,
                  "the import of " + entry_name(import.end - 1) + " by " + import.parser + " " +
                      import.parser_version + " cannot be run again: " + status.error().text());
      return;
    }
    check.finish();
  }

  const Reader& reader_;
  Reparser& reparser_;
  auditing::FaultList faults_;
  LogFacts log_;
  std::vector<Recorded> pending_;      // claims since the last import ended
  std::optional<ImportEvent> import_;  // whose statements are being met
  ReimportReport report_;
};

}  // namespace

void ReimportReport::add_to(AuditReport& report, std::size_t faults_max) const {
  report.faults_left_out += faults_left_out;
  for (const Fault& fault : faults) {
    if (report.faults.size() < faults_max) {
      report.faults.push_back(fault);
    } else {
      ++report.faults_left_out;
    }
  }
}

ReimportReport audit_reimport(const Reader& reader, Reparser& reparser, std::size_t faults_max) {
  return Reimport(reader, reparser, faults_max).run();
}

}  // namespace kernelindex
