// SPDX-License-Identifier: Apache-2.0
// The one door to zlib.
#include "tools/http/gzip_decoder.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <new>

namespace kernelindex::tools {
namespace {

std::unexpected<Error> broken(std::string message) {
  return fail(ErrorKind::invalid, "CODING_BROKEN", "", std::move(message));
}

constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib.h, inflateInit2: the gzip header must be there

}  // namespace

struct GzipDecoder::State {
  State() {
    if (inflateInit2(&stream, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  z_stream stream = {};
  bool member_open = false;
};

GzipDecoder::GzipDecoder() : state_(std::make_unique<State>()) {}
GzipDecoder::~GzipDecoder() = default;
GzipDecoder::GzipDecoder(GzipDecoder&&) noexcept = default;
GzipDecoder& GzipDecoder::operator=(GzipDecoder&&) noexcept = default;

Status GzipDecoder::write(std::string_view piece, const Sink& sink) {
  assert(piece.size() <= std::numeric_limits<uInt>::max());
  z_stream& stream = state_->stream;
  // zlib only reads what next_in points to; its type has no const unless ZLIB_CONST is defined.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  std::array<char, 64 * 1024> decoded;
  bool more = stream.avail_in > 0;
  while (more) {
    state_->member_open = true;
    stream.next_out = reinterpret_cast<Bytef*>(decoded.data());
    stream.avail_out = static_cast<uInt>(decoded.size());
    const int answer = inflate(&stream, Z_NO_FLUSH);
    if (answer != Z_OK && answer != Z_STREAM_END && answer != Z_BUF_ERROR) {
      return broken("the body is not valid gzip");
    }
    const std::size_t size = decoded.size() - stream.avail_out;
    if (size > 0) {
      const Status taken = sink(std::string_view(decoded.data(), size));
      if (!taken) return taken;
    }
    if (answer == Z_STREAM_END) {
      state_->member_open = false;
      inflateReset(&stream);
      more = stream.avail_in > 0;
    } else {
      // A full buffer says that there may be more to give; an empty input that there is none.
      more = answer == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0);
    }
  }
  return {};
}

Status GzipDecoder::finish() const {
  if (state_->member_open) return broken("the gzip body ends too early");
  return {};
}

}  // namespace kernelindex::tools
