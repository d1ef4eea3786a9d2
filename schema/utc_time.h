// SPDX-License-Identifier: Apache-2.0
// UTC instants as text and as microseconds since 1970-01-01T00:00:00Z.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex {

// Microseconds since the epoch; may be negative.
using UtcMicros = std::int64_t;

// The `utcInstant` grammar of manifests: a valid calendar date, T, hh:mm, optional :ss, optional
// .digits, upper-case Z. No offsets, no second 60. Digits beyond microseconds are cut.
Result<UtcMicros> parse_utc_instant(std::string_view text);

// "2026-11-30T15:10:40.123456Z": always six digits, the form of `recordedAt`.
std::string format_utc_micros(UtcMicros time);
// "2026-06-29T21:49:23.345Z": always three digits, cut; the form that imports write.
std::string format_utc_millis(UtcMicros time);

// The day of an instant, counted from 1970-01-01.
constexpr std::int64_t utc_day(UtcMicros time) {
  constexpr UtcMicros kDay = UtcMicros{24} * 60 * 60 * 1'000'000;
  return time / kDay - (time % kDay < 0 ? 1 : 0);
}

// Time stamps of leaderboards: without a zone they are read as UTC; offsets are applied; a space
// may stand for T; fractions are cut to milliseconds. Refused: calendar dates that do not exist,
// hour 25, second 60, bare numbers, "-0700". `zone_assumed` is set when the text named no zone.
struct SourceTime {
  std::string text;  // normalised, format_utc_millis
  bool zone_assumed = false;
};
Result<SourceTime> parse_source_time(std::string_view text);

}  // namespace kernelindex
