// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicate_samples.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace kernelindex::test {

PublicKey public_key(char letter) { return seeded(letter).public_key(); }

Binding binding(const PublicKey& signer) {
  return {sha256("ledger"), signer.id(), TreeHead{3, sha256("root")}};
}

Attestation founding() {
  LedgerFounding founding{"kernelindex.local/0011aabb", "alice", public_key('r'), public_key('l'),
                          20};
  return {public_key('r').id(), {std::nullopt, public_key('r').id(), std::nullopt}, founding};
}

Attestation enrolment() {
  KeyEnrolment enrolment{
      public_key('n'), Role::runner, "bob", {"nvidia-b200", "nvidia-h200"}, {}, "new"};
  enrolment.protocols = {sha256("protocol")};
  return {public_key('n').id(), binding(public_key('r')), KeyChange{enrolment}};
}

Attestation approval() {
  return {sha256("harness"), binding(public_key('r')),
          KeyChange{DigestApproval{DigestApproval::Kind::harness, "read by two"}}};
}

Attestation revocation() {
  return {public_key('n').id(), binding(public_key('r')), KeyChange{Revocation{"stolen", 41}}};
}

Attestation import() {
  ImportStatement import;
  import.first = 8;
  import.end = 20;
  import.leaves = sha256("leaves");
  import.parser = "sol-execbench";
  import.parser_version = "1";
  import.options = R"({"top":10})";
  import.snapshots = {sha256("first"), sha256("second")};
  import.counts = {{"manifests", 12}, { "quarantined", 0 }};
  import.report = sha256("report");
  return {sha256("second"), binding(public_key('i')), import};
}

