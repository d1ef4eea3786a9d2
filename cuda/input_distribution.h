// SPDX-License-Identifier: Apache-2.0
// Words to values: the distributions of PROTOCOL sections 3.2 and 3.3, and the rule by which
// SOL-ExecBench chooses one by the name of a tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cuda/host_tensor.h"
#include "cuda/input_seed.h"

namespace kernelindex::runner {

struct Distribution {
  enum class Kind : std::uint8_t {
    normal,          // N(0,1) * scale
    clamped_normal,  // N(0,1) clamped to +-2: the 8-bit formats
    decay,           // U(-1,-0.001): what SOL-ExecBench gives a tensor named "A"
    ones,
    zeros,
    positive_normal,  // |N| + 0.1
    cosine,           // cos of an angle in [0, 2 pi)
    sine,
    softmax,      // rows of softmax(N)
    integers,     // uniform in [-range, range), a whole number
    coin,         // 0 or 1
    row_starts,   // 0 = first <= ... <= last = total; never raw random
    row_members,  // uniform in [0, range)
  };
  Kind kind = Kind::normal;
  double scale = 1;
  std::int64_t range = 0;  // of integers and row_members; the total of row_starts

  // How the result names it: "sol:normal", "sol:normal/sqrt(4096)", "sol:ssm_decay_A".
  std::string text() const;
  bool operator==(const Distribution&) const = default;
};

// What SOL-ExecBench's code (not its documentation) gives a tensor of this name. `name` as the
// definition spells it, upper case included.
Distribution sol_distribution(std::string_view name, Dtype dtype,
                              std::span<const std::int64_t> shape);

// (word + 1/2) / 2^32: in (0,1).
double unit_interval(std::uint32_t word);
// Box-Muller on the words 2j and 2j + 1, in binary64; |z| <= 6.764.
double standard_normal(const WordStream& words, std::uint64_t element);

// Fills the whole tensor, each value rounded once.
void fill(HostTensor& tensor, const Distribution& distribution, const WordStream& words);

}  // namespace kernelindex::runner
