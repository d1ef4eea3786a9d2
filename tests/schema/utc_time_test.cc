// SPDX-License-Identifier: Apache-2.0
#include "schema/utc_time.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelindex {
namespace {

constexpr std::string_view kError = "error";

std::string source_time(std::string_view text) {
  const Result<SourceTime> time = parse_source_time(text);
  return time ? time->text : std::string(kError);
}

// IMPORT section 1.4.
TEST(UtcTime, SourceTimesComeOutAsTheTableSays) {
  EXPECT_EQ(source_time("2026-08-14T05:38:44.902912"), "2026-08-14T05:38:44.902Z");
  EXPECT_EQ(source_time("2026-08-14T05:38:44.9999999"), "2026-08-14T05:38:44.999Z");
  EXPECT_EQ(source_time("2026-08-14T05:38"), "2026-08-14T05:38:00.000Z");
  EXPECT_EQ(source_time("2026-08-14"), "2026-08-14T00:00:00.000Z");
  EXPECT_EQ(source_time("2026-08-14 05:38:44.902912+00:00"), "2026-08-14T05:38:44.902Z");
  EXPECT_EQ(source_time("2026-08-14T05:38:44+02:30"), "2026-08-14T03:08:44.000Z");
  EXPECT_EQ(source_time("2026-08-14T24:00:00"), "2026-08-15T00:00:00.000Z");
  EXPECT_EQ(source_time("2026-08-14T05:38:44z"), "2026-08-14T05:38:44.000Z");
  EXPECT_EQ(source_time("2026-12-31T23:30:00-01:00"), "2027-01-01T00:30:00.000Z");
  EXPECT_EQ(source_time("1969-12-31T23:59:59.9995Z"), "1969-12-31T23:59:59.999Z");
}

TEST(UtcTime, SourceTimesThatNameNoInstantAreRefused) {
  for (const std::string_view text : {"",
                                      "1755149924",
                                      "2026-02-30T00:00:00",
                                      "2025-02-29",
                                      "2026-08-14T25:00:00",
                                      "2026-08-14T05:38:60",
                                      "2026-08-14T05:38:44-0700",
                                      "2026-08-14T24:00:01",
                                      "2026-08-14T24:00:00.001",
                                      "2026-08-14T05:60",
                                      "2026-13-01",
                                      "2026-00-01",
                                      "2026-08-00",
                                      "2026-8-14",
                                      "2026-08-14T",
                                      "2026-08-14T05",
                                      "2026-08-14T05:38:44.",
                                      "2026-08-14X05:38",
                                      "2026-08-14T05:38:44 Z",
                                      " 2026-08-14",
                                      "2026-08-14T05:38:44+24:00",
                                      "0000-01-01T00:00:00+01:00",
                                      "9999-12-31T23:59:59-01:00",
                                      "20260814"}) {
    EXPECT_EQ(source_time(text), kError) << text;
  }
}

TEST(UtcTime, AMissingZoneIsReported) {
  EXPECT_TRUE(parse_source_time("2026-08-14T05:38:44")->zone_assumed);
  EXPECT_TRUE(parse_source_time("2026-08-14")->zone_assumed);
  EXPECT_FALSE(parse_source_time("2026-08-14T05:38:44Z")->zone_assumed);
  EXPECT_FALSE(parse_source_time("2026-08-14T05:38:44+00:00")->zone_assumed);
}

TEST(UtcTime, InstantsFollowTheGrammarOfManifests) {
  for (const std::string_view text :
       {"2026-08-01T12:00Z", "2026-08-01T12:00:00Z", "2026-08-01T12:00:00.1Z",
        "2026-08-01T12:00:00.123456789Z", "2024-02-29T00:00Z", "2000-02-29T00:00Z",
        "0000-02-29T00:00Z", "9999-12-31T23:59:59Z"}) {
    EXPECT_TRUE(parse_utc_instant(text).has_value()) << text;
  }
  for (const std::string_view text :
       {"2026-08-01T12:00:00z", "2026-08-01T12:00:00+00:00", "2026-08-01T12:00:00",
        "2026-08-01t12:00:00Z", "2026-08-01 12:00:00Z", "2026-08-01T24:00Z", "2026-08-01T23:60Z",
        "2026-08-01T23:59:60Z", "2026-08-01T23:59.5Z", "2026-08-01T23:59:59.Z", "2023-02-29T00:00Z",
        "1900-02-29T00:00Z", "2026-04-31T00:00Z", "2026-08-01Z", "2026-08-01T12:00:00Z ", ""}) {
    EXPECT_FALSE(parse_utc_instant(text).has_value()) << text;
  }
}

TEST(UtcTime, MicrosecondsCountFromTheEpoch) {
  EXPECT_EQ(parse_utc_instant("1970-01-01T00:00Z").value(), 0);
  EXPECT_EQ(parse_utc_instant("1970-01-01T00:00:01.0000019Z").value(), 1'000'001);
  EXPECT_EQ(parse_utc_instant("1969-12-31T23:59:59.999999Z").value(), -1);
  // date -u -d 2026-08-14T05:38:44Z +%s
  EXPECT_EQ(parse_utc_instant("2026-08-14T05:38:44.902Z").value(), 1'786'685'924'902'000);
}

TEST(UtcTime, FormattingAlwaysHasTheSameDigits) {
  EXPECT_EQ(format_utc_micros(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_utc_micros(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_utc_millis(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_utc_micros(1'786'685'924'902'003), "2026-08-14T05:38:44.902003Z");
  EXPECT_EQ(format_utc_millis(1'786'685'924'902'999), "2026-08-14T05:38:44.902Z");
}

TEST(UtcTime, InstantsOfFourCenturiesReadBack) {
  constexpr UtcMicros kStep = 7 * 3600 * 1'000'000LL + 13 * 60 * 1'000'000LL + 999'983;
  const UtcMicros end = parse_utc_instant("2300-01-01T00:00Z").value();
  for (UtcMicros time = parse_utc_instant("1900-01-01T00:00Z").value(); time < end; time += kStep) {
    ASSERT_EQ(parse_utc_instant(format_utc_micros(time)).value(), time);
  }
}

}  // namespace
}  // namespace kernelindex
