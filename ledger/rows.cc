// SPDX-License-Identifier: Apache-2.0
#include "ledger/rows.h"

#include <cassert>
#include <cstdint>
#include <cstring>

#include "rows_generated.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// FlatBuffers 2.0.8 asserts on buffers of 2 GiB; no row comes near this bound.
constexpr std::size_t kRowBytes = 16 * limits::kMiB;

flat::Hash to_flat(const Digest& digest) {
  flat::Hash hash;
  std::memcpy(&hash, digest.bytes.data(), digest.bytes.size());
  return hash;
}
static_assert(sizeof(flat::Hash) == sizeof(Digest::bytes));

Digest from_flat(const flat::Hash* hash) {
  Digest digest;
  if (hash != nullptr) std::memcpy(digest.bytes.data(), hash, digest.bytes.size());
  return digest;
}

std::optional<Digest> optional_from_flat(const flat::Hash* hash) {
  if (hash == nullptr) return std::nullopt;
  return from_flat(hash);
}

std::string_view view(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

using FlatText = Offset<flatbuffers::String>;
using FlatTexts = Offset<flatbuffers::Vector<FlatText>>;

FlatText put(FlatBufferBuilder& out, std::string_view text) {
  return text.empty() ? FlatText() : out.CreateString(text.data(), text.size());
}

template <typename Texts>
FlatTexts put_all(FlatBufferBuilder& out, const Texts& texts) {
  if (texts.empty()) return {};
  std::vector<FlatText> offsets;
  offsets.reserve(texts.size());
  for (const std::string_view text : texts) {
    offsets.push_back(out.CreateString(text.data(), text.size()));
  }
  return out.CreateVector(offsets);
}

template <typename Text>
std::vector<Text> get_all(const flatbuffers::Vector<FlatText>* texts) {
  std::vector<Text> out;
  if (texts == nullptr) return out;
  out.reserve(texts->size());
  for (const flatbuffers::String* text : *texts) out.emplace_back(view(text));
  return out;
}

std::string bytes_of(const FlatBufferBuilder& out) {
  return {reinterpret_cast<const char*>(out.GetBufferPointer()), out.GetSize()};
}

std::unexpected<Error> damaged() {
  return fail(ErrorKind::corrupt, "DAMAGED_ROW", {}, "a row of derived data is damaged",
              "`kernelindex reindex` makes derived data anew");
}

bool aligned(std::string_view bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(std::uint64_t) == 0;
}

// Requires: aligned bytes, since rows are read in place.
template <typename Table>
const Table* verified(std::string_view bytes) {
  assert(aligned(bytes));
  if (bytes.size() < 8 || bytes.size() > kRowBytes) return nullptr;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size());
  if (!verifier.VerifyBuffer<Table>(nullptr)) return nullptr;
  return flatbuffers::GetRoot<Table>(data);
}

Offset<flat::Claim> put_claim(FlatBufferBuilder& out, const ClaimRow& claim) {
  const flat::Hash document = to_flat(claim.document);
  const flat::Hash snapshot = to_flat(claim.snapshot.value_or(Digest{}));
  const flat::Hash project = to_flat(claim.facts.project.value_or(Digest{}));
  const FlatText source = put(out, claim.source);
  const FlatText via = put(out, claim.via);
  const FlatTexts external_ids = put_all(out, claim.external_ids);
  const FlatText slug = put(out, claim.facts.slug);
  const FlatTexts aliases = put_all(out, claim.facts.aliases);
  const FlatTexts tags = put_all(out, claim.facts.tags);
  const FlatText published_at = put(out, claim.facts.published_at);
  std::vector<Offset<flat::ArtifactName>> artifacts;
  for (const NamedArtifact& artifact : claim.facts.artifacts) {
    const flat::Hash digest = to_flat(artifact.digest);
    const FlatText role = put(out, artifact.role);
    artifacts.push_back(flat::CreateArtifactName(out, role, &digest));
  }
  const auto artifact_list = artifacts.empty() ? 0 : out.CreateVector(artifacts);
  const FlatTexts marks = put_all(out, claim.facts.marks);
  const FlatText retracted_at = put(out, claim.facts.retracted_at);
  const FlatText supersedes = put(out, claim.facts.supersedes);
  const FlatText label = put(out, claim.label);
  return flat::CreateClaim(out, claim.index, claim.recorded_at, source, via, external_ids,
                           &document, claim.snapshot ? &snapshot : nullptr, claim.supplied,
                           claim.facts.project ? &project : nullptr, slug, aliases, tags,
                           published_at, artifact_list, marks, retracted_at, supersedes, label);
}

