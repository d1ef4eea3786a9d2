// SPDX-License-Identifier: Apache-2.0
#include "tools/table.h"

#include <gtest/gtest.h>

namespace kernelindex::tools {
namespace {

Table runs() {
  Table table({{"#", Align::right},
               {"VALUE", Align::right},
               {"IMPLEMENTATION", Align::left, 6},
               {"OBSERVED"}});
  table.add({{"1", Tone::plain},
             {"59.8 µs", Tone::strong},
             {"南北绿豆糕", Tone::plain},
             {"2026-06-29", Tone::plain}});
  table.add({{"12", Tone::plain},
             {"164.5 µs", Tone::plain},
             {"a\x1b[31mc4k", Tone::plain},
             {"", Tone::plain}});
  return table;
}

TEST(Table, AlignsByColumnsOfTheTerminal) {
  EXPECT_EQ(runs().text(Terminal{}),
            " #     VALUE  IMPLEMENTATION  OBSERVED\n"
            " 1   59.8 µs  南北绿豆糕      2026-06-29\n"
            "12  164.5 µs  a\\x1b[31mc4k\n");
}

TEST(Table, CutsOnlyWhatMayBeCut) {
  EXPECT_EQ(runs().text(Terminal{.attached = true, .colour = false, .columns = 35}),
            " #     VALUE  IMPLEMEN…  OBSERVED\n"
            " 1   59.8 µs  南北绿豆…  2026-06-29\n"
            "12  164.5 µs  a\\x1b[31…\n");
}

TEST(Table, ColourSurroundsTheTextAndNotTheFill) {
  const std::string text = runs().text(Terminal{.attached = true, .colour = true, .columns = 200});
  EXPECT_NE(text.find(" \x1b[1m59.8 µs\x1b[0m  "), std::string::npos);
}

TEST(FactList, ValuesStandInOneColumn) {
  FactList facts;
  facts.add("source", "sol-execbench");
  facts.add("comparison key", "sha256:caec");
  EXPECT_EQ(facts.text(Terminal{}),
            "source          sol-execbench\n"
            "comparison key  sha256:caec\n");
}

}  // namespace
}  // namespace kernelindex::tools
