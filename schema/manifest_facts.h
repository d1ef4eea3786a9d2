// SPDX-License-Identifier: Apache-2.0
// Reads out of a valid spec what queries need of it. Internal to schema/: make_manifest calls it
// once.
#pragma once

#include <vector>

#include "schema/json_value.h"
#include "schema/manifest.h"

namespace kernelindex {

// Requires, both: `spec` is valid and normalised.
KindFacts facts_of(ManifestKind kind, const json::Value& spec);
std::vector<Reference> references_of(ManifestKind kind, const json::Value& spec);

}  // namespace kernelindex
