// SPDX-License-Identifier: Apache-2.0
// The pages for people.
#pragma once

#include "tools/serve/router.h"

namespace kernelindex::serve {

void register_pages(Router& router);

}  // namespace kernelindex::serve
