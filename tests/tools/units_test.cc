// SPDX-License-Identifier: Apache-2.0
#include "tools/units.h"

#include <gtest/gtest.h>

namespace kernelindex::tools {
namespace {

TEST(FormatQuantity, LatenciesReadLikeThePagesOfTheirSource) {
  EXPECT_EQ(format_quantity(59812, "ns"), "59.8 µs");
  EXPECT_EQ(format_quantity(175457, "ns"), "175.5 µs");
  EXPECT_EQ(format_quantity(64507, "ns"), "64.5 µs");
}

TEST(FormatQuantity, UnitsChangeWhereTheRoundedNumberDoes) {
  EXPECT_EQ(format_quantity(1, "ns"), "1 ns");
  EXPECT_EQ(format_quantity(999, "ns"), "999 ns");
  EXPECT_EQ(format_quantity(812.4, "ns"), "812.4 ns");
  EXPECT_EQ(format_quantity(1000, "ns"), "1.00 µs");
  EXPECT_EQ(format_quantity(9994, "ns"), "9.99 µs");
  EXPECT_EQ(format_quantity(9996, "ns"), "10.0 µs");
  EXPECT_EQ(format_quantity(999949, "ns"), "999.9 µs");
  EXPECT_EQ(format_quantity(999960, "ns"), "1.00 ms");
  EXPECT_EQ(format_quantity(2.5e9, "ns"), "2.50 s");
  EXPECT_EQ(format_quantity(0, "ns"), "0 ns");
}

TEST(FormatQuantity, ScoresInSecondsAreTimes) {
  EXPECT_EQ(format_quantity(0.000010048658277929109, "s"), "10.0 µs");
  EXPECT_EQ(format_quantity(1.25, "s"), "1.25 s");
}

TEST(FormatQuantity, OtherUnitsStayAsTheyAre) {
  EXPECT_EQ(format_quantity(98443.5, "tokens_per_second"), "98443.5 tokens_per_second");
  EXPECT_EQ(format_quantity(0.70081, "ratio"), "0.7008 ratio");
  EXPECT_EQ(format_quantity(0.00001234, "ratio"), "1.234e-05 ratio");
  EXPECT_EQ(format_quantity(3, ""), "3");
}

TEST(FormatRatio, IsRelativeToTheLeader) {
  EXPECT_EQ(format_ratio(59812, 59812), "1.00×");
  EXPECT_EQ(format_ratio(64507, 59812), "1.08×");
  EXPECT_EQ(format_ratio(12345, 100), "123.5×");
  EXPECT_EQ(format_ratio(1e6, 10), "100000×");
}

TEST(FormatBytes, UsesBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(4404019), "4.2 MiB");
  EXPECT_EQ(format_bytes(1048570), "1.0 MiB");
}

}  // namespace
}  // namespace kernelindex::tools
