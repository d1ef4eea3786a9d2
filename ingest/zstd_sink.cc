// SPDX-License-Identifier: Apache-2.0
#include "ingest/zstd_sink.h"

#include <zstd.h>

#include <cassert>
#include <utility>
#include <vector>

namespace kernelindex::ingest {
namespace {

// A twelfth of a catalog's bytes, faster than its rows are made; more would win a sixth for thirty
// times the work.
constexpr int kLevel = 9;

}  // namespace

struct ZstdSink::Encoder {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
  std::vector<char> output = std::vector<char>(ZSTD_CStreamOutSize());

  // Compresses all of the input and hands on what comes out.
  Status run(std::string_view bytes, ZSTD_EndDirective mode, const ByteSink& out) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer piece{output.data(), output.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context.get(), &piece, &in, mode);
      if (ZSTD_isError(left) != 0) {
        return fail(ErrorKind::system, "CANNOT_COMPRESS", {},
                    std::string("zstd: ") + ZSTD_getErrorName(left));
      }
      if (piece.pos > 0) {
        Status taken = out(std::string_view(output.data(), piece.pos));
        if (!taken) return taken;
      }
      const bool done = mode == ZSTD_e_end ? left == 0 : in.pos == in.size;
      if (done) return {};
    }
  }
};

ZstdSink::ZstdSink(ByteSink out) : out_(std::move(out)), encoder_(std::make_unique<Encoder>()) {
  assert(encoder_->context != nullptr);
  ZSTD_CCtx_setParameter(encoder_->context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(encoder_->context.get(), ZSTD_c_checksumFlag, 1);
}

ZstdSink::~ZstdSink() = default;

Status ZstdSink::write(std::string_view bytes) {
  return encoder_->run(bytes, ZSTD_e_continue, out_);
}

Status ZstdSink::finish() { return encoder_->run({}, ZSTD_e_end, out_); }

}  // namespace kernelindex::ingest
