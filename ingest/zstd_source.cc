// SPDX-License-Identifier: Apache-2.0
#include "ingest/zstd_source.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <vector>

#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

constexpr int kWindowLogMax = 27;  // 128 MiB, the default limit of the zstd program
constexpr std::uint64_t kDecompressedBytes = 64 * limits::kGiB;
constexpr std::size_t kInputBytes = 128 * limits::kKiB;
constexpr std::string_view kFrameMagic = "\x28\xB5\x2F\xFD";

std::unexpected<Error> broken(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
    return fail(ErrorKind::invalid, "ZSTD_WINDOW", {},
                "the file needs a decompression window above 128 MiB");
  }
  return fail(ErrorKind::invalid, "ZSTD_CORRUPT", {},
              std::string("the file is not valid zstd: ") + ZSTD_getErrorName(code));
}

}  // namespace

struct ZstdSource::Decoder {
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream{ZSTD_createDStream()};
  std::vector<char> input = std::vector<char>(kInputBytes);
  std::size_t begin = 0;  // of the bytes in `input` not yet used
  std::size_t end = 0;
  enum class Kind : std::uint8_t { undecided, plain, zstd } kind = Kind::undecided;
  bool inside_frame = false;
  std::uint64_t produced = 0;
};

ZstdSource::ZstdSource(ByteSource& source)
    : source_(source), decoder_(std::make_unique<Decoder>()) {
  assert(decoder_->stream != nullptr);
  ZSTD_DCtx_setParameter(decoder_->stream.get(), ZSTD_d_windowLogMax, kWindowLogMax);
}

ZstdSource::~ZstdSource() = default;

Status ZstdSource::rewind() {
  if (Status status = source_.rewind(); !status) return status;
  ZSTD_DCtx_reset(decoder_->stream.get(), ZSTD_reset_session_only);
  decoder_->begin = 0;
  decoder_->end = 0;
  decoder_->kind = Decoder::Kind::undecided;
  decoder_->inside_frame = false;
  decoder_->produced = 0;
  return {};
}

// False at the end of the source.
Result<bool> ZstdSource::refill() {
  if (decoder_->begin == decoder_->end) {
    decoder_->begin = 0;
    decoder_->end = 0;
  }
  Result<std::size_t> count = source_.read(std::span(decoder_->input).subspan(decoder_->end));
  if (!count) return fail(std::move(count.error()));
  decoder_->end += *count;
  return *count > 0;
}

Result<std::size_t> ZstdSource::read(std::span<char> buffer) {
  if (buffer.empty()) return 0;
  if (decoder_->kind == Decoder::Kind::undecided) {
    while (decoder_->end < kFrameMagic.size()) {
      Result<bool> more = refill();
      if (!more) return fail(std::move(more.error()));
      if (!*more) break;
    }
    const std::string_view front(decoder_->input.data(), decoder_->end);
    decoder_->kind = front.starts_with(kFrameMagic) ? Decoder::Kind::zstd : Decoder::Kind::plain;
  }
  return decoder_->kind == Decoder::Kind::zstd ? read_frames(buffer) : read_plain(buffer);
}

Result<std::size_t> ZstdSource::read_plain(std::span<char> buffer) {
  if (decoder_->begin == decoder_->end) return source_.read(buffer);
  const std::size_t count = std::min(buffer.size(), decoder_->end - decoder_->begin);
  std::copy_n(decoder_->input.data() + decoder_->begin, count, buffer.data());
  decoder_->begin += count;
  return count;
}

Result<std::size_t> ZstdSource::read_frames(std::span<char> buffer) {
  ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
  while (true) {
    // Inside a frame output may be waiting that needs no more input.
    if (decoder_->begin < decoder_->end || decoder_->inside_frame) {
      ZSTD_inBuffer in{decoder_->input.data(), decoder_->end, decoder_->begin};
      const std::size_t hint = ZSTD_decompressStream(decoder_->stream.get(), &out, &in);
      decoder_->begin = in.pos;
      if (ZSTD_isError(hint) != 0) return broken(hint);
      decoder_->inside_frame = hint != 0;
      if (out.pos > 0) break;
      if (decoder_->begin < decoder_->end) continue;
    }
    Result<bool> more = refill();
    if (!more) return fail(std::move(more.error()));
    if (*more) continue;
    if (!decoder_->inside_frame) return 0;
    return fail(ErrorKind::invalid, "ZSTD_TRUNCATED", {}, "the file ends inside a compressed frame",
                "Fetch it again");
  }
  decoder_->produced += out.pos;
  if (decoder_->produced > kDecompressedBytes) {
    return fail(ErrorKind::invalid, "TOO_LARGE", {}, "the file decompresses to more than 64 GiB");
  }
  return out.pos;
}

}  // namespace kernelindex::ingest
