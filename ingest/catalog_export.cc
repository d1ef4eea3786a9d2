// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_export.h"

#include <unordered_set>

#include "ingest/catalog_row_writer.h"
#include "ingest/sources.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kPieceBytes = 64 * limits::kKiB;

std::string policy_of(const SourceInfo& source) {
  json::Arena arena;
  json::ObjectBuilder policy(arena);
  policy.add("url", source.url)
      .add("license", source.license)
      .add("terms", source.terms)
      .add("attribution", source.attribution);
  return json::canonical(policy.finish());
}

}  // namespace

// The tables in their order, and how far it is in the one at hand.
class CatalogExport::Writer {
 public:
  Writer(const Reader& reader, CatalogPlan plan)
      : reader_(reader), plan_(std::move(plan)), rows_(reader, plan_) {
    begin_table();
  }

  Result<bool> next(std::string& lines) {
    const std::size_t before = lines.size();
    while (lines.size() - before < kPieceBytes) {
      if (position_ < steps_) {
        if (Status stepped = step(lines); !stepped) return fail(stepped.error());
        ++position_;
      } else if (table_ == CatalogTable::serving_measurements) {
        finish();
        return false;
      } else {
        table_ = static_cast<CatalogTable>(static_cast<int>(table_) + 1);
        begin_table();
      }
    }
    return true;
  }

  const CatalogExportReport& report() const { return report_; }

 private:
  void begin_table() {
    position_ = 0;
    switch (table_) {
      case CatalogTable::sources:
        steps_ = plan_.sources().size();
        source_ = plan_.sources().begin();
        return;
      case CatalogTable::operation_aliases:
        steps_ = plan_.rows(CatalogTable::operations).size();
        return;
      case CatalogTable::measurements:
        steps_ = plan_.rows(CatalogTable::benchmark_runs).size();
        return;
      case CatalogTable::record_events:
        moves_ = rows_.moves();
        steps_ = moves_.size();
        return;
      case CatalogTable::artifacts:
        steps_ = plan_.rows(CatalogTable::implementations).size() +
                 plan_.rows(CatalogTable::benchmark_runs).size();
        return;
      case CatalogTable::serving_measurements:
        steps_ = plan_.rows(CatalogTable::serving_runs).size();
        return;
      default:
        steps_ = plan_.rows(table_).size();
    }
  }

  Status step(std::string& lines) {
    switch (table_) {
      case CatalogTable::sources:
        return source(lines);
      case CatalogTable::operation_aliases:
        return aliases(plan_.rows(CatalogTable::operations)[position_], lines);
      case CatalogTable::measurements:
        return measurements(plan_.rows(CatalogTable::benchmark_runs)[position_], lines);
      case CatalogTable::serving_measurements:
        return measurements(plan_.rows(CatalogTable::serving_runs)[position_], lines);
      case CatalogTable::record_events:
        return record_event(moves_[position_], lines);
      case CatalogTable::artifacts: {
        const auto& implementations = plan_.rows(CatalogTable::implementations);
        const bool of_runs = position_ >= implementations.size();
        return artifacts(
            of_runs ? plan_.rows(CatalogTable::benchmark_runs)[position_ - implementations.size()]
                    : implementations[position_],
            lines);
      }
      default:
        return manifest(plan_.rows(table_)[position_], lines);
    }
  }

  void count(std::uint64_t rows) { report_.rows[table_] += rows; }

  Status manifest(PlannedRow& row, std::string& lines) {
    const Result<bool> written = rows_.write(table_, row, lines);
    if (!written) return fail(written.error());
    if (*written) {
      count(1);
    } else {
      ++plan_.left_out()[LeftOut::reference];
    }
    return {};
  }

  Status source(std::string& lines) {
    const auto& [slug, first_claim] = *source_++;
    const Result<Entry> entry = reader_.entry(first_claim);
    if (!entry) return fail(entry.error());
    const SourceInfo* known = find_source(slug);
    CatalogLine line(table_, lines);
    line.id("id", source_id(slug)).text("slug", std::string_view(slug));
    if (known == nullptr || known->kind.empty()) {
      line.null("kind").text("name", std::string_view(slug)).null("policy");
    } else {
      line.text("kind", known->kind).text("name", known->title).json("policy", policy_of(*known));
    }
    line.instant("createdAt", entry->recorded_at).finish();
    count(1);
    return {};
  }

