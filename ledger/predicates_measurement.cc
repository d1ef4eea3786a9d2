// SPDX-License-Identifier: Apache-2.0
// What is said about controlled measurements: measurement-job/v1 and acceptance/v1 by controllers,
// controlled-run/v1 and calibration/v1 by runners.
#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "ledger/measurement_predicates.h"
#include "ledger/predicate_members.h"
#include "schema/grammar.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

using Verdict = Acceptance::Verdict;

constexpr std::string_view kVerdicts[] = {"confirms",       "differs_slower", "differs_faster",
                                          "inconclusive",   "not_reproduced", "adapter_failed",
                                          "not_comparable", "refused"};
constexpr std::string_view kClocks[] = {"unlocked", "locked"};

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_from_name(std::string_view name) {
  return predicates::from_word<Verdict>(kVerdicts, name);
}

namespace predicates {

// ---- measurement-job/v1 ----

namespace {

constexpr std::size_t kNonceText = 44;  // base64 of 32 bytes
constexpr std::size_t kTimeText = 27;   // "2026-11-30T15:10:40.123456Z"

// The members of the limits: one row is how each is spelled and how high it may be.
struct Limit {
  std::string_view name;
  std::int64_t MeasurementJob::Limits::*member;
  std::int64_t most;
};
constexpr Limit kLimits[] = {
    {"buildSeconds", &MeasurementJob::Limits::build_seconds, kJobSeconds},
    {"wallSeconds", &MeasurementJob::Limits::wall_seconds, kJobSeconds},
    {"childSeconds", &MeasurementJob::Limits::child_seconds, kJobSeconds},
    {"outputBytes", &MeasurementJob::Limits::output_bytes, kDeviceBytes},
    {"vramBytes", &MeasurementJob::Limits::vram_bytes, kDeviceBytes},
    {"pids", &MeasurementJob::Limits::pids, kJobProcesses},
    {"logBytes", &MeasurementJob::Limits::log_bytes, kJobLogBytes},
};

MeasurementJob::Limits read_limits(ObjectReader& reader) {
  ObjectReader inner(reader.required("limits"), reader.place_of("limits"));
  MeasurementJob::Limits limits;
  for (const Limit& limit : kLimits) {
    limits.*limit.member = inner.integer(limit.name, 1, limit.most);
  }
  adopt(reader, inner.finish());
  return limits;
}

std::string read_optional_line(ObjectReader& reader, const json::Value& object,
                               std::string_view name, std::size_t bytes) {
  return object.find(name) != nullptr ? read_line(reader, name, bytes) : std::string();
}

MeasurementJob::Device read_device(ObjectReader& reader) {
  const json::Value& object = reader.required("device");
  ObjectReader inner(object, reader.place_of("device"));
  MeasurementJob::Device device;
  device.product = read_line(inner, "product", kProductBytes);
  device.architecture = read_optional_line(inner, object, "architecture", kArchitectureBytes);
  if (!device.architecture.empty() && !schema::kToken.matches(device.architecture)) {
    inner.fault("architecture", "BAD_MEMBER",
                "this must be a lower-case letter and then letters, digits or _",
                "write \"sm_90\"; leave it out when it is not known");
  }
  if (object.find("memoryBytes") != nullptr) {
    device.memory_bytes = inner.integer("memoryBytes", 1, kDeviceBytes);
  }
  device.mig_profile = read_optional_line(inner, object, "migProfile", kMigProfileBytes);
  device.count = inner.integer("count", 1, kDevices);
  adopt(reader, inner.finish());
  return device;
}

// A file cannot lie inside another file.
bool lies_in_another(const std::vector<MeasurementJob::Source>& sources) {
  std::set<std::string_view> folders;
  for (const MeasurementJob::Source& source : sources) {
    const std::string_view path = source.path;
    for (std::size_t i = path.find('/'); i != std::string_view::npos; i = path.find('/', i + 1)) {
      folders.insert(path.substr(0, i));
    }
  }
  return std::ranges::any_of(
      sources, [&](const MeasurementJob::Source& source) { return folders.contains(source.path); });
}

std::vector<MeasurementJob::Source> read_sources(ObjectReader& reader) {
  std::vector<MeasurementJob::Source> sources;
  for (const json::Value& item : reader.array("sources", kJobSources, true)) {
    ObjectReader inner(item,
                       reader.place_of("sources") + "[" + std::to_string(sources.size()) + "]");
    MeasurementJob::Source source;
    source.path = inner.text("path", kSourcePathBytes);
    if (!is_source_path(source.path)) {
      inner.fault("path", "BAD_MEMBER",
                  "this must be a relative path without \"..\", backslashes and segments that "
                  "begin with \"-\"",
                  "write it as it lies below the folder of the sources: \"src/kernel.cu\"");
    }
    source.digest = inner.digest("digest");
    adopt(reader, inner.finish());
    if (!sources.empty() && sources.back().path >= source.path) {
      reader.fault("sources", "BAD_MEMBER", "the list must be sorted by path, none twice");
    }
    if (!reader.ok()) return {};
    sources.push_back(std::move(source));
  }
  if (sources.empty()) {
    reader.fault("sources", "BAD_MEMBER", "there must be at least one file to compile");
  }
  if (lies_in_another(sources)) {
    reader.fault("sources", "BAD_MEMBER", "one path is a file and the folder of another file");
  }
  return sources;
}

JobNonce read_nonce(ObjectReader& reader) {
  JobNonce nonce{};
  const std::optional<std::string> bytes = from_base64(reader.text("nonce", kNonceText));
  if (!bytes || bytes->size() != nonce.size()) {
    reader.fault("nonce", "BAD_MEMBER", "this must be 32 bytes in standard base64 with padding");
    return nonce;
  }
  std::ranges::transform(*bytes, nonce.begin(),
                         [](char c) { return static_cast<std::uint8_t>(c); });
  return nonce;
}

UtcMicros read_time(ObjectReader& reader, std::string_view name) {
  const std::string text = reader.text(name, kTimeText);
  const Result<UtcMicros> time = parse_utc_instant(text);
  // One instant has one spelling, that of `recordedAt`.
  if (time && format_utc_micros(*time) == text) return *time;
  reader.fault(name, "BAD_MEMBER", "this must be a UTC instant with six digits after the second",
               "write it as 2026-11-30T15:10:40.000000Z");
  return 0;
}

Status fixed_subject(const Digest& subject, const Digest& expected, std::string_view what) {
  if (subject == expected) return {};
  return fail(ErrorKind::invalid, "SUBJECT_MISMATCH", "subject[0]",
              "the subject of " + std::string(what));
}

}  // namespace

void read(ObjectReader& reader, const json::Value&, MeasurementJob& out) {
  out.run = reader.digest("run");
  out.runner = reader.hex_digest("runner");
  out.protocol = reader.digest("protocol");
  out.harness = reader.digest("harness");
  out.workloads = read_digests(reader, "workloads", kJobWorkloads, true);
  if (out.workloads.empty()) reader.fault("workloads", "BAD_MEMBER", "there must be at least one");
  require_rising(reader, "workloads", out.workloads);
  out.sources = read_sources(reader);
  out.limits = read_limits(reader);
  out.device = read_device(reader);
  out.nonce = read_nonce(reader);
  out.expires_at = read_time(reader, "expiresAt");
  out.source_reviewed = reader.boolean("sourceReviewed");
}

void write(const MeasurementJob& job, MemberWriter& out) {
  MemberWriter limits(out.arena());
  for (const Limit& limit : kLimits) limits.number(limit.name, job.limits.*limit.member);

  MemberWriter device(out.arena());
  device.text("product", job.device.product)
      .text_if("architecture", job.device.architecture)
      .text_if("migProfile", job.device.mig_profile)
      .number("count", job.device.count);
  if (job.device.memory_bytes) device.number("memoryBytes", *job.device.memory_bytes);

  std::vector<json::Value> sources;
  for (const MeasurementJob::Source& source : job.sources) {
    MemberWriter item(out.arena());
    sources.push_back(item.text("path", source.path).digest("digest", source.digest).finish());
  }
  const std::string_view nonce(reinterpret_cast<const char*>(job.nonce.data()), job.nonce.size());
  out.digest("run", job.run)
      .text("runner", job.runner.hex())
      .digest("protocol", job.protocol)
      .digest("harness", job.harness)
      .texts("workloads", job.workloads, &Digest::text)
      .add("sources", out.arena().array(sources))
      .add("limits", limits.finish())
      .add("device", device.finish())
      .text("nonce", to_base64(nonce))
      .text("expiresAt", format_utc_micros(job.expires_at))
      .boolean("sourceReviewed", job.source_reviewed);
}

Status check_place(const MeasurementJob& job, const Digest& subject, const Binding&) {
  return fixed_subject(subject, job.run, "a job is the reported run");
}

// ---- controlled-run/v1 ----

void read(ObjectReader& reader, const json::Value&, ControlledRun& out) {
  out.job = reader.digest("job");
  out.run = reader.digest("run");
  out.result = reader.digest("result");
  out.samples = reader.optional_digest("samples");
  out.device = reader.digest("device");
  out.host = reader.digest("host");
}

void write(const ControlledRun& controlled, MemberWriter& out) {
  out.digest("job", controlled.job)
      .digest("run", controlled.run)
      .digest("result", controlled.result)
      .digest("device", controlled.device)
      .digest("host", controlled.host);
  if (controlled.samples) out.digest("samples", *controlled.samples);
}

Status check_place(const ControlledRun& controlled, const Digest& subject, const Binding&) {
  return fixed_subject(subject, controlled.job, "a controlled run is its job");
}

// ---- acceptance/v1 ----

namespace {

std::vector<std::string> read_codes(ObjectReader& reader, std::string_view name) {
  std::vector<std::string> codes;
  for (const json::Value& item : reader.array(name, kAcceptanceCodes, true)) {
    const std::string_view code = item.is_string() ? item.string() : "";
    if (!is_reason_code(code)) {
      reader.fault(name, "BAD_MEMBER",
                   "each must be a code of capital letters, digits and single _");
      return {};
    }
    codes.emplace_back(code);
  }
  require_rising(reader, name, codes);
  return codes;
}

}  // namespace

void read(ObjectReader& reader, const json::Value&, Acceptance& out) {
  out.result = reader.digest("result");
  out.accepted = reader.boolean("accepted");
  out.verdict = read_word<Verdict>(reader, "verdict", kVerdicts);
  out.codes = read_codes(reader, "codes");
  out.allowed = read_codes(reader, "allowed");
  out.policy = reader.slug("policy", kSlugBytes);
  if (out.accepted == (out.verdict == Verdict::refused)) {
    reader.fault("accepted", "BAD_MEMBER", "exactly the results that are not refused are accepted");
  }
  if (out.verdict == Verdict::refused && out.codes.empty()) {
    reader.fault("codes", "BAD_MEMBER", "a refusal names at least one code");
  }
}

void write(const Acceptance& acceptance, MemberWriter& out) {
  out.digest("result", acceptance.result)
      .boolean("accepted", acceptance.accepted)
      .text("verdict", verdict_name(acceptance.verdict))
      .texts("codes", acceptance.codes, std::identity())
      .texts("allowed", acceptance.allowed, std::identity())
      .text("policy", acceptance.policy);
}

Status check_place(const Acceptance& acceptance, const Digest& subject, const Binding&) {
  return fixed_subject(subject, acceptance.result, "an acceptance is the result");
}

// ---- calibration/v1 ----

namespace {

struct Median {
  std::string_view name;
  std::int64_t Calibration::Session::*member;
};
constexpr Median kMedians[] = {
    {"launchNs", &Calibration::Session::launch_ns},
    {"bandwidthNs", &Calibration::Session::bandwidth_ns},
    {"computeNs", &Calibration::Session::compute_ns},
    {"tensorNs", &Calibration::Session::tensor_ns},
    {"smKhz", &Calibration::Session::sm_khz},
};

Calibration::Session read_session(const json::Value& object, std::string place,
                                  ObjectReader& outer) {
  ObjectReader reader(object, std::move(place));
  Calibration::Session session;
  session.boot = reader.digest("boot");
  session.clocks = read_word<ClockVariant>(reader, "clocks", kClocks);
  session.repetitions = reader.integer("repetitions", 1, kCalibrationSamples);
  for (const Median& median : kMedians) {
    session.*median.member =
        reader.integer(median.name, 1, static_cast<std::int64_t>(limits::kSafeInteger));
  }
  adopt(outer, reader.finish());
  return session;
}

}  // namespace

void read(ObjectReader& reader, const json::Value&, Calibration& out) {
  out.device = reader.digest("device");
  for (const json::Value& item : reader.array("sessions", kCalibrationSessions, true)) {
    out.sessions.push_back(read_session(
        item, reader.place_of("sessions") + "[" + std::to_string(out.sessions.size()) + "]",
        reader));
  }
  if (out.sessions.empty()) reader.fault("sessions", "BAD_MEMBER", "there must be at least one");
  out.samples = reader.digest("samples");
}

void write(const Calibration& calibration, MemberWriter& out) {
  std::vector<json::Value> sessions;
  for (const Calibration::Session& session : calibration.sessions) {
    MemberWriter item(out.arena());
    item.digest("boot", session.boot)
        .text("clocks", clock_variant_name(session.clocks))
        .number("repetitions", session.repetitions);
    for (const Median& median : kMedians) item.number(median.name, session.*median.member);
    sessions.push_back(item.finish());
  }
  out.digest("device", calibration.device)
      .add("sessions", out.arena().array(sessions))
      .digest("samples", calibration.samples);
}

Status check_place(const Calibration&, const Digest& subject, const Binding& binding) {
  return fixed_subject(subject, binding.signer, "a calibration is the key of its runner");
}

}  // namespace predicates
}  // namespace kernelindex
