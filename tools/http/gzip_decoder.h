// SPDX-License-Identifier: Apache-2.0
// Takes the gzip coding off a body, piece by piece.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::tools {

// RFC 1952: one member or several, nothing after them. Not for sharing between threads.
class GzipDecoder {
 public:
  // Hands on what is decoded, at most 64 KiB at a time; an error of the sink ends the decoding.
  using Sink = std::function<Status(std::string_view)>;

  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(GzipDecoder&&) noexcept;
  GzipDecoder& operator=(GzipDecoder&&) noexcept;

  // The next coded bytes. Error: invalid CODING_BROKEN when they are not gzip or a check sum
  // differs; what the sink returns.
  Status write(std::string_view piece, const Sink& sink);
  // After the last piece; no piece at all is an empty body. Error: invalid CODING_BROKEN when a
  // member is not complete.
  Status finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelindex::tools
