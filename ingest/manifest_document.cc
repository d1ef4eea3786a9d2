// SPDX-License-Identifier: Apache-2.0
#include "ingest/manifest_document.h"

#include <string>

namespace kernelindex::ingest {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

Value manifest_document(ManifestKind kind, Value metadata, Value spec, Arena& arena) {
  return arena.object({{"apiVersion", Value(kApiVersion)},
                       {"kind", Value(kind_name(kind))},
                       {"metadata", metadata},
                       {"spec", spec}});
}

Value named(std::string_view name, std::string_view title, Arena& arena) {
  return ObjectBuilder(arena).add("name", name).add_if(!title.empty(), "title", title).finish();
}

Value hardware_value(const Hardware& hardware, Arena& arena) {
  return ObjectBuilder(arena)
      .add("vendor", hardware.vendor)
      .add("product", hardware.product)
      .add("architecture", hardware.architecture)
      .finish();
}

Value text_list(std::initializer_list<std::string_view> texts, Arena& arena) {
  std::vector<Value> items;
  for (const std::string_view text : texts) items.push_back(arena.string(text));
  return arena.array(items);
}

ObjectBuilder submission_spec(const SubmissionParts& parts, Arena& arena) {
  ObjectBuilder support(arena);
  support.add("hardwareArchitectures", text_list({parts.hardware.architecture}, arena));
  support.add("productsTested", text_list({parts.hardware.product}, arena));
  support.add("dtypes", arena.array(parts.dtypes));
  const std::string version = "submission-" + std::to_string(parts.id);
  ObjectBuilder spec(arena);
  spec.add("projectRevision", ObjectBuilder(arena).add("version", version).finish());
  spec.add("operation", ObjectBuilder(arena).add("specDigest", parts.operation.text()).finish());
  spec.add("callable", ObjectBuilder(arena).add("language", parts.language).finish());
  spec.add("support", support.finish()).add("licensing", ObjectBuilder(arena).finish());
  return spec;
}

}  // namespace kernelindex::ingest
