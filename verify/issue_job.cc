// SPDX-License-Identifier: Apache-2.0
#include "verify/issue_job.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ledger/attest.h"
#include "ledger/controlled_protocol.h"
#include "ledger/reader_attempts.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

std::unexpected<Error> refuse(std::string code, std::string place, std::string message,
                              std::string remedy = {}) {
  return fail(ErrorKind::refused, std::move(code), std::move(place), std::move(message),
              std::move(remedy));
}

// The manifests that a job carries or is made from.
struct Reported {
  Manifest run;
  Manifest workload;
  Manifest operation;
  Manifest environment;
  Digest implementation;
};

Result<Manifest> read_reference(const Reader& reader, const Digest& identity, ManifestKind kind) {
  Result<std::optional<SubjectRow>> row = reader.subject(identity);
  if (!row) return fail(row.error());
  std::optional<Manifest> found;
  if (*row) {
    Result<std::optional<Manifest>> manifest = read_subject_document(reader, **row);
    if (!manifest) return fail(manifest.error());
    found = std::move(*manifest);
  }
  const std::string name(kind_name(kind));
  if (!found) {
    return refuse("REFERENCE_MISSING", identity.text(),
                  "the run's " + name + " is not in the ledger, or was withheld",
                  "record its manifest: `kernelindex add FILE`");
  }
  if (found->kind == kind) return std::move(*found);
  return refuse("WRONG_MANIFEST", identity.text(),
                "the run refers to a " + std::string(kind_name(found->kind)) + " where a " + name +
                    " must stand",
                "name another run: this one cannot be measured");
}

Result<Manifest> read_run(const Reader& reader, const Digest& run) {
  const Result<std::optional<SubjectRow>> row = reader.subject(run);
  if (!row) return fail(row.error());
  if (!*row) {
    return fail(ErrorKind::not_found, "NO_SUCH_RUN", run.text(),
                "the ledger holds no manifest of this digest");
  }
  if ((*row)->kind != ManifestKind::benchmark_run) {
    return fail(
        ErrorKind::invalid, "NOT_A_RUN", run.text(),
        "a job is about a benchmark run, this is a " + std::string(kind_name((*row)->kind)));
  }
  return read_reference(reader, run, ManifestKind::benchmark_run);
}

Result<Reported> read_reported(const Reader& reader, const Digest& run) {
  Result<Manifest> document = read_run(reader, run);
  if (!document) return fail(document.error());
  const BenchmarkRunFacts facts = std::get<BenchmarkRunFacts>(document->facts);
  const Result<std::optional<SubjectRow>> suite = reader.subject(facts.workload);
  if (!suite) return fail(suite.error());
  if (*suite && (*suite)->kind == ManifestKind::workload_suite) {
    return refuse("SUITE_WORKLOAD", facts.workload.text(),
                  "the number is over a suite of cases, and a job measures single cases",
                  "name a run of one case");
  }
  Result<Manifest> workload = read_reference(reader, facts.workload, ManifestKind::workload_case);
  if (!workload) return fail(workload.error());
  const auto& about = std::get<WorkloadFacts>(workload->facts);
  Result<Manifest> operation =
      read_reference(reader, about.operation, ManifestKind::operation_spec);
  if (!operation) return fail(operation.error());
  Result<Manifest> environment =
      read_reference(reader, facts.environment, ManifestKind::execution_environment);
  if (!environment) return fail(environment.error());
  return Reported{std::move(*document), std::move(*workload), std::move(*operation),
                  std::move(*environment), facts.implementation};
}

// What the run's environment claims. An architecture that it does not know is the product's.
JobDevice device_of(const Manifest& environment) {
  const auto& facts = std::get<EnvironmentFacts>(environment.facts);
  JobDevice device;
  device.product = facts.product;
  if (facts.architecture != "unknown") device.architecture = facts.architecture;
  return device;
}