ClaimRow get_claim(const flat::Claim& in) {
  ClaimRow claim;
  claim.index = in.index();
  claim.recorded_at = in.recorded_at();
  claim.source = view(in.source());
  claim.via = view(in.via());
  claim.external_ids = get_all<std::string>(in.external_ids());
  claim.document = from_flat(in.document());
  claim.snapshot = optional_from_flat(in.snapshot());
  claim.supplied = in.acquired_supplied();
  claim.facts.project = optional_from_flat(in.project());
  claim.facts.slug = view(in.slug());
  claim.facts.aliases = get_all<std::string>(in.aliases());
  claim.facts.tags = get_all<std::string>(in.tags());
  claim.facts.published_at = view(in.published_at());
  if (in.artifacts() != nullptr) {
    for (const flat::ArtifactName* artifact : *in.artifacts()) {
      claim.facts.artifacts.push_back(
          {std::string(view(artifact->role())), from_flat(artifact->digest()), {}, {}, {}, {}});
    }
  }
  claim.facts.marks = get_all<std::string>(in.marks());
  claim.facts.retracted_at = view(in.retracted_at());
  claim.facts.supersedes = view(in.supersedes());
  claim.label = view(in.label());
  return claim;
}

// The facts of a spec, spread over the few generic fields of the Subject table.
struct FlatFacts {
  std::optional<Digest> operation;
  std::optional<Digest> correctness_key;
  std::optional<Digest> stack;
  std::uint32_t suite_cases = 0;
  std::string text_a;
  std::string text_b;
  std::string text_c;
  bool flag_a = false;
  std::vector<Digest> source_digests;
};

struct FactsWriter {
  FlatFacts& out;
  void operator()(const NoFacts&) const {}
  void operator()(const OperationFacts& facts) const { out.text_a = facts.family; }
  void operator()(const WorkloadFacts& facts) const {
    out.operation = facts.operation;
    out.correctness_key = facts.correctness_key;
    out.suite_cases = facts.suite_cases;
    out.text_a = facts.comparator;
  }
  void operator()(const ProjectFacts& facts) const { out.text_a = facts.name; }
  void operator()(const ImplementationFacts& facts) const {
    out.operation = facts.operation;
    out.text_a = facts.language;
    out.text_b = facts.revision;
    out.source_digests = facts.source_digests;
  }
  void operator()(const ProtocolFacts& facts) const { out.text_a = facts.harness; }
  void operator()(const EnvironmentFacts& facts) const {
    out.text_a = facts.vendor;
    out.text_b = facts.product;
    out.text_c = facts.architecture;
  }
  void operator()(const BenchmarkRunFacts&) const {}
  void operator()(const ModelFacts& facts) const {
    out.text_a = facts.model;
    out.text_b = facts.tokenizer.value_or("");
    out.flag_a = facts.tokenizer.has_value();
  }
  void operator()(const ServingConfigurationFacts& facts) const { out.stack = facts.stack; }
  void operator()(const ServingWorkloadFacts& facts) const {
    out.text_a = facts.load_generation;
    out.flag_a = facts.streaming;
  }
  void operator()(const ServingRunFacts&) const {}
};

