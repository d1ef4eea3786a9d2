// SPDX-License-Identifier: Apache-2.0
// Changes single bytes of a bundle: each must be refused or leave every line of the verdict as it
// is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "verify/bundle.h"

namespace kernelindex::test {

struct BundleFlips {
  std::size_t flips = 0;
  std::size_t refused = 0;         // no bundle any more, or its evidence is false
  std::size_t same = 0;            // the verdict is the same in every line
  std::vector<std::string> holes;  // "byte 1234: 'a' for 'b': ..."
};

// Changes every `stride`-th byte from `first` on in several ways: its lowest bit, its case, and
// into the bytes that mean something to JSON and base64.
BundleFlips flip_bundle(std::string_view bundle, const VerifyOptions& options, std::size_t first,
                        std::size_t stride);

}  // namespace kernelindex::test
