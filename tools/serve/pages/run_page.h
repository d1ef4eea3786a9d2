// SPDX-License-Identifier: Apache-2.0
// The page of one run: its number, its rank, what it is made of, who says so and from which bytes,
// and what it is worth.
#pragma once

#include "tools/serve/router.h"

namespace kernelindex::serve {

// GET /runs/{id...}
Result<Response> run_page(const Site& site, const Request& request, const Captures& captures);

}  // namespace kernelindex::serve
