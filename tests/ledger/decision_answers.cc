// SPDX-License-Identifier: Apache-2.0
// Answers the decision rule for lines of numbers on standard input, so that the same source can be
// asked as compiled without optimisation and with all of it.
#include <cstdint>
#include <iostream>

#include "ledger/decision_rule.h"

namespace {

// As the oracles number them.
int number_of(kernelindex::Acceptance::Verdict verdict) {
  using Verdict = kernelindex::Acceptance::Verdict;
  switch (verdict) {
    case Verdict::confirms:
      return 0;
    case Verdict::differs_slower:
      return 1;
    case Verdict::differs_faster:
      return 2;
    case Verdict::inconclusive:
      return 3;
    case Verdict::not_reproduced:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

int main() {
  kernelindex::DecisionInput input;
  int timer = 0;
  int environment = 0;
  while (std::cin >> input.reported_ns >> input.median_ns >> input.low_ns >> input.high_ns >>
         input.noise_ppm >> input.launches >> timer >> environment) {
    input.timer = static_cast<kernelindex::TimerRelation>(timer);
    input.environment = static_cast<kernelindex::EnvironmentRelation>(environment);
    std::cout << number_of(kernelindex::decide(input).verdict) << "\n";
  }
}