KindFacts get_facts(ManifestKind kind, const flat::Subject& in) {
  const auto text_a = [&] { return std::string(view(in.text_a())); };
  const auto text_b = [&] { return std::string(view(in.text_b())); };
  switch (kind) {
    case ManifestKind::operation_spec:
      return OperationFacts{text_a()};
    case ManifestKind::workload_case:
    case ManifestKind::workload_suite:
      return WorkloadFacts{from_flat(in.operation()), from_flat(in.correctness_key()),
                           in.suite_cases(), text_a()};
    case ManifestKind::software_project:
      return ProjectFacts{text_a()};
    case ManifestKind::implementation_revision: {
      ImplementationFacts facts{from_flat(in.operation()), text_a(), text_b(), {}};
      if (in.source_digests() != nullptr) {
        for (const flat::Hash* hash : *in.source_digests()) {
          facts.source_digests.push_back(from_flat(hash));
        }
      }
      return facts;
    }
    case ManifestKind::benchmark_protocol:
      return ProtocolFacts{text_a()};
    case ManifestKind::execution_environment:
      return EnvironmentFacts{text_a(), text_b(), std::string(view(in.text_c()))};
    case ManifestKind::model_revision:
      return ModelFacts{text_a(), in.flag_a() ? std::optional(text_b()) : std::nullopt};
    case ManifestKind::serving_configuration:
      return ServingConfigurationFacts{from_flat(in.stack())};
    case ManifestKind::serving_workload:
      return ServingWorkloadFacts{in.flag_a(), text_a()};
    case ManifestKind::benchmark_run:
    case ManifestKind::serving_run:
    case ManifestKind::serving_stack_revision:
      break;
  }
  return NoFacts{};
}

}  // namespace

const ClaimRow& SubjectRow::shown(std::string_view own_source) const {
  assert(!claims.empty());
  for (const ClaimRow& claim : claims) {
    if (!own_source.empty() && claim.source == own_source) return claim;
  }
  return claims.front();
}

std::string encode_row(const SubjectRow& row) {
  FlatBufferBuilder out(1024);
  FlatFacts facts;
  std::visit(FactsWriter{facts}, row.facts);
  std::vector<Offset<flat::Claim>> claims;
  claims.reserve(row.claims.size());
  for (const ClaimRow& claim : row.claims) claims.push_back(put_claim(out, claim));
  const auto claim_list = out.CreateVector(claims);
  const FlatText text_a = put(out, facts.text_a);
  const FlatText text_b = put(out, facts.text_b);
  const FlatText text_c = put(out, facts.text_c);
  std::vector<flat::Hash> sources;
  for (const Digest& digest : facts.source_digests) sources.push_back(to_flat(digest));
  const auto source_list = sources.empty() ? 0 : out.CreateVectorOfStructs(sources);
  const flat::Hash operation = to_flat(facts.operation.value_or(Digest{}));
  const flat::Hash correctness_key = to_flat(facts.correctness_key.value_or(Digest{}));
  const flat::Hash stack = to_flat(facts.stack.value_or(Digest{}));
  out.Finish(flat::CreateSubject(
      out, static_cast<std::uint8_t>(row.kind), claim_list, facts.operation ? &operation : nullptr,
      facts.correctness_key ? &correctness_key : nullptr, facts.suite_cases, text_a, text_b, text_c,
      facts.flag_a, source_list, facts.stack ? &stack : nullptr));
  return bytes_of(out);
}

Result<SubjectRow> decode_subject_row(std::string_view bytes) {
  // All is copied out of it, so a value inside a block of the store may be moved first.
  std::string copy;
  if (!aligned(bytes)) bytes = copy = bytes;
  const auto* in = verified<flat::Subject>(bytes);
  if (in == nullptr || in->claims() == nullptr || in->claims()->size() == 0 || in->kind() == 0 ||
      in->kind() > kManifestKinds) {
    return damaged();
  }
  SubjectRow row;
  row.kind = static_cast<ManifestKind>(in->kind());
  row.claims.reserve(in->claims()->size());
  for (const flat::Claim* claim : *in->claims()) row.claims.push_back(get_claim(*claim));
  row.facts = get_facts(row.kind, *in);
  return row;
}

