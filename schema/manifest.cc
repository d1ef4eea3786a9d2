// SPDX-License-Identifier: Apache-2.0
#include "schema/manifest.h"

#include <array>
#include <cassert>

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

}  // namespace kernelindex