  Status aliases(const PlannedRow& operation, std::string& lines) {
    if (!operation.written) return {};
    const Result<Entry> entry = reader_.entry(operation.claim);
    if (!entry) return fail(entry.error());
    for (const std::string& alias : std::get<ManifestEntry>(entry->body).facts.aliases) {
      CatalogLine(table_, lines)
          .id("operationId", operation.id)
          .text("alias", std::string_view(alias))
          .finish();
      count(1);
    }
    return {};
  }

  Status measurements(const PlannedRow& run, std::string& lines) {
    if (!run.written) return {};
    const Result<std::uint64_t> written = rows_.write_measurements(table_, run, lines);
    if (!written) return fail(written.error());
    count(*written);
    return {};
  }

  Status record_event(const RecordHistory::Move& move, std::string& lines) {
    constexpr std::string_view kCause = "new_run";
    const PlannedRow& run = rows_.run_of(move);
    const Result<Entry> entry = reader_.entry(run.claim);
    if (!entry) return fail(entry.error());
    const Uuid id = made_id(
        {{"cause", kCause}, {"comparisonKey", move.key.text()}, {"run", run.identity.text()}});
    CatalogLine(table_, lines)
        .id("id", id)
        .digest("comparisonKey", move.key)
        .id("runId", move.id)
        .id("previousRunId", move.previous)
        .text("policyVersion", std::string_view("ranking-v1"))
        .text("cause", kCause)
        .instant("at", move.at)
        .instant("createdAt", entry->recorded_at)
        .finish();
    count(1);
    return {};
  }

  Status artifacts(const PlannedRow& row, std::string& lines) {
    if (!row.written) return {};
    const Result<Entry> entry = reader_.entry(row.claim);
    if (!entry) return fail(entry.error());
    for (const NamedArtifact& named : std::get<ManifestEntry>(entry->body).facts.artifacts) {
      if (!artifacts_.insert(named.digest).second) continue;
      if (Status written = artifact(named, entry->recorded_at, lines); !written) return written;
    }
    return {};
  }

  Status artifact(NamedArtifact named, UtcMicros recorded_at, std::string& lines) {
    const Result<std::vector<std::uint64_t>> entries =
        reader_.content_entries(named.digest, true, reader_.head().size);
    if (!entries) return fail(entries.error());
    const Result<bool> kept = reader_.object_kept(named.digest);
    if (!kept) return fail(kept.error());
    if (!entries->empty()) {
      const Result<Entry> held = reader_.entry(entries->front());
      if (!held) return fail(held.error());
      if (named.media_type.empty()) named.media_type = held->content.media_type;
      if (!named.size) named.size = held->content.size;
    }
    const auto text = [](const std::string& value) {
      return value.empty() ? std::nullopt : std::optional(value);
    };
    const bool held = !entries->empty() && *kept;
    CatalogLine(table_, lines)
        .id("id", uuid_of(named.digest))
        .digest("contentDigest", named.digest)
        .text("kind", std::string_view(named.role))
        .text("mediaType", text(named.media_type))
        .number("sizeBytes",
                named.size ? std::optional(static_cast<double>(*named.size)) : std::nullopt)
        .text("storage", held ? std::optional<std::string>("inline") : std::nullopt)
        .null("uri")
        .text("license", text(named.license))
        .instant("createdAt", recorded_at)
        .finish();
    count(1);
    return {};
  }

  void finish() {
    if (std::exchange(finished_, true)) return;
    plan_.count_unused();
    report_.left_out = plan_.left_out();
  }

  const Reader& reader_;
  CatalogPlan plan_;
  CatalogRowWriter rows_;
  CatalogTable table_ = CatalogTable::sources;
  std::size_t position_ = 0;
  std::size_t steps_ = 0;
  std::map<std::string, std::uint64_t>::const_iterator source_;
  std::vector<RecordHistory::Move> moves_;
  std::unordered_set<Digest> artifacts_;
  CatalogExportReport report_;
  bool finished_ = false;
};

CatalogExport::CatalogExport(std::unique_ptr<Writer> writer) : writer_(std::move(writer)) {}
CatalogExport::CatalogExport(CatalogExport&&) noexcept = default;
CatalogExport::~CatalogExport() = default;

Result<CatalogExport> CatalogExport::start(const Reader& reader) {
  Result<CatalogPlan> plan = CatalogPlan::make(reader);
  if (!plan) return fail(plan.error());
  return CatalogExport(std::make_unique<Writer>(reader, std::move(*plan)));
}

Result<bool> CatalogExport::next(std::string& lines) { return writer_->next(lines); }

const CatalogExportReport& CatalogExport::report() const { return writer_->report(); }

}  // namespace kernelindex::ingest
