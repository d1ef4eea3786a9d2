// SPDX-License-Identifier: Apache-2.0
#include "ingest/csv_source.h"

#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kBufferBytes = 256 * limits::kKiB;
constexpr std::size_t kRecordBytes = limits::kMiB;
constexpr std::size_t kFieldsMost = 1'000;
constexpr int kEnd = -1;

bool ends_record(int c) { return c == '\n' || c == '\r' || c == kEnd; }

}  // namespace

CsvSource::CsvSource(ByteSource& source) : source_(source), buffer_(kBufferBytes) {}

Result<bool> CsvSource::fill() {
  if (begin_ < end_) return true;
  Result<std::size_t> count = source_.read(buffer_);
  if (!count) return fail(std::move(count.error()));
  begin_ = 0;
  end_ = *count;
  return *count > 0;
}

Result<int> CsvSource::peek() {
  Result<bool> more = fill();
  if (!more) return fail(std::move(more.error()));
  return *more ? static_cast<unsigned char>(buffer_[begin_]) : kEnd;
}

// A line break comes as one '\n', however it is written.
Result<int> CsvSource::take() {
  Result<int> c = peek();
  if (!c || *c == kEnd) return c;
  ++begin_;
  if (*c == '\r') {
    const Result<int> after = peek();
    if (!after) return after;
    if (*after == '\n') ++begin_;
    *c = '\n';
  }
  if (*c == '\n') ++line_;
  return c;
}

bool CsvSource::grow(CsvRecord& record) {
  if (++bytes_ <= kRecordBytes) return true;
  record.fault = "LINE_TOO_LONG";
  return false;
}

Status CsvSource::skip_line() {
  while (true) {
    const Result<int> c = take();
    if (!c) return fail(c.error());
    if (*c == kEnd || *c == '\n') return {};
  }
}

Result<bool> CsvSource::quoted(std::string& field, CsvRecord& record) {
  while (true) {
    const Result<int> c = take();
    if (!c) return fail(c.error());
    if (*c == kEnd) return false;
    if (!grow(record)) return false;
    if (*c != '"') {
      field += static_cast<char>(*c);
      continue;
    }
    const Result<int> after = peek();
    if (!after) return fail(after.error());
    if (*after != '"') return *after == ',' || ends_record(*after);
    field += '"';
    ++begin_;
  }
}

Result<bool> CsvSource::next(CsvRecord& record) {
  record.fields.clear();
  record.fault.clear();
  bytes_ = 0;
  for (Result<int> c = peek(); c && *c != kEnd && ends_record(*c); c = peek()) {
    if (Result<int> taken = take(); !taken) return fail(std::move(taken.error()));
  }
  record.line = line_;
  const Result<int> first = peek();
  if (!first) return fail(first.error());
  if (*first == kEnd) return false;
  std::string field;
  while (true) {
    Result<int> c = take();
    if (!c) return fail(std::move(c.error()));
    if (*c == '"' && field.empty()) {
      const Result<bool> closed = quoted(field, record);
      if (!closed) return fail(closed.error());
      if (!*closed && record.fault.empty()) record.fault = "BAD_QUOTE";
      if (record.fault.empty()) c = take();
      if (!c) return fail(std::move(c.error()));
    }
    if (record.fault.empty() && *c != ',' && !ends_record(*c)) {
      field += static_cast<char>(*c);
      if (grow(record)) continue;
    }
    if (!record.fault.empty()) {
      if (Status skipped = skip_line(); !skipped) return fail(std::move(skipped.error()));
      return true;
    }
    record.fields.push_back(std::move(field));
    field.clear();
    if (*c != ',') return true;
    if (record.fields.size() < kFieldsMost) continue;
    record.fault = "TOO_MANY_FIELDS";
    if (Status skipped = skip_line(); !skipped) return fail(std::move(skipped.error()));
    return true;
  }
}

}  // namespace kernelindex::ingest
