// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/access_log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "schema/canonical_json.h"
#include "schema/json_value.h"
#include "tools/serve/request.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kGathered = std::size_t{64} << 10u;

// A target can hold any byte, and a terminal that shows the log acts on more of them than ASCII
// has.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c > ' ' && c < '\x7f') {
      out += c;
    } else {
      out += percent_encode({&c, 1});
    }
  }
  return out;
}

// "/search?q&kind" of "/search?q=words&kind=all". What has no name is left out: it may be a value.
std::string without_values(std::string_view target) {
  target = origin_form(target);
  const std::size_t question = std::min(target.find('?'), target.size());
  std::string out(target.substr(0, question));
  target.remove_prefix(question);
  char separator = '?';
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::string_view pair = target.substr(0, target.find('&'));
    target.remove_prefix(pair.size());
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    out.append(1, separator).append(pair.substr(0, equals));
    separator = '&';
  }
  return out;
}

}  // namespace

std::string access_line(const AccessLine& line) {
  json::Arena arena;
  const std::string target = printable(without_values(line.target));
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
