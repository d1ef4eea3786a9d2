// SPDX-License-Identifier: Apache-2.0
// One line for each request whose header came: JSON, so that it can be read by programs and nothing
// in it breaks a line. Of an address it holds the path and the names in the query: values are what
// people search for, or secrets that somebody pasted, and nobody's business later.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "schema/mutex.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex::serve {

struct AccessLine {
  UtcMicros time = 0;
  std::string_view client;
  std::string_view method;
  std::string_view target;   // as it came
  unsigned status = 0;       // 0: the connection ended before an answer
  std::uint64_t bytes = 0;   // of the body
  std::uint64_t micros = 0;  // from the whole request to the last byte
  std::string_view fault;    // why 500 and above, or why it was not sent whole
};

// {"at":…,"client":…,"method":…,"target":…,"status":…,"bytes":…,"micros":…} and a line end, with
// "fault" when there is one. The target is printable ASCII: other bytes are "%XX".
std::string access_line(const AccessLine& line);

// Safe to use from several threads. Lines are gathered and written by flush(), at the latest when
// 64 KiB are there. What cannot be written is dropped: a full disk does not end the service.
class AccessLog {
 public:
  // Appends to a file, "-" is standard output. Error IO (system).
  static Result<std::unique_ptr<AccessLog>> open(const std::string& path);
  ~AccessLog();

  void add(const AccessLine& line);
  void flush();

 private:
  AccessLog(std::FILE* file, bool owned) : file_(file), owned_(owned) {}
  void flush_locked() REQUIRES_LOCK(mutex_);

  std::FILE* file_;
  bool owned_;
  Mutex mutex_;
  std::string waiting_ GUARDED_BY(mutex_);
};

}  // namespace kernelindex::serve
