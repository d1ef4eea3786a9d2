// SPDX-License-Identifier: Apache-2.0
// Long files: lines, compression both ways, the index by row id.
#include <gtest/gtest.h>
#include <zstd.h>

#include "ingest/line_source.h"
#include "ingest/uuid.h"
#include "ingest/zstd_sink.h"
#include "ingest/zstd_source.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

using ingest::Line;
using ingest::LineSource;
using ingest::Uuid;
using ingest::UuidIndex;
using ingest::ZstdSink;
using ingest::ZstdSource;

// Gives a few bytes at a time, as a pipe may.
class SlowSource final : public ByteSource {
 public:
  SlowSource(std::string_view bytes, std::size_t step) : source_(bytes), step_(step) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    return source_.read(buffer.subspan(0, std::min(step_, buffer.size())));
  }
  Status rewind() override { return source_.rewind(); }

 private:
  MemorySource source_;
  std::size_t step_;
};

std::vector<std::string> lines_of(ByteSource& source) {
  LineSource lines(source);
  std::vector<std::string> out;
  Line line;
  while (lines.next(line).value()) {
    out.push_back(std::to_string(line.number) + ":" + std::string(line.text) +
                  (line.too_long ? "!" : ""));
  }
  return out;
}

std::string compressed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string all_of(ByteSource& source) {
  std::string out;
  std::string buffer(1000, '\0');
  while (true) {
    const std::size_t count = source.read(buffer).value();
    if (count == 0) return out;
    out.append(buffer, 0, count);
  }
}

TEST(LineSource, CountsBlankLinesAndSkipsThem) {
  const std::vector<std::string> expected = {"1:a", "3:b", "5:c"};
  for (const std::size_t step : {1u, 2u, 100u}) {
    SlowSource source("a\n\nb\n \t\r\nc", step);
    EXPECT_EQ(lines_of(source), expected);
  }
  SlowSource empty("", 1);
  EXPECT_TRUE(lines_of(empty).empty());
  SlowSource blank("\n\n", 1);
  EXPECT_TRUE(lines_of(blank).empty());
}

TEST(LineSource, ALineBeyondTheLimitIsSaidAndPassedOver) {
  const std::string text = "a\n" + std::string(limits::kSourceLineBytes + 1000, 'x') + "\nb\n" +
                           std::string(3 * limits::kSourceLineBytes, 'y');
  MemorySource source(text);
  LineSource lines(source);
  Line line;
  ASSERT_TRUE(lines.next(line).value());
  EXPECT_EQ(line.text, "a");
  ASSERT_TRUE(lines.next(line).value());
  EXPECT_EQ(line.number, 2u);
  EXPECT_TRUE(line.too_long || line.text.size() > limits::kSourceLineBytes);
  ASSERT_TRUE(lines.next(line).value());
  EXPECT_EQ(line.number, 3u);
  EXPECT_EQ(line.text, "b");
  ASSERT_TRUE(lines.next(line).value());
  EXPECT_TRUE(line.too_long);
  EXPECT_FALSE(lines.next(line).value());
}

TEST(ZstdSource, ReadsFramesAndPlainBytesAndStartsOver) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  const std::string frames = compressed(text) + compressed("the second frame");
  for (const std::size_t step : {1u, 7u, 100'000u}) {
    SlowSource bytes(frames, step);
    ZstdSource source(bytes);
    EXPECT_EQ(all_of(source), text + "the second frame");
    ASSERT_TRUE(source.rewind());
    EXPECT_EQ(all_of(source), text + "the second frame");
  }
  SlowSource plain(text, 5);
  ZstdSource source(plain);
  EXPECT_EQ(all_of(source), text);
  for (const std::string few : {"", "a", "\x28\xB5"}) {
    MemorySource bytes(few);
    ZstdSource short_source(bytes);
    EXPECT_EQ(all_of(short_source), few);
  }
}

