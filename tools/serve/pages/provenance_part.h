// SPDX-License-Identifier: Apache-2.0
// Who claimed a manifest, from which bytes, what was said of it, and its place in the log: the same
// on the page of every kind of manifest.
#pragma once

#include "ledger/query.h"
#include "tools/serve/pages/html.h"
#include "tools/serve/site.h"

namespace kernelindex::serve {

void append_provenance(Html& html, const Site& site, const Provenance& provenance);

}  // namespace kernelindex::serve
