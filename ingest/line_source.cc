// SPDX-License-Identifier: Apache-2.0
#include "ingest/line_source.h"

#include <cstring>

#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kBufferBytes = 256 * limits::kKiB;
constexpr std::size_t kShownBytes = 256;  // of a line that is too long

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

LineSource::LineSource(ByteSource& source) : source_(source), buffer_(kBufferBytes) {}

Result<bool> LineSource::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
  Result<std::size_t> count = source_.read(std::span(buffer_).subspan(end_));
  if (!count) return fail(std::move(count.error()));
  end_ += *count;
  return *count > 0;
}

Status LineSource::skip_line() {
  while (true) {
    const void* newline = std::memchr(buffer_.data() + begin_, '\n', end_ - begin_);
    if (newline != nullptr) {
      begin_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
      break;
    }
    begin_ = 0;
    end_ = 0;
    Result<bool> more = fill();
    if (!more) return fail(std::move(more.error()));
    if (!*more) break;
  }
  skip_rest_ = false;
  return {};
}

Result<bool> LineSource::next(Line& line) {
  if (skip_rest_) {
    if (Status skipped = skip_line(); !skipped) return fail(std::move(skipped.error()));
  }
  std::size_t searched = 0;  // bytes behind begin_ that hold no newline
  while (true) {
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start + searched, '\n', end_ - begin_ - searched);
    if (newline != nullptr) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
      begin_ += size + 1;
      searched = 0;
      ++number_;
      line = {number_, std::string_view(start, size), false};
      if (!is_blank(line.text)) return true;
      continue;
    }
    searched = end_ - begin_;
    if (searched > limits::kSourceLineBytes) {
      line = {++number_, std::string_view(start, kShownBytes), true};
      skip_rest_ = true;
      return true;
    }
    Result<bool> more = fill();
    if (!more) return fail(std::move(more.error()));
    if (*more) continue;
    if (begin_ == end_) return false;
    line = {++number_, std::string_view(buffer_.data() + begin_, end_ - begin_), false};
    begin_ = end_;
    return !is_blank(line.text);
  }
}

}  // namespace kernelindex::ingest
