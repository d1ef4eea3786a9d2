// SPDX-License-Identifier: Apache-2.0
// The state of a ledger that is served, and its succession: a writer in another process moves the
// ledger on, and the next look opens what it wrote. Requests keep the state that they began with.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "ledger/checkpoint.h"
#include "ledger/ledger.h"
#include "schema/mutex.h"
#include "tools/serve/response_cache.h"
#include "tools/serve/site.h"

namespace kernelindex::serve {

struct LedgerState {
  std::unique_ptr<Ledger> ledger;  // open for reading alone
  Reader reader;
  ManifestIndex manifests;
  std::optional<SignedCheckpoint> checkpoint;
  Site site;  // of the members above
  mutable ResponseCache cache;

  LedgerState(std::unique_ptr<Ledger> opened, const SiteOptions& options, std::size_t cache_bytes);
  LedgerState(const LedgerState&) = delete;
  LedgerState& operator=(const LedgerState&) = delete;
};
using LedgerStatePointer = std::shared_ptr<const LedgerState>;

struct FollowerOptions {
  LedgerOptions ledger;  // read_only is set
  SiteOptions site;      // an empty name becomes the origin
  std::size_t cache_bytes = std::size_t{64} << 20u;
};

// Safe to use from several threads.
class LedgerFollower {
 public:
  // Errors: those of Ledger::open(); derived data that is damaged (queries would be wrong).
  static Result<std::unique_ptr<LedgerFollower>> open(FollowerOptions options);

  // Never null.
  LedgerStatePointer state() const;

  // Looks whether anything was written since, and opens the newer state; true when it did. After an
  // error the old state is served on, and the next look tries again. Cheap when nothing changed:
  // the names of the database's files and their sizes are compared.
  Result<bool> refresh();

  // The last look found no fault.
  bool healthy() const { return healthy_; }

 private:
  explicit LedgerFollower(FollowerOptions options) : options_(std::move(options)) {}
  Result<LedgerStatePointer> open_state() const;
  // What changes whenever a writer commits or releases a checkpoint.
  std::string fingerprint() const;

  FollowerOptions options_;
  Mutex refreshing_;
  std::string seen_ GUARDED_BY(refreshing_);
  mutable Mutex mutex_;
  LedgerStatePointer state_ GUARDED_BY(mutex_);
  std::atomic<bool> healthy_ = true;
};

}  // namespace kernelindex::serve
