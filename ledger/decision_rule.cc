// SPDX-License-Identifier: Apache-2.0
#include "ledger/decision_rule.h"

#include <algorithm>
#include <cassert>

namespace kernelindex {
namespace {

__extension__ using Wide = __int128;
using Verdict = Acceptance::Verdict;

constexpr Wide kMillion = 1'000'000;
constexpr std::uint64_t kCapPpm = 150'000;
constexpr std::uint64_t kEquivalentPpm = 50'000;
// Beyond it every value lies in the band on the lower side; keeps products within 128 bits.
constexpr std::uint64_t kMostPpm = 1'000'000'000;

struct Margins {
  std::uint64_t least_ppm;
  std::uint64_t noise_factor;
  std::int64_t absolute_ns;
  bool each_launch;
};

Margins margins_of(TimerRelation relation) {
  switch (relation) {
    case TimerRelation::same_protocol:
      return {30'000, 2, 500, false};
    case TimerRelation::same_family:
      return {50'000, 3, 1'000, false};
    case TimerRelation::cross_family:
    case TimerRelation::unknown:
      break;
  }
  return {100'000, 3, 3'000, true};
}

Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
Wide ceil_div(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

// The integers of [R(1-d)-t, R(1+d)+t], not below 0.
Band band_of(std::int64_t reported, std::uint64_t ppm, std::int64_t absolute) {
  const Wide r = reported;
  const Wide below = r * (kMillion - static_cast<Wide>(ppm)) - Wide{absolute} * kMillion;
  const Wide above = r * (kMillion + static_cast<Wide>(ppm)) + Wide{absolute} * kMillion;
  constexpr Wide kMost = INT64_MAX;
  return {static_cast<std::int64_t>(std::max<Wide>(0, ceil_div(below, kMillion))),
          static_cast<std::int64_t>(std::min(kMost, floor_div(above, kMillion)))};
}

bool holds(const Band& band, const DecisionInput& input) {
  return band.low_ns <= input.low_ns && input.high_ns <= band.high_ns;
}

bool disjoint(const Band& band, const DecisionInput& input) {
  return input.high_ns < band.low_ns || band.high_ns < input.low_ns;
}

// m > 2R(1+d)+t
bool far_slower(const DecisionInput& input, const Decision& decision) {
  const Wide r = input.reported_ns;
  const Wide bound = 2 * r * (kMillion + static_cast<Wide>(decision.margin_ppm)) +
                     Wide{decision.absolute_ns} * kMillion;
  return Wide{input.median_ns} * kMillion > bound;
}

void judge(const DecisionInput& input, Decision& decision) {
  if (holds(decision.confirming, input)) {
    decision.verdict = Verdict::confirms;
  } else if (holds(decision.band, input)) {
    decision.verdict = Verdict::inconclusive;
    decision.codes = {"BELOW_RESOLUTION"};
  } else if (far_slower(input, decision)) {
    decision.verdict = Verdict::not_reproduced;
    decision.codes = {"MORE_THAN_TWICE"};
  } else if (disjoint(decision.band, input)) {
    decision.verdict =
        input.low_ns > decision.band.high_ns ? Verdict::differs_slower : Verdict::differs_faster;
  } else {
    decision.verdict = Verdict::inconclusive;
    decision.codes = {"INTERVAL_OVERLAPS"};
  }
}

}  // namespace

Decision decide(const DecisionInput& input) {
  assert(input.reported_ns >= 1 && input.launches >= 1);
  assert(input.low_ns <= input.median_ns && input.median_ns <= input.high_ns);
  Decision decision;
  const Margins margins = margins_of(input.timer);
  const std::uint64_t noise = std::min(input.noise_ppm, kMostPpm);
  decision.margin_ppm = std::max(margins.least_ppm, margins.noise_factor * noise) +
                        (input.environment == EnvironmentRelation::equivalent ? kEquivalentPpm : 0);
  decision.absolute_ns =
      margins.absolute_ns *
      (margins.each_launch ? std::min<std::int64_t>(input.launches, 1'000'000) : 1);
  decision.band = band_of(input.reported_ns, decision.margin_ppm, decision.absolute_ns);
  const Band cap = band_of(input.reported_ns, kCapPpm, 0);
  decision.confirming = {std::max(decision.band.low_ns, cap.low_ns),
                         std::min(decision.band.high_ns, cap.high_ns)};
  if (input.environment == EnvironmentRelation::different) {
    decision.verdict = Verdict::not_comparable;
    decision.codes = {"OTHER_HARDWARE"};
  } else if (input.timer == TimerRelation::unknown) {
    decision.verdict = Verdict::not_comparable;
    decision.codes = {"TIMER_UNKNOWN"};
  } else {
    judge(input, decision);
  }
  return decision;
}

std::string band_text(const Band& band) {
  return "[" + std::to_string(band.low_ns) + ", " + std::to_string(band.high_ns) + "] ns";
}

}  // namespace kernelindex
