// SPDX-License-Identifier: Apache-2.0
// The description of the API, OpenAPI 3.1: tools/serve/openapi.json as it is in the source.
#pragma once

#include <string_view>

namespace kernelindex::serve {

std::string_view openapi_document();

}  // namespace kernelindex::serve
