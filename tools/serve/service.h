// SPDX-License-Identifier: Apache-2.0
// What stands between sockets and routes: the state that is served, answers that are in memory, the
// faces of operators (/healthz, /metrics). No socket, no thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/serve/ledger_follower.h"
#include "tools/serve/metrics.h"
#include "tools/serve/response_head.h"
#include "tools/serve/router.h"

namespace kernelindex::serve {

// The lines of a request that matter, as they came.
struct RawRequest {
  Method method = Method::get;
  std::string_view target;
  std::string_view accept;
  std::string_view if_none_match;
  std::string_view content_type;
};

// What is known of a request once its header is there.
struct Plan {
  PreparedPointer ready;        // the answer, when no work is needed
  std::optional<Request> work;  // else what answer() is to be given, its body to be filled in
  std::size_t body_max = 0;     // of that body
};

// Safe to use from several threads.
class Service {
 public:
  // `follower` and `metrics` are lent.
  Service(LedgerFollower& follower, Metrics& metrics, Router router, HeadOptions head)
      : follower_(follower), metrics_(metrics), router_(std::move(router)), head_(head) {}

  // Never reads the ledger: what takes time is left to answer(). The answer to If-None-Match is
  // left to the caller, by not_modified().
  Plan plan(const RawRequest& raw) const;
  // Makes the answer, which may take long, and remembers it.
  PreparedPointer answer(const Request& request) const;

  // An answer that no route gives: 400, 408, 413, 431 and so on.
  PreparedPointer problem(unsigned status, std::string code, std::string detail) const;

  // From now on /healthz says that this server is going away.
  void stop() { stopping_ = true; }

  Metrics& metrics() const { return metrics_; }

 private:
  PreparedPointer health() const;
  PreparedPointer metrics_text() const;

  LedgerFollower& follower_;
  Metrics& metrics_;
  const Router router_;
  const HeadOptions head_;
  std::atomic<bool> stopping_ = false;
};

// Whether the head of the answer is its `unchanged` one: the client has these bytes.
bool not_modified(const Prepared& prepared, const RawRequest& raw);

}  // namespace kernelindex::serve
