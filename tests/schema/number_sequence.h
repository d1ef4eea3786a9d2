// SPDX-License-Identifier: Apache-2.0
// The published sequence of doubles of the RFC 8785 test data: a list of hard cases, then the
// subnormal border, then doubles out of a chain of SHA-256 blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schema/digest.h"

namespace kernelindex::test {

class NumberSequence {
 public:
  // `fixed` are the bits of the hard cases, in order.
  explicit NumberSequence(std::vector<std::uint64_t> fixed);

  // The bits of the next double; never NaN or infinity.
  std::uint64_t next();
  // The next line of the published file: "bits,text\n".
  void append_line(std::string& out);

 private:
  std::vector<std::uint64_t> fixed_;
  std::size_t index_ = 0;
  std::string block_;
  std::size_t used_ = 0;  // of the four doubles of the block
};

}  // namespace kernelindex::test
