// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelindex::tools {
namespace {

TEST(EscapeText, PlainTextStays) {
  EXPECT_EQ(escape_text("Amir M. Mir | SF Tensor"), "Amir M. Mir | SF Tensor");
  EXPECT_EQ(escape_text("南北绿豆糕 🍪 ağaç"), "南北绿豆糕 🍪 ağaç");
  EXPECT_EQ(escape_text(""), "");
}

TEST(EscapeText, NothingReachesTheTerminalThatSteersIt) {
  EXPECT_EQ(escape_text("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(escape_text("line\r\nbreak\ttab"), "line\\x0d\\x0abreak\\x09tab");
  EXPECT_EQ(escape_text("\x7f"), "\\x7f");
  EXPECT_EQ(escape_text("\xc2\x9b"
                        "31m"),
            "\\u009b31m");  // the one-character form of ESC [
  EXPECT_EQ(escape_text("\xe2\x80\xae"
                        "gpj.exe"),
            "\\u202egpj.exe");  // right-to-left override
  EXPECT_EQ(escape_text("\xe2\x80\xa8"), "\\u2028");
  EXPECT_EQ(escape_text(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(EscapeText, BytesThatAreNoUtf8AreSpelledOut) {
  EXPECT_EQ(escape_text("a\xff"), "a\\xff");
  EXPECT_EQ(escape_text("\xc3"), "\\xc3");                             // cut short
  EXPECT_EQ(escape_text("\xc0\xaf"), "\\xc0\\xaf");                    // not the shortest form
  EXPECT_EQ(escape_text("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(escape_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
}

TEST(EscapeText, EscapedTextIsStable) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string once = escape_text(std::string(3, static_cast<char>(byte)));
    EXPECT_EQ(escape_text(once), once);
  }
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("59.8 µs"), 7u);
  EXPECT_EQ(display_width("南北"), 4u);
  EXPECT_EQ(display_width("🍪"), 2u);
  EXPECT_EQ(display_width("e\u0301"), 1u);  // a combining accent adds none
  EXPECT_EQ(display_width("한글"), 4u);
  EXPECT_EQ(display_width("…·™"), 3u);
}

TEST(FitWidth, CutsBetweenCharactersAndSaysSo) {
  EXPECT_EQ(fit_width("abcdef", 6), "abcdef");
  EXPECT_EQ(fit_width("abcdef", 5), "abcd…");
  EXPECT_EQ(fit_width("南北绿", 4), "南…");  // the second would end in column 4, where "…" stands
  EXPECT_EQ(fit_width("abc", 1), "…");
  EXPECT_EQ(fit_width("", 1), "");
}

TEST(Padding, FillsToColumns) {
  EXPECT_EQ(pad_right("南", 4), "南  ");
  EXPECT_EQ(pad_left("µs", 4), "  µs");
  EXPECT_EQ(pad_left("long", 2), "long");
}

TEST(Bar, IsProportionalToAnEighth) {
  EXPECT_EQ(bar(1.0, 3), "███");
  EXPECT_EQ(bar(0.5, 3), "█▌");
  EXPECT_EQ(bar(0.0, 3), "▏");  // never nothing
}

TEST(Counted, AgreesWithItsNumber) {
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(40795, "entry", "entries"), "40,795 entries");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(999), "999");
}

}  // namespace
}  // namespace kernelindex::tools
