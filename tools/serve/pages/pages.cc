// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/pages.h"

namespace kernelindex::serve {

// None yet: every path of theirs is a 404 problem.
void register_pages(Router&) {}

}  // namespace kernelindex::serve
