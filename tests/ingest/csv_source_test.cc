// SPDX-License-Identifier: Apache-2.0
#include "ingest/csv_source.h"

#include <gtest/gtest.h>

namespace kernelindex {
namespace {

using ingest::CsvRecord;
using ingest::CsvSource;
using Fields = std::vector<std::string>;

std::vector<CsvRecord> records_of(std::string_view text) {
  MemorySource bytes(text);
  CsvSource source(bytes);
  std::vector<CsvRecord> out;
  CsvRecord record;
  while (source.next(record).value()) out.push_back(record);
  return out;
}

Fields fields_of(std::string_view line) {
  const std::vector<CsvRecord> records = records_of(line);
  EXPECT_EQ(records.size(), 1u);
  EXPECT_EQ(records.at(0).fault, "");
  return records.at(0).fields;
}

// The grammar and examples of RFC 4180, section 2.
TEST(CsvSource, FieldsAreAsTheRfcSays) {
  EXPECT_EQ(fields_of("aaa,bbb,ccc\r\n"), (Fields{"aaa", "bbb", "ccc"}));
  EXPECT_EQ(fields_of("aaa,bbb,ccc"), (Fields{"aaa", "bbb", "ccc"}));
  EXPECT_EQ(fields_of("\"aaa\",\"b\r\nbb\",\"ccc\"\r\n"), (Fields{"aaa", "b\nbb", "ccc"}));
  EXPECT_EQ(fields_of("\"aaa\",\"b\"\"bb\",\"ccc\""), (Fields{"aaa", "b\"bb", "ccc"}));
  EXPECT_EQ(fields_of("\"a,b\",,\"\""), (Fields{"a,b", "", ""}));
  EXPECT_EQ(fields_of("a,"), (Fields{"a", ""}));
  EXPECT_EQ(fields_of(","), (Fields{"", ""}));
}

TEST(CsvSource, LinesAreCountedAndBlankOnesPassedOver) {
  const std::vector<CsvRecord> records = records_of("a\n\n\r\nb\r\"c\nd\"\ne");
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0].line, 1u);
  EXPECT_EQ(records[1].line, 4u);
  EXPECT_EQ(records[2].line, 5u);
  EXPECT_EQ(records[3].line, 7u);
}

TEST(CsvSource, AQuoteInTheWrongPlaceSpoilsItsRecord) {
  const std::vector<CsvRecord> records = records_of("\"a\"b,c\nd\n\"open");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].fault, "BAD_QUOTE");
  EXPECT_EQ(records[1].fields, Fields{"d"});
  EXPECT_EQ(records[2].fault, "BAD_QUOTE");
}

TEST(CsvSource, RecordsBeyondTheLimitsAreFaultsAndTheNextOnesCome) {
  const std::vector<CsvRecord> long_record =
      records_of(std::string((1u << 20) + 1, 'x') + "\n" + std::string(1u << 20, 'y') + "\nz");
  ASSERT_EQ(long_record.size(), 3u);
  EXPECT_EQ(long_record[0].fault, "LINE_TOO_LONG");
  EXPECT_EQ(long_record[1].fault, "");
  EXPECT_EQ(long_record[2].fields, Fields{"z"});
  const std::vector<CsvRecord> many =
      records_of(std::string(1000, ',') + "\n" + std::string(999, ',') + "\n");
  ASSERT_EQ(many.size(), 2u);
  EXPECT_EQ(many[0].fault, "TOO_MANY_FIELDS");
  EXPECT_EQ(many[1].fields.size(), 1000u);
}

TEST(CsvSource, NothingIsNoRecord) {
  EXPECT_TRUE(records_of("").empty());
  EXPECT_TRUE(records_of("\r\n\n\r").empty());
}

}  // namespace
}  // namespace kernelindex
