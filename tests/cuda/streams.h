// SPDX-License-Identifier: Apache-2.0
// Streams of random words for tests: one for each name and number, always the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/input_family.h"
#include "cuda/input_seed.h"

namespace kernelindex::runner::test {

inline StreamOf stream_of(std::uint32_t number) {
  return [number](std::string_view tensor) {
    static const SeedSource source(std::string(32, 'n'), std::string(32, 'e'));
    return source.stream({sha256("a workload"), 0, 0, number, tensor});
  };
}

}  // namespace kernelindex::runner::test
