// SPDX-License-Identifier: Apache-2.0
// What a test says of the faults of a report.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/audit_report.h"

namespace kernelindex::test {

struct ExpectedFault {
  std::string code;
  std::optional<std::uint64_t> index;  // absent: of no entry

  auto operator<=>(const ExpectedFault&) const = default;
};

inline std::string fault_text(const Fault& fault) {
  std::string out = fault.code;
  if (fault.index) out += " at " + std::to_string(*fault.index);
  return out + ": " + fault.what + " (expected " + fault.expected + ", found " + fault.found + ")";
}

// For messages, and to say that there is none.
inline std::vector<std::string> fault_texts(const AuditReport& report) {
  std::vector<std::string> out;
  for (const Fault& fault : report.faults) out.push_back(fault_text(fault));
  return out;
}

inline std::vector<ExpectedFault> codes(const AuditReport& report) {
  std::vector<ExpectedFault> out;
  for (const Fault& fault : report.faults) out.push_back({fault.code, fault.index});
  std::ranges::sort(out);
  return out;
}

// Exactly these, in any order.
MATCHER_P(FaultsAre, expected, "") {
  std::vector<ExpectedFault> sorted = expected;
  std::ranges::sort(sorted);
  if (codes(arg) == sorted) return true;
  *result_listener << ::testing::PrintToString(fault_texts(arg));
  return false;
}
inline auto Faults(std::vector<ExpectedFault> expected) { return FaultsAre(std::move(expected)); }
inline auto OnlyFault(std::string code, std::optional<std::uint64_t> index = std::nullopt) {
  return FaultsAre(std::vector<ExpectedFault>{{std::move(code), index}});
}

// These and perhaps others that follow from them.
MATCHER_P(HasAllFaults, expected, "") {
  const std::vector<ExpectedFault> found = codes(arg);
  for (const ExpectedFault& fault : expected) {
    if (std::ranges::find(found, fault) != found.end()) continue;
    *result_listener << ::testing::PrintToString(fault_texts(arg));
    return false;
  }
  return true;
}
inline auto HasFaults(std::vector<ExpectedFault> expected) {
  return HasAllFaults(std::move(expected));
}

}  // namespace kernelindex::test
