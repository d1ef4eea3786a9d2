// SPDX-License-Identifier: Apache-2.0
#include "schema/manifest_schema.h"

#include <array>

#include "schema/kind_schemas.h"

namespace kernelindex::schema {
namespace {

// In the order of ManifestKind.
constexpr std::array kSpecs = {operation_spec,
                               workload_case,
                               workload_suite,
                               software_project,
                               implementation_revision,
                               benchmark_protocol,
                               execution_environment,
                               benchmark_run,
                               model_revision,
                               serving_stack_revision,
                               serving_configuration,
                               serving_workload,
                               serving_run};
static_assert(kSpecs.size() == kManifestKinds);

Node metadata() {
  return object({
      required("name", text(kManifestName, kManifestNameLength)),
      optional("title", text(200)),
      optional("description", text(2000)),
      optional("labels", map(token(), text(200))),
      optional("authors",
               list(object({optional("name", text(200)), optional("github", text(100))}))),
      optional("sourceRefs", list(object({required("url", https_url())}))),
  });
}

Node envelope(Node kind, Node spec) {
  return object({
      required("apiVersion", one_of({kApiVersion})),
      required("kind", std::move(kind)),
      required("metadata", metadata()),
      required("spec", std::move(spec)),
  });
}

std::array<Node, kManifestKinds> make_documents() {
  std::array<Node, kManifestKinds> documents;
  for (std::size_t i = 0; i < kManifestKinds; ++i) {
    documents[i] = envelope(one_of({kind_name(static_cast<ManifestKind>(i + 1))}), kSpecs[i]());
  }
  return documents;
}

const Node& field_of(const Node& node, std::string_view name) {
  for (const Field& field : node.fields) {
    if (field.name == name) return field.node;
  }
  return node;
}

}  // namespace

const Node& document_schema(ManifestKind kind) {
  static const std::array<Node, kManifestKinds> documents = make_documents();
  return documents.at(static_cast<std::size_t>(kind) - 1);
}

const Node& spec_schema(ManifestKind kind) { return field_of(document_schema(kind), "spec"); }

const Node& envelope_schema() {
  static const Node node = [] {
    Node kinds = one_of({});
    for (std::size_t i = 0; i < kManifestKinds; ++i) {
      kinds.values.push_back(kind_name(static_cast<ManifestKind>(i + 1)));
    }
    return envelope(std::move(kinds), any());
  }();
  return node;
}

}  // namespace kernelindex::schema