TEST(ZstdSource, RefusesWhatIsCutOrDamaged) {
  std::string text;
  for (std::uint64_t i = 0; i < 100'000; ++i) text += std::to_string(i * i);
  const std::string frame = compressed(text);
  std::string buffer(1 << 20, '\0');
  const auto code_of = [&](const std::string& bytes) {
    MemorySource memory(bytes);
    ZstdSource source(memory);
    while (true) {
      const Result<std::size_t> count = source.read(buffer);
      if (!count) return count.error().code;
      if (*count == 0) return std::string("none");
    }
  };
  EXPECT_EQ(code_of(frame), "none");
  EXPECT_EQ(code_of(frame.substr(0, frame.size() - 1)), "ZSTD_TRUNCATED");
  EXPECT_EQ(code_of(frame.substr(0, 10)), "ZSTD_TRUNCATED");
  EXPECT_EQ(code_of(frame + "no frame"), "ZSTD_CORRUPT");
  std::string damaged = frame;
  damaged[5] = static_cast<char>(damaged[5] ^ 0x55);
  EXPECT_NE(code_of(damaged), "none");
}

TEST(ZstdSource, RefusesAWindowThatWouldTakeTooMuchMemory) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 30);
  ZSTD_CCtx_setParameter(context, ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string frame(1000, '\0');
  ZSTD_inBuffer in{"text", 4, 0};
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  while (ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue) != 0 && in.pos < in.size) {
  }
  ASSERT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  frame.resize(out.pos);
  MemorySource memory(frame);
  ZstdSource source(memory);
  std::string buffer(100, '\0');
  const Result<std::size_t> count = source.read(buffer);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, "ZSTD_WINDOW");
}

// A frame of any size is read back, whatever pieces it was written in.
TEST(ZstdSink, WritesOneFrameOfAllThatItWasGiven) {
  for (const std::size_t size : {0u, 1u, 100'000u, 3'000'000u}) {
    std::string text;
    for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i * i) + "\n";
    std::string packed;
    ZstdSink sink([&](std::string_view piece) -> Status {
      packed += piece;
      return {};
    });
    for (std::size_t at = 0; at < text.size(); at += 70'001) {
      ASSERT_TRUE(sink.write(std::string_view(text).substr(at, 70'001)));
    }
    ASSERT_TRUE(sink.finish());
    EXPECT_EQ(ZSTD_findFrameCompressedSize(packed.data(), packed.size()), packed.size());
    MemorySource memory(packed);
    ZstdSource source(memory);
    EXPECT_EQ(all_of(source), text);
  }
}

TEST(ZstdSink, PassesOnThatNoMoreIsTaken) {
  ZstdSink sink([](std::string_view) -> Status {
    return fail(ErrorKind::system, "CANNOT_WRITE", {}, "the disk is full");
  });
  Status status = sink.write("text");
  if (status) status = sink.finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "CANNOT_WRITE");
}

TEST(Uuid, HasOneSpelling) {
  const std::string text = "01a0032e-f7d2-749e-bb30-df1bba93405f";
  EXPECT_EQ(Uuid::parse(text)->text(), text);
  for (const std::string bad :
       {"", "01a0032ef7d2749ebb30df1bba93405f", "01A0032E-f7d2-749e-bb30-df1bba93405f",
        "01a0032e-f7d2-749e-bb30-df1bba93405", "01a0032e-f7d2-749e-bb30-df1bba93405g",
        "01a0032ef-7d2-749e-bb30-df1bba93405f"}) {
    EXPECT_FALSE(Uuid::parse(bad)) << bad;
  }
}

TEST(Uuid, IsMadeOfADigestWithVersionAndVariantSet) {
  const Digest ones = Digest::from_raw(std::string(32, '\xff'));
  EXPECT_EQ(ingest::uuid_of(ones).text(), "ffffffff-ffff-8fff-bfff-ffffffffffff");
  EXPECT_EQ(ingest::uuid_of(Digest()).text(), "00000000-0000-8000-8000-000000000000");
  EXPECT_EQ(ingest::uuid_of(ones).version(), 8u);
}

TEST(UuidIndex, FindsWhatWasInsertedAndNothingElse) {
  UuidIndex index;
  EXPECT_FALSE(index.find(Uuid()));
  const auto id_of = [](std::uint32_t i) {
    Uuid id;
    id.bytes[0] = 1;  // they begin alike, as row ids do
    for (std::size_t byte = 0; byte < 4; ++byte) {
      id.bytes[15 - byte] = static_cast<std::uint8_t>(i >> (8 * byte));
    }
    return id;
  };
  for (std::uint32_t i = 0; i < 20'000; ++i) ASSERT_TRUE(index.insert(id_of(i), i));
  EXPECT_FALSE(index.insert(id_of(5), 7));
  for (std::uint32_t i = 0; i < 20'000; ++i) ASSERT_EQ(index.find(id_of(i)), i);
  EXPECT_FALSE(index.find(id_of(20'000)));
}

}  // namespace
}  // namespace kernelindex
