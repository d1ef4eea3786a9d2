// SPDX-License-Identifier: Apache-2.0
// Measured numbers for people. Machine output never passes through here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelindex::tools {

// "59.8 µs" of 59812 ns, "175.5 µs" of 175457 ns; a score in s is a time too. At least three
// significant digits: two decimals below 10, one from there on; whole nanoseconds stay whole. Any
// other unit is shown as it is, with at most four decimals.
std::string format_quantity(double value, std::string_view unit);

// "1.08×": a value in terms of the leader's. Requires: leader > 0.
std::string format_ratio(double value, double leader);

// "4.2 MiB".
std::string format_bytes(std::uint64_t bytes);

}  // namespace kernelindex::tools
