// SPDX-License-Identifier: Apache-2.0
// Answers of one state of the ledger, ready to be sent, in a bounded number of bytes: what was
// asked for least recently goes first.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "schema/mutex.h"
#include "tools/serve/response.h"

namespace kernelindex::serve {

// What goes over the wire but for the lines of the moment: Date and Connection.
struct Prepared {
  unsigned status = 0;
  std::string head;       // the status line and header lines, without the empty line
  std::string unchanged;  // the same of the 304; empty: none is ever sent
  std::shared_ptr<const std::string> body;
  BodySource source;
  std::string etag;
  bool cacheable = false;  // by us
  std::string fault;       // Response::fault
};
using PreparedPointer = std::shared_ptr<const Prepared>;

// Safe to use from several threads.
class ResponseCache {
 public:
  explicit ResponseCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Null when it is not there.
  PreparedPointer find(std::string_view key);
  // Keeps the answer unless it would take more than an eighth of all.
  void put(std::string_view key, PreparedPointer answer);
  std::size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    PreparedPointer answer;
    std::size_t bytes = 0;
  };

  std::size_t bytes_max_;
  mutable Mutex mutex_;
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::list<Entry> entries_ GUARDED_BY(mutex_);  // newest use first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_
      GUARDED_BY(mutex_);  // views of entries_
};

}  // namespace kernelindex::serve