Attestation note() {
  CommunityNote note{CommunityNote::Type::could_not_reproduce, "80 \xC2\xB5s here,\n\tnot 59.8",
                     "https://example.org/log?run=1", 80'000, "H200, driver 580.95"};
  return {sha256("run"), binding(public_key('c')), note};
}

Attestation retraction() {
  return {sha256("run"), binding(public_key('m')), Retraction{"measured with a warm cache"}};
}

Attestation supersession() {
  return {sha256("run"), binding(public_key('m')), Supersession{"remeasured", sha256("later")}};
}

Attestation dispute() {
  return {sha256("run"), binding(public_key('m')), Dispute{"the output is never checked"}};
}

Attestation resolution() {
  return {sha256("run"), binding(public_key('m')),
          DisputeResolution{sha256("dispute"), DisputeResolution::Outcome::upheld, "it is not"}};
}

Attestation withdrawal() {
  return {sha256("run"), binding(public_key('i')),
          Withdrawal{"sol-execbench", "submission/15866", "disqualified", "reads its inputs late",
                     sha256("snapshot")}};
}

Attestation withholding() {
  return {sha256("object"), binding(public_key('r')), Withholding{"its licence forbids it"}};
}

Attestation status() {
  return {sha256("run"), binding(public_key('s')),
          StatusStatement{7, sha256("root of 7"), {{sha256("run"), 6}, {sha256("key"), 0}}, 2}};
}

Attestation job() {
  MeasurementJob job;
  job.run = sha256("run");
  job.runner = public_key('n').id();
  job.protocol = sha256("protocol");
  job.harness = sha256("harness");
  job.workloads = {sha256("a workload"), sha256("b workload")};
  std::ranges::sort(job.workloads);
  job.sources = {{"include/tile.cuh", sha256("tile")}, {"kernel.cu", sha256("kernel")}};
  job.limits.output_bytes = 1 << 20;
  job.limits.vram_bytes = std::int64_t{100} << 30;
  job.device = {"NVIDIA H200", "sm_90", 141'000'000'000, "1g.18gb", 1};
  for (std::size_t i = 0; i < job.nonce.size(); ++i) job.nonce[i] = static_cast<std::uint8_t>(i);
  job.expires_at = 1'796'000'000'000'001;
  job.source_reviewed = true;
  return {job.run, binding(public_key('t')), job};
}

Attestation controlled_run() {
  return {sha256("job"), binding(public_key('n')),
          ControlledRun{sha256("job"), sha256("measurement"), sha256("result document"),
                        sha256("samples"), sha256("gpu"), sha256("host")}};
}

Attestation acceptance() {
  return {sha256("result"), binding(public_key('t')),
          Acceptance{sha256("result"),
                     true,
                     Acceptance::Verdict::inconclusive,
                     {"BELOW_RESOLUTION", "LAUNCH_BOUND"},
                     {"UNCALIBRATED"},
                     "ki-controlled-v1"}};
}

Attestation calibration() {
  Calibration calibration;
  calibration.device = sha256("gpu");
  calibration.sessions = {{sha256("boot 2"), ClockVariant::unlocked, 200, 2'100, 690'000,
                           1'000'000, 400'000, 1'980'000},
                          {sha256("boot 1"), ClockVariant::locked, 200, 2'100, 690'000,
                           1'300'000, 500'000, 1'500'000}};
  calibration.samples = sha256("samples");
  return {public_key('n').id(), binding(public_key('n')), calibration};
}

std::vector<Attestation> full_samples() {
  return {founding(),   enrolment(),    approval(),   revocation(),  import(),        note(),
          retraction(), supersession(), dispute(),    resolution(),  withdrawal(),    withholding(),
          status(),     job(),          acceptance(), calibration(), controlled_run()};
}

std::vector<Attestation> least_samples() {
  std::vector<Attestation> samples = full_samples();
  for (Attestation& sample : samples) {
    if (auto* change = std::get_if<KeyChange>(&sample.predicate)) {
      if (auto* enrolment = std::get_if<KeyEnrolment>(&change->action)) {
        enrolment->hardware.clear();
        enrolment->protocols.clear();
        enrolment->reason.clear();
      } else if (auto* approval = std::get_if<DigestApproval>(&change->action)) {
        approval->reason.clear();
      } else {
        std::get<Revocation>(change->action).void_from.reset();
      }
    } else if (auto* import = std::get_if<ImportStatement>(&sample.predicate)) {
      import->options = "{}";
      import->counts.clear();
      import->report.reset();
    } else if (auto* note = std::get_if<CommunityNote>(&sample.predicate)) {
      *note = {note->type, note->text, "", std::nullopt, ""};
    } else if (auto* job = std::get_if<MeasurementJob>(&sample.predicate)) {
      job->device = {job->device.product, "", std::nullopt, "", job->device.count};
    } else if (auto* controlled = std::get_if<ControlledRun>(&sample.predicate)) {
      controlled->samples.reset();
    } else if (auto* acceptance = std::get_if<Acceptance>(&sample.predicate)) {
      acceptance->codes.clear();
      acceptance->allowed.clear();
    }
  }
  return samples;
}

// ---- random ones ----

namespace {

constexpr std::int64_t kSafe = (std::int64_t{1} << 53) - 1;

class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random) {}

  std::uint64_t below(std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random_);
  }
  bool coin() { return below(2) == 0; }
  // Small ones, and those at both ends.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    const auto width = static_cast<std::uint64_t>(high - low) + 1;
    switch (below(4)) {
      case 0:
        return low;
      case 1:
        return high;
      case 2:
        return low + static_cast<std::int64_t>(below(std::min<std::uint64_t>(width, 100)));
      default:
        return low + static_cast<std::int64_t>(below(width));
    }
  }
  std::uint64_t index() { return static_cast<std::uint64_t>(integer(0, kSafe)); }
  Digest digest() { return sha256(std::to_string(random_())); }
  PublicKey key() { return public_key(static_cast<char>('a' + below(26))); }
  template <typename Enumeration>
  Enumeration word(Enumeration last) {
    return static_cast<Enumeration>(below(static_cast<std::uint64_t>(last) + 1));
  }

  std::string text(std::size_t bytes, bool lines) {
    constexpr std::array<std::string_view, 9> kPieces = {
        "a", "Z9", " ", "\"", "\\", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9D\x84\x9E", "/"};
    const std::size_t size = 1 + below(std::min<std::size_t>(bytes, 60));
    std::string out = "t";
    while (true) {
      const std::string_view piece =
          lines && below(8) == 0 ? (coin() ? "\n" : "\t") : kPieces[below(kPieces.size())];
      if (out.size() + piece.size() > size) return out;
      out += piece;
    }
  }
  std::string reason() { return text(kReasonBytes, true); }
  std::string slug() {
    constexpr std::string_view kLetters = "abcxyz019-";
    std::string out = "s";
    for (std::size_t left = below(20); left > 0; --left) out += kLetters[below(kLetters.size())];
    return out;
  }
  // Sorted, nothing twice.
  template <typename Make>
  auto set(std::size_t least, std::size_t most, Make make) {
    std::set<decltype(make())> items;
    for (const std::size_t size = least + below(most - least + 1); items.size() < size;) {
      items.insert(make());
    }
    return std::vector(items.begin(), items.end());
  }
  std::vector<Digest> digests(std::size_t least, std::size_t most) {
    return set(least, most, [&] { return digest(); });
  }
  std::vector<std::string> codes(std::size_t least) {
    return set(least, 4, [&] { return "CODE_" + std::to_string(below(1000)); });
  }

  void make(LedgerFounding& out) {
    out = {"log.example/" + slug(), slug(), key(), key(), integer(0, kNotesPerDay)};
  }
  void make(KeyChange& out) {
    switch (below(3)) {
      case 0: {
        KeyEnrolment enrolment{key(), kRoles[below(kRoles.size())], slug(), {}, {}, {}};
        if (enrolment.role == Role::runner) {
          enrolment.hardware = set(0, 3, [&] { return text(kHardwareBytes, false); });
          enrolment.protocols = digests(0, 3);
        }
        if (coin()) enrolment.reason = reason();
        out.action = enrolment;
        return;
      }
      case 1:
        out.action = DigestApproval{word(DigestApproval::Kind::protocol), coin() ? reason() : ""};
        return;
      default:
        out.action = Revocation{reason(), coin() ? std::optional(index()) : std::nullopt};
    }
  }
  void make(ImportStatement& out) {
    out.first = index();
    out.end = std::max(out.first, index());
    out.leaves = digest();
    out.parser = slug();
    out.parser_version = text(kVersionBytes, false);
    out.options = coin() ? "{}" : R"({"apply":true,"list":[1,null],"top":10})";
    out.snapshots = digests(1, 4);
    std::ranges::shuffle(out.snapshots, random_);
    for (std::size_t left = below(4); left > 0; --left) out.counts[slug()] = integer(0, kSafe);
    if (coin()) out.report = digest();
  }
  void make(CommunityNote& out) {
    out.type = word(CommunityNote::Type::regression_observed);
    out.text = text(kNoteCharacters, true);
    if (coin()) out.evidence_url = "https://example.org/" + slug() + "?q=%20#x";
    if (coin()) out.observed_ns = integer(1, kSafe);
    if (coin()) out.environment = text(kNoteEnvironmentCharacters, false);
  }
  void make(Retraction& out) { out.reason = reason(); }
  void make(Supersession& out) { out = {reason(), digest()}; }
  void make(Dispute& out) { out.reason = reason(); }
  void make(DisputeResolution& out) {
    out = {digest(), word(DisputeResolution::Outcome::upheld), reason()};
  }
  void make(Withdrawal& out) {
    out = {slug(), text(kExternalIdBytes, false), text(kSourceStateBytes, false), reason(),
           digest()};
  }
  void make(Withholding& out) { out.reason = reason(); }
  void make(StatusStatement& out) {
    out.size = static_cast<std::uint64_t>(integer(1, kSafe));
    out.root = digest();
    for (std::size_t left = 1 + below(5); left > 0; --left) out.heads[digest()] = below(out.size);
    out.notes = index();
  }
  void make(MeasurementJob& out) {
    out.run = digest();
    out.runner = digest();
    out.protocol = digest();
    out.harness = digest();
    out.workloads = digests(1, 5);
    const std::vector<std::string> paths =
        set(1, 5, [&] { return "src/" + std::to_string(below(100)) + "-" + slug() + ".cu"; });
    for (const std::string& path : paths) out.sources.push_back({path, digest()});
    out.limits = {integer(1, kJobSeconds),  integer(1, kJobSeconds),  integer(1, kJobSeconds),
                  integer(1, kDeviceBytes), integer(1, kDeviceBytes), integer(1, kJobProcesses),
                  integer(1, kJobLogBytes)};
    out.device.product = text(kProductBytes, false);
    if (coin()) out.device.architecture = "sm_90a";
    if (coin()) out.device.memory_bytes = integer(1, kDeviceBytes);
    if (coin()) out.device.mig_profile = text(kMigProfileBytes, false);
    out.device.count = integer(1, kDevices);
    for (std::uint8_t& byte : out.nonce) byte = static_cast<std::uint8_t>(below(256));
    out.expires_at = integer(0, 250'000'000'000'000'000);
    out.source_reviewed = coin();
  }
  void make(ControlledRun& out) {
    out = {digest(), digest(), digest(), std::nullopt, digest(), digest()};
    if (coin()) out.samples = digest();
  }
  void make(Acceptance& out) {
    out.result = digest();
    out.verdict = word(Acceptance::Verdict::refused);
    out.accepted = out.verdict != Acceptance::Verdict::refused;
    out.codes = codes(out.accepted ? 0 : 1);
    out.allowed = codes(0);
    out.policy = slug();
  }
  void make(Calibration& out) {
    out.device = digest();
    for (std::size_t left = 1 + below(4); left > 0; --left) {
      out.sessions.push_back({digest(), word(ClockVariant::locked),
                              integer(1, kCalibrationSamples), integer(1, kSafe), integer(1, kSafe),
                              integer(1, kSafe), integer(1, kSafe), integer(1, kSafe)});
    }
    out.samples = digest();
  }

 private:
  std::mt19937_64& random_;
};

// The subject and signer that the members ask for.
template <typename Members>
void place(const Members&, Attestation&) {}
void place(const LedgerFounding& founding, Attestation& out) {
  out.subject = founding.root_key.id();
  out.binding = {std::nullopt, founding.root_key.id(), std::nullopt};
}
void place(const KeyChange& change, Attestation& out) {
  if (const auto* enrolment = std::get_if<KeyEnrolment>(&change.action)) {
    out.subject = enrolment->public_key.id();
  }
}
void place(const ImportStatement& import, Attestation& out) {
  out.subject = import.snapshots.back();
}
void place(const MeasurementJob& job, Attestation& out) { out.subject = job.run; }
void place(const ControlledRun& controlled, Attestation& out) { out.subject = controlled.job; }
void place(const Acceptance& acceptance, Attestation& out) { out.subject = acceptance.result; }
void place(const Calibration&, Attestation& out) { out.subject = out.binding.signer; }

template <std::size_t Row>
Predicate make_row(Maker& maker) {
  std::variant_alternative_t<Row, Predicate> members;
  maker.make(members);
  return members;
}
template <std::size_t... Rows>
Predicate make_any(std::size_t row, Maker& maker, std::index_sequence<Rows...>) {
  constexpr std::array kMakers = {&make_row<Rows>...};
  return kMakers.at(row)(maker);
}

}  // namespace

Attestation random_attestation(std::size_t row, std::mt19937_64& random) {
  Maker maker(random);
  Attestation out;
  out.subject = maker.digest();
  out.binding = {maker.digest(), maker.digest(), TreeHead{maker.index(), maker.digest()}};
  out.predicate = make_any(row, maker, std::make_index_sequence<std::variant_size_v<Predicate>>());
  std::visit([&](const auto& members) { place(members, out); }, out.predicate);
  return out;
}

}  // namespace kernelindex::test
