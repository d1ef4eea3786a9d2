// SPDX-License-Identifier: Apache-2.0
#include "ledger/reader_attempts.h"

#include "ledger/attestation_rules.h"
#include "ledger/ledger.h"
#include "ledger/run_evidence.h"

namespace kernelindex {

ReaderAttempts::ReaderAttempts(const Reader& reader, std::uint64_t size)
    : reader_(reader),
      size_(size),
      keys_(reader.keys(size)),
      judgements_(reader.judgements(size)),
      rows_(reader, size) {}

Result<AttemptContext> ReaderAttempts::own_context() const {
  const Result<Entry> last = reader_.entry(size_ - 1);
  if (!last) return fail(last.error());
  return AttemptContext{*keys_, *judgements_, last->recorded_at, reader_.format().owner, {}, {}};
}

Result<std::vector<SaidAt>> ReaderAttempts::said_about(const Digest& subject) {
  std::vector<SaidAt> out;
  const LogState::Measurements& all = *reader_.state().measurements;
  const auto found = all.find(subject);
  if (found == all.end()) return out;
  for (const std::uint64_t index : found->second) {
    if (index >= size_) break;
    Result<SaidAt> said = read_said_at(reader_, index);
    if (!said) return fail(said.error());
    out.push_back(std::move(*said));
  }
  return out;
}

Result<std::optional<SaidAt>> ReaderAttempts::attestation(const Digest& id) {
  const Result<std::optional<std::uint64_t>> index = find_attestation(reader_, id);
  if (!index) return fail(index.error());
  if (!*index || **index >= size_) return std::nullopt;
  Result<SaidAt> said = read_said_at(reader_, **index);
  if (!said) return fail(said.error());
  return std::move(*said);
}

Result<std::vector<SaidAt>> ReaderAttempts::calibrations(const Digest& runner) {
  std::vector<SaidAt> out;
  const Result<std::vector<std::uint64_t>> entries = reader_.subject_entries(runner, size_);
  if (!entries) return fail(entries.error());
  static const std::string kType = std::string(kPredicateBase) + "calibration/v1";
  for (const std::uint64_t index : *entries) {
    const Result<Entry> entry = reader_.entry(index);
    if (!entry) return fail(entry.error());
    const auto* body = std::get_if<AttestationEntry>(&entry->body);
    if (body == nullptr || body->predicate_type != kType) continue;
    Result<SaidAt> said = read_said_at(reader_, index);
    if (!said) return fail(said.error());
    out.push_back(std::move(*said));
  }
  return out;
}

Result<std::optional<std::string>> ReaderAttempts::object(const Digest& digest) {
  return reader_.object(digest);
}

Result<bool> ReaderAttempts::held(const Digest& digest) { return rows_.artifact_held(digest); }

Result<std::shared_ptr<const SubjectRow>> ReaderAttempts::subject(const Digest& identity) {
  Result<std::shared_ptr<const SubjectRow>> row = rows_.subject(identity);
  if (!row || *row == nullptr) return row;
  return counting_claims(**row, {reader_.state().imports, *keys_, *judgements_, size_});
}

Result<std::optional<Manifest>> ReaderAttempts::document(const Digest& identity) {
  const Result<std::shared_ptr<const SubjectRow>> row = rows_.subject(identity);
  if (!row) return fail(row.error());
  if (*row == nullptr) return std::nullopt;
  return read_subject_document(reader_, **row);
}

bool measured(const Reader& reader, const Digest& subject) {
  return reader.state().measurements->contains(subject);
}

Result<SaidAt> read_said_at(const Reader& reader, std::uint64_t index) {
  const Result<Entry> entry = reader.entry(index);
  if (!entry) return fail(entry.error());
  const Result<std::optional<std::string>> bytes = reader.object(entry->content.digest);
  if (!bytes) return fail(bytes.error());
  const std::string place = "entry " + std::to_string(index);
  if (!*bytes) {
    return fail(ErrorKind::corrupt, "MISSING_OBJECT", place,
                "the envelope of an attestation is not held");
  }
  const Result<Envelope> envelope = read_stored_envelope(**bytes);
  if (!envelope) return fail_in(place, envelope.error());
  Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail_in(place, said.error());
  return SaidAt{index, entry->recorded_at, envelope->id(), std::move(*said)};
}

Result<std::vector<ControlledJob>> controlled_jobs(const Reader& reader, const Digest& run,
                                                   std::uint64_t size) {
  if (!measured(reader, run)) return std::vector<ControlledJob>{};
  ReaderAttempts source(reader, size);
  const Result<AttemptContext> context = source.own_context();
  if (!context) return fail(context.error());
  return controlled_jobs(source, *context, run);
}

Result<RunMeasurements> run_measurements(const Reader& reader, const Digest& run,
                                         std::uint64_t size) {
  RunMeasurements out;
  Result<std::vector<ControlledJob>> about = controlled_jobs(reader, run, size);
  if (!about) return fail(about.error());
  out.about = std::move(*about);
  ReaderAttempts source(reader, size);
  const Result<std::shared_ptr<const SubjectRow>> row = source.subject(run);
  if (!row) return fail(row.error());
  if (*row == nullptr) return out;
  const Result<AttemptContext> context = source.own_context();
  if (!context) return fail(context.error());
  Result<std::optional<ControlledJob>> own = job_of_controlled_run(source, *context, run, **row);
  if (!own) return fail(own.error());
  out.own = std::move(*own);
  return out;
}

}  // namespace kernelindex
