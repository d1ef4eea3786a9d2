// SPDX-License-Identifier: Apache-2.0
#include "schema/manifest.h"

#include <array>
#include <cassert>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/manifest_facts.h"
#include "schema/manifest_schema.h"

namespace kernelindex {
namespace {

constexpr std::array<std::string_view, kManifestKinds> kKindNames = {"OperationSpec",
                                                                     "WorkloadCase",
                                                                     "WorkloadSuite",
                                                                     "SoftwareProject",
                                                                     "ImplementationRevision",
                                                                     "BenchmarkProtocol",
                                                                     "ExecutionEnvironment",
                                                                     "BenchmarkRun",
                                                                     "ModelRevision",
                                                                     "ServingStackRevision",
                                                                     "ServingConfiguration",
                                                                     "ServingWorkload",
                                                                     "ServingRun"};

const schema::Node& schema_for(std::optional<ManifestKind> kind) {
  return kind ? schema::document_schema(*kind) : schema::envelope_schema();
}

// The error of a fault, with "line:column" in front when the text that was read is known.
Error located(schema::Fault fault, std::string_view text) {
  if (text.empty()) return std::move(fault.error);
  return fail_in(json::line_and_column(text, fault.offset), std::move(fault.error)).error();
}

}  // namespace

std::string_view kind_name(ManifestKind kind) {
  const auto index = static_cast<std::size_t>(kind) - 1;
  assert(index < kKindNames.size());
  return kKindNames[index];
}

std::optional<ManifestKind> kind_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<ManifestKind>(i + 1);
  }
  return std::nullopt;
}

Result<Manifest> make_manifest(const json::Value& document, json::Arena& arena,
                               std::string_view text) {
  const std::optional<ManifestKind> kind = kind_from_name(document.text("kind"));
  std::vector<schema::Fault> faults;
  const json::Value normal = schema::check(schema_for(kind), document, arena, faults);
  if (!faults.empty()) return fail(located(std::move(faults.front()), text));
  assert(kind.has_value());  // the envelope schema admits no other

  const json::Value& metadata = *normal.find("metadata");
  const json::Value& spec = *normal.find("spec");
  Manifest manifest;
  manifest.kind = *kind;

  // Canonical order of the members is apiVersion, kind, metadata, spec; so the identity body is the
  // document's own text with the metadata left out, and one printing serves both digests.
  std::string& bytes = manifest.bytes;
  bytes.append("{\"apiVersion\":\"").append(kApiVersion).append("\",\"kind\":\"");
  bytes.append(kind_name(*kind)).append("\"");
  const std::size_t metadata_begin = bytes.size();
  bytes.append(",\"metadata\":");
  json::append_canonical(metadata, bytes);
  const std::size_t metadata_end = bytes.size();
  bytes.append(",\"spec\":");
  json::append_canonical(spec, bytes);
  bytes.append("}");
  if (bytes.size() > limits::kManifestBytes) {
    return fail(ErrorKind::invalid, "TOO_LARGE", {},
                "the canonical manifest has " + std::to_string(bytes.size()) +
                    " bytes, more than the limit of " + std::to_string(limits::kManifestBytes));
  }

  const std::string_view whole = bytes;
  manifest.identity = sha256({whole.substr(0, metadata_begin), whole.substr(metadata_end)});
  manifest.document = sha256(whole);

  manifest.name = metadata.text("name");
  manifest.title = metadata.text("title");
  manifest.references = references_of(*kind, spec);
  manifest.facts = facts_of(*kind, spec);
  return manifest;
}

std::vector<Error> validate_manifest(const json::Value& document, std::size_t limit,
                                     std::string_view text) {
  json::Arena arena;
  std::vector<schema::Fault> faults;
  schema::check(schema_for(kind_from_name(document.text("kind"))), document, arena, faults, limit);
  std::vector<Error> errors;
  for (schema::Fault& fault : faults) errors.push_back(located(std::move(fault), text));
  return errors;
}

Result<Manifest> read_manifest(std::string_view json_text) {
  json::Arena arena;
  const Result<json::Value> document = json::parse(json_text, arena);
  if (!document) return fail(document.error());
  return make_manifest(*document, arena, json_text);
}

std::string identity_body(const Manifest& manifest) {
  json::Arena arena;
  const Result<json::Value> document = json::parse(manifest.bytes, arena);
  assert(document.has_value());  // we printed these bytes
  return json::canonical(json::ObjectBuilder(arena)
                             .add("apiVersion", *document->find("apiVersion"))
                             .add("kind", *document->find("kind"))
                             .add("spec", *document->find("spec"))
                             .finish());
}

}  // namespace kernelindex
