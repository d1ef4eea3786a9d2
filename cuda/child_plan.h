// SPDX-License-Identifier: Apache-2.0
// What a child is told about a workload and a built artifact. Pure. REFERENCES section 4.2.
#pragma once

#include <map>
#include <string>

#include "cuda/measurement.h"
#include "cuda/measuring_child.h"
#include "schema/launch_manifest.h"
#include "schema/measurement_job.h"
#include "schema/result.h"

namespace kernelindex::runner {

// `manifest` is that of the binding ki-kernel, else null. Errors (invalid): those of expressions
// and launches, MISSING_SCALAR, UNKNOWN_TENSOR, NO_LOWERED_NAME, LAUNCH_LIMIT.
Result<ChildLoad> plan_load(const BoundWorkload& workload, const BuildRecipe& recipe,
                            const LaunchManifest* manifest,
                            const std::map<std::string, std::string>& lowered_names,
                            std::string artifact_path);

}  // namespace kernelindex::runner