JobManifest carried(const Manifest& manifest) {
  return {manifest.identity, manifest.name, manifest.bytes};
}

bool lists(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

Status check_runner(const KeyBook& keys, const JobOrder& order, const Digest& protocol,
                    const std::string& product, std::uint64_t index) {
  const KeyRecord* runner = keys.find(order.runner);
  if (runner == nullptr || runner->role != Role::runner || !runner->valid_at(index)) {
    return refuse("RUNNER_NOT_ENROLLED", order.runner.hex(), "no valid runner key has this id",
                  "`kernelindex key enrol runner PUBLICKEY --owner SLUG`");
  }
  if (!runner->hardware.empty() && !lists(runner->hardware, product)) {
    return refuse("KEY_NOT_APPROVED_FOR_PRODUCT", order.runner.hex(),
                  "this runner is enrolled for other hardware than " + product,
                  "name another with --runner, or enrol it for this product");
  }
  if (!runner->protocols.empty() &&
      std::ranges::find(runner->protocols, protocol) == runner->protocols.end()) {
    return refuse("KEY_NOT_APPROVED_FOR_PROTOCOL", order.runner.hex(),
                  "this runner is enrolled for other protocols than " + protocol.text(),
                  "name another with --runner, or enrol it for this protocol");
  }
  return {};
}

Status check_approvals(const KeyBook& keys, const JobOrder& order, const Digest& protocol,
                       std::uint64_t index) {
  if (!keys.approved(protocol, DigestApproval::Kind::protocol, index)) {
    return refuse("PROTOCOL_UNKNOWN", protocol.text(),
                  "the root has not approved this variant of " + std::string(kControlledPolicy),
                  "`kernelindex key approve protocol " + protocol.text() + "`");
  }
  if (!keys.approved(order.harness, DigestApproval::Kind::harness, index)) {
    return refuse("HARNESS_UNKNOWN", order.harness.text(),
                  "the root has not approved a runner program of this digest",
                  "`kernelindex key approve harness " + order.harness.text() + "`");
  }
  return {};
}

MeasurementJob job_of(const JobOrder& order, const Reported& reported, const JobDevice& device) {
  MeasurementJob job;
  job.run = order.run;
  job.runner = order.runner;
  job.protocol = controlled_protocol(order.clocks).identity;
  job.harness = order.harness;
  job.workloads = {reported.workload.identity};
  for (const JobSourceFile& file : order.files) job.sources.push_back({file.path, file.digest});
  job.limits = order.limits;
  if (job.limits.output_bytes == 0) job.limits.output_bytes = kDefaultOutputBytes;
  if (job.limits.vram_bytes == 0) job.limits.vram_bytes = kDefaultVramBytes;
  job.device = device;
  const std::string nonce = random_bytes(kJobNonceBytes);
  std::memcpy(job.nonce.data(), nonce.data(), nonce.size());
  job.expires_at = order.expires_at;
  job.source_reviewed = order.source_reviewed;
  return job;
}

// The protocol's manifest, for the controlled run to refer to, and the files.
Status keep(Ledger& ledger, const JobOrder& order, const ImportIdentity& local) {
  Result<std::unique_ptr<Appender>> appender = ledger.append(local);
  if (!appender) return fail(appender.error());
  for (const JobSourceFile& file : order.files) {
    const Result<Recorded> kept = (*appender)->artifact(file.content, "text/plain");
    if (!kept) return fail_in(file.path, kept.error());
  }
  const Manifest& protocol = controlled_protocol(order.clocks);
  SnapshotEntry snapshot;
  snapshot.source = "local";
  snapshot.locator = protocol.name + ".json";
  snapshot.acquired = "supplied";
  MemorySource bytes(protocol.bytes);
  const Result<Recorded> kept = (*appender)->snapshot(snapshot, "application/json", bytes);
  if (!kept) return fail(kept.error());
  ManifestEntry claim;
  claim.source = "local";
  claim.snapshot = sha256(protocol.bytes);
  const Result<Recorded> recorded = (*appender)->claim(std::move(claim), protocol);
  if (!recorded) return fail(recorded.error());
  return (*appender)->finish(std::nullopt);
}

// All but the sources.
JobDocument document_of(const Reader& reader, const Digest& id, const MeasurementJob& job,
                        ClockVariant clocks, const Reported& reported) {
  JobDocument out;
  out.ledger = reader.format().ledger_id;
  out.job = id;
  out.seen_size = reader.head().size;
  out.seen_root = reader.head().root;
  out.run = job.run;
  out.implementation = reported.implementation;
  out.runner = job.runner;
  out.protocol = job.protocol;
  out.harness = job.harness;
  out.clocks = clocks;
  out.nonce = job.nonce;
  out.expires_at = job.expires_at;
  out.source_reviewed = job.source_reviewed;
  out.device = job.device;
  out.limits = job.limits;
  out.operation = carried(reported.operation);
  out.workloads = {carried(reported.workload)};
  return out;
}

Result<std::vector<std::string>> uncovered_files(const Reader& reader, const Digest& implementation,
                                                 const MeasurementJob& job) {
  ReaderAttempts source(reader, reader.head().size);
  Result<std::vector<std::size_t>> numbers = uncovered_sources(source, implementation, job);
  if (!numbers) return fail(numbers.error());
  std::vector<std::string> out;
  for (const std::size_t number : *numbers) out.push_back(job.sources[number].path);
  return out;
}

}  // namespace

