// SPDX-License-Identifier: Apache-2.0
// The API for programs, /api/v1: the same documents that the verbs print with --json (DESIGN
// section 10.1), described in openapi.json, which is served beside them.
#pragma once

#include "tools/serve/router.h"

namespace kernelindex {
class SigningKey;
}

namespace kernelindex::serve {

struct ApiOptions {
  // Signs the status of bundles; null: bundles without one, which say so. Lent.
  const SigningKey* status_key = nullptr;
};

void register_api(Router& router, const ApiOptions& options = {});

// Groups of routes, each in its own source file.
void register_api_runs(Router& router, const ApiOptions& options);
void register_api_manifests(Router& router);
void register_api_log(Router& router);

}  // namespace kernelindex::serve
