// SPDX-License-Identifier: Apache-2.0
// Where the API has what a page shows.
#pragma once

#include "schema/digest.h"
#include "tools/serve/pages/html.h"

namespace kernelindex::serve {

Link api_run(const Digest& run);
Link api_group(const Digest& key);
Link api_operation(const Digest& operation);
Link api_implementation(const Digest& implementation);
Link api_evidence(const Digest& run);
Link api_bundle(const Digest& run);

}  // namespace kernelindex::serve