Status check_sources(const Digest& run, const std::vector<JobSourceFile>& files) {
  const auto recipe = std::ranges::find(files, kRecipePath, &JobSourceFile::path);
  const std::size_t recipes = recipe == files.end() ? 0 : 1;
  if (files.size() == recipes) {
    return refuse(
        "NO_SOURCE", run.text(),
        "the ledger holds no source file of this run's implementation, and none was given",
        "give the files with --source or --solution; submissions to leaderboards come "
        "without them");
  }
  if (recipes == 1) return {};
  return fail(ErrorKind::invalid, "NO_RECIPE", std::string(kRecipePath),
              "nothing says how to build the files", "give --recipe FILE or --solution FILE");
}

Result<std::vector<JobSourceFile>> kept_sources(const Reader& reader, const Digest& run) {
  const Result<Manifest> document = read_run(reader, run);
  if (!document) return fail(document.error());
  const Digest implementation = std::get<BenchmarkRunFacts>(document->facts).implementation;
  const Result<std::optional<SubjectRow>> row = reader.subject(implementation);
  if (!row) return fail(row.error());
  std::map<std::string, JobSourceFile> files;
  if (!*row) return std::vector<JobSourceFile>{};
  for (const ClaimRow& claim : (*row)->claims) {
    // Rows keep digests of artifacts, not their paths.
    const Result<Entry> entry = reader.entry(claim.index);
    if (!entry) return fail(entry.error());
    const auto* body = std::get_if<ManifestEntry>(&entry->body);
    if (body == nullptr) continue;
    for (const NamedArtifact& artifact : body->facts.artifacts) {
      if (artifact.role != "source" || !is_source_path(artifact.path)) continue;
      Result<std::optional<std::string>> bytes = reader.object(artifact.digest);
      if (!bytes) return fail(bytes.error());
      if (!*bytes) continue;
      files.try_emplace(artifact.path,
                        JobSourceFile{artifact.path, artifact.digest, std::move(**bytes)});
    }
  }
  std::vector<JobSourceFile> out;
  for (auto& [path, file] : files) out.push_back(std::move(file));
  return out;
}