std::string encode_row(const RunRow& row) {
  FlatBufferBuilder out(1024);
  const flat::Hash group = to_flat(row.group.value_or(Digest{}));
  const flat::Hash implementation = to_flat(row.implementation);
  const flat::Hash project = to_flat(row.project.value_or(Digest{}));
  const flat::Hash operation = to_flat(row.operation.value_or(Digest{}));
  const flat::Hash workload = to_flat(row.workload);
  const flat::Hash protocol = to_flat(row.protocol);
  const flat::Hash environment = to_flat(row.environment);
  const FlatText metric = put(out, row.metric);
  const FlatText statistic = put(out, row.statistic);
  const FlatText unit = put(out, row.unit);
  const FlatText status = put(out, row.status);
  const FlatText source = put(out, row.source);
  const FlatText native_external_id = put(out, row.native_external_id);
  const FlatText implementation_name = put(out, row.implementation_name);
  const FlatText project_name = put(out, row.project_name);
  const FlatText operation_name = put(out, row.operation_name);
  const FlatText workload_name = put(out, row.workload_name);
  const FlatText hardware = put(out, row.hardware);
  const FlatText label = put(out, row.label);
  const FlatTexts external_ids = put_all(out, row.external_ids);
  std::vector<flat::RunClaim> claims;
  for (const RunClaimRow& claim : row.claims) {
    claims.emplace_back(claim.index, claim.own_source, claim.snapshot_kept);
  }
  const auto claim_list = out.CreateVectorOfStructs(claims);
  out.Finish(flat::CreateRun(
      out, static_cast<std::uint8_t>(row.kind), row.group ? &group : nullptr, metric, statistic,
      unit, row.value.value_or(0.0), row.value.has_value(), row.statistic_present, status, source,
      row.source_native, native_external_id, &implementation, implementation_name,
      row.project ? &project : nullptr, project_name, row.operation ? &operation : nullptr,
      operation_name, &workload, workload_name, &protocol, &environment, hardware, label,
      row.observed_at, row.recorded_at, row.index, row.last_index, external_ids, claim_list,
      row.flags));
  return bytes_of(out);
}

Result<RunRow> decode_run_row(std::string_view bytes) {
  const auto* in = verified<flat::Run>(bytes);
  if (in == nullptr || in->claims() == nullptr || in->claims()->size() == 0) return damaged();
  RunRow row;
  row.kind = static_cast<ManifestKind>(in->kind());
  if (row.kind != ManifestKind::benchmark_run && row.kind != ManifestKind::serving_run) {
    return damaged();
  }
  row.group = optional_from_flat(in->group());
  row.metric = view(in->metric());
  row.statistic = view(in->statistic());
  row.unit = view(in->unit());
  if (in->has_value()) row.value = in->value();
  row.statistic_present = in->statistic_present();
  row.status = view(in->status());
  row.source = view(in->source());
  row.source_native = in->source_native();
  row.native_external_id = view(in->native_external_id());
  row.implementation = from_flat(in->implementation());
  row.implementation_name = view(in->implementation_name());
  row.project = optional_from_flat(in->project());
  row.project_name = view(in->project_name());
  row.operation = optional_from_flat(in->operation());
  row.operation_name = view(in->operation_name());
  row.workload = from_flat(in->workload());
  row.workload_name = view(in->workload_name());
  row.protocol = from_flat(in->protocol());
  row.environment = from_flat(in->environment());
  row.hardware = view(in->hardware());
  row.label = view(in->label());
  row.observed_at = in->observed_at();
  row.recorded_at = in->recorded_at();
  row.index = in->index();
  row.last_index = in->last_index();
  row.external_ids = get_all<std::string_view>(in->external_ids());
  row.claims.reserve(in->claims()->size());
  for (const flat::RunClaim* claim : *in->claims()) {
    row.claims.push_back({claim->index(), claim->own_source(), claim->snapshot_kept()});
  }
  row.flags = in->flags();
  return row;
}

}  // namespace kernelindex
