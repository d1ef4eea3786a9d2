// SPDX-License-Identifier: Apache-2.0
// Slugs: "Amir M. Mir | SF Tensor" becomes "amir-m-mir-sf-tensor".
#pragma once

#include <string>
#include <string_view>

namespace kernelindex::ingest {

// Lower case, every run of characters outside [a-z0-9] one hyphen, none at either end, and then at
// most 100 characters; the cut may leave a hyphen at the end. A text without ASCII letters or
// digits gives the empty string.
std::string kebab(std::string_view text);

}  // namespace kernelindex::ingest