Result<IssuedJob> issue_job(Ledger& ledger, const JobOrder& order, const SigningKey& controller,
                            const ImportIdentity& local) {
  std::optional<Reported> reported;
  JobDevice device;
  MeasurementJob job;
  {
    const Reader reader = ledger.read();
    if (const Result<Manifest> run = read_run(reader, order.run); !run) return fail(run.error());
    if (Status status = check_sources(order.run, order.files); !status) {
      return fail(status.error());
    }
    Result<Reported> read = read_reported(reader, order.run);
    if (!read) return fail(read.error());
    reported = std::move(*read);
    device = order.device.value_or(device_of(reported->environment));
    const KeyBook& keys = reader.state().keys;
    const Digest& protocol = controlled_protocol(order.clocks).identity;
    const std::uint64_t next = reader.head().size;
    if (Status status = check_runner(keys, order, protocol, device.product, next); !status) {
      return fail(status.error());
    }
    if (Status status = check_approvals(keys, order, protocol, next); !status) {
      return fail(status.error());
    }
    if (order.expires_at <= ledger.options().clock()) {
      return fail(ErrorKind::invalid, "JOB_EXPIRED", format_utc_micros(order.expires_at),
                  "the job would expire before it is recorded", "give a later instant");
    }
    if (order.expires_at > ledger.options().clock() + kLongestJob) {
      return fail(ErrorKind::invalid, "JOB_TOO_LONG", format_utc_micros(order.expires_at),
                  "a job stands for 24 hours at most", "give an earlier instant");
    }
    job = job_of(order, *reported, device);
    // An entry cannot be taken back: what cannot be handed out is not recorded.
    JobDocument document = document_of(reader, Digest(), job, order.clocks, *reported);
    document.sources = order.files;
    if (const Result<std::string> text = write_job_document(document); !text) {
      return fail(text.error());
    }
  }
  if (Status status = keep(ledger, order, local); !status) return fail(status.error());
  const Result<Attested> said = attest(ledger, {order.run, job}, controller);
  if (!said) return fail(said.error());
  const Reader reader = ledger.read();
  Result<JobDocument> document = job_document(reader, said->id);
  if (!document) return fail(document.error());
  const Result<SaidAt> entry = read_said_at(reader, said->index);
  if (!entry) return fail(entry.error());
  Result<std::vector<std::string>> uncovered = uncovered_files(
      reader, reported->implementation, std::get<MeasurementJob>(entry->said.predicate));
  if (!uncovered) return fail(uncovered.error());
  return IssuedJob{said->index, std::move(*document), std::move(*uncovered)};
}

Result<JobDocument> job_document(const Reader& reader, const Digest& id) {
  ReaderAttempts source(reader, reader.head().size);
  const Result<std::optional<SaidAt>> said = source.attestation(id);
  if (!said) return fail(said.error());
  const auto* job = *said ? std::get_if<MeasurementJob>(&(*said)->said.predicate) : nullptr;
  if (job == nullptr) {
    return fail(ErrorKind::not_found, "NO_SUCH_JOB", id.text(),
                "the ledger holds no measurement job of this id", "`kernelindex job list`");
  }
  const std::optional<ClockVariant> clocks = controlled_variant(job->protocol);
  if (!clocks) {
    return refuse("PROTOCOL_UNKNOWN", job->protocol.text(),
                  "this program does not know the protocol of the job",
                  "use the version that issued it");
  }
  const Result<Reported> reported = read_reported(reader, job->run);
  if (!reported) return fail(reported.error());
  JobDocument out = document_of(reader, id, *job, *clocks, *reported);
  for (const MeasurementJob::Source& file : job->sources) {
    Result<std::optional<std::string>> bytes = reader.object(file.digest);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) {
      return refuse("SOURCE_NOT_HELD", file.path, "the bytes of this file are not held any more",
                    "issue another job: `kernelindex job new`");
    }
    out.sources.push_back({file.path, file.digest, std::move(**bytes)});
  }
  const Result<std::string> text = write_job_document(out);
  if (!text) return fail(text.error());
  return read_job_document(*text);
}

}  // namespace kernelindex
