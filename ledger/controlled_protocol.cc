// SPDX-License-Identifier: Apache-2.0
#include "ledger/controlled_protocol.h"

#include <string>

namespace kernelindex {
namespace {

Manifest make(ClockVariant clocks) {
  const std::string variant(clock_variant_name(clocks));
  const std::string locked = clocks == ClockVariant::locked ? "true" : "false";
  const std::string text = R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"BenchmarkProtocol",
    "metadata":{"name":"ki-controlled-v1-)" +
                           variant + R"(","title":"Controlled measurement v1, )" + variant +
                           R"( clocks"},
    "spec":{
      "harness":{"name":"kernelindex-runner","version":"ki-controlled-v1"},
      "measurement":{"timer":"cuda_events","synchronization":"event_synchronize",
        "compileIncluded":false,"setupIncluded":false,"samples":600,
        "inputRegeneration":"every_sample",
        "outlierPolicy":"none: three trials of at least 200 samples, all kept; a sample is left out only for a reason that does not look at its time",
        "primaryStatistic":"median"},
      "correctness":{"reference":"binary64 references with rounding points, on fresh hidden inputs in ten rounds",
        "comparator":"ki_controlled"},
      "devicePolicy":{"clocksLocked":)" +
                           locked + R"(},
      "comparability":{"family":"ki_controlled_)" +
                           variant + R"("}}})";
  return read_manifest(text).value();
}

}  // namespace

const Manifest& controlled_protocol(ClockVariant clocks) {
  static const Manifest unlocked = make(ClockVariant::unlocked);
  static const Manifest locked = make(ClockVariant::locked);
  return clocks == ClockVariant::locked ? locked : unlocked;
}

std::optional<ClockVariant> controlled_variant(const Digest& protocol) {
  for (const ClockVariant clocks : {ClockVariant::unlocked, ClockVariant::locked}) {
    if (controlled_protocol(clocks).identity == protocol) return clocks;
  }
  return std::nullopt;
}

}  // namespace kernelindex
