// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/access_log.h"

#include <cerrno>
#include <cstring>

#include "schema/canonical_json.h"
#include "schema/json_value.h"
#include "schema/utf8.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kGathered = std::size_t{64} << 10u;

// Bytes that are not UTF-8 as "%XX": a target can hold any.
std::string printable(std::string_view text) {
  if (utf8_prefix(text) == text.size()) return std::string(text);
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4u], kDigits[byte & 15u]};
    }
  }
  return out;
}

}  // namespace

std::string access_line(const AccessLine& line) {
  json::Arena arena;
  const std::string target = printable(line.target);
  const std::string at = format_utc_micros(line.time);
  json::ObjectBuilder object(arena);
  object.add("at", std::string_view(at))
      .add("client", line.client)
      .add("method", line.method)
      .add("target", std::string_view(target))
      .add("status", json::Value(static_cast<double>(line.status)))
      .add("bytes", json::Value(static_cast<double>(line.bytes)))
      .add("micros", json::Value(static_cast<double>(line.micros)))
      .add_if(!line.fault.empty(), "fault", line.fault);
  return json::canonical(object.finish()) + "\n";
}

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& path) {
  const bool owned = path != "-";
  std::FILE* file = owned ? std::fopen(path.c_str(), "ae") : stdout;
  if (file == nullptr) {
    return fail(ErrorKind::system, "IO", path,
                std::string("cannot be opened for writing: ") + std::strerror(errno));
  }
  return std::unique_ptr<AccessLog>(new AccessLog(file, owned));
}

AccessLog::~AccessLog() {
  flush();
  if (owned_) std::fclose(file_);
}

void AccessLog::add(const AccessLine& line) {
  const std::string text = access_line(line);
  const MutexLock lock(mutex_);
  waiting_ += text;
  if (waiting_.size() >= kGathered) flush_locked();
}

void AccessLog::flush() {
  const MutexLock lock(mutex_);
  flush_locked();
}

void AccessLog::flush_locked() {
  if (waiting_.empty()) return;
  std::fwrite(waiting_.data(), 1, waiting_.size(), file_);
  std::fflush(file_);
  waiting_.clear();
}

}  // namespace kernelindex::serve
