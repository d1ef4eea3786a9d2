// SPDX-License-Identifier: Apache-2.0
// Exports compressed as they are written. The counterpart of zstd_source.h.
#pragma once

#include <memory>
#include <string_view>

#include "ledger/file_steps.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// One zstd frame (RFC 8878) with the checksum of its content. Holds one block at a time. What was
// written is a whole frame only after finish().
class ZstdSink {
 public:
  // `out` is handed pieces of the frame; its errors are ours.
  explicit ZstdSink(ByteSink out);
  ~ZstdSink();

  Status write(std::string_view bytes);
  // Ends the frame. Requires: called once, and nothing written afterwards.
  Status finish();

 private:
  struct Encoder;

  ByteSink out_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace kernelindex::ingest
