// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/ledger_follower.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "tools/log_identity.h"

namespace kernelindex::serve {
namespace {

// Size, place and time of a file; empty when it is not there.
std::string file_mark(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return std::to_string(found.st_size) + "," + std::to_string(found.st_ino) + "," +
         std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec);
}

}  // namespace

LedgerState::LedgerState(std::unique_ptr<Ledger> opened, const SiteOptions& options,
                         std::size_t cache_bytes)
    : ledger(std::move(opened)),
      reader(ledger->read()),
      manifests(reader),
      checkpoint(tools::released_checkpoint(*ledger, reader)),
      site{options, reader, manifests, checkpoint ? &*checkpoint : nullptr,
           ledger->options().clock()},
      cache(cache_bytes) {}

Result<std::unique_ptr<LedgerFollower>> LedgerFollower::open(FollowerOptions options) {
  options.ledger.read_only = true;
  std::unique_ptr<LedgerFollower> follower(new LedgerFollower(std::move(options)));
  follower->seen_ = follower->fingerprint();
  Result<LedgerStatePointer> state = follower->open_state();
  if (!state) return fail(state.error());
  if (follower->options_.site.name.empty()) {
    follower->options_.site.name = (*state)->reader.format().origin;
  }
  follower->state_ = std::move(*state);
  return follower;
}

LedgerStatePointer LedgerFollower::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

Result<LedgerStatePointer> LedgerFollower::open_state() const {
  Result<std::unique_ptr<Ledger>> ledger = Ledger::open(options_.ledger);
  if (!ledger) return fail(ledger.error());
  if ((*ledger)->derived_fault()) return fail(*(*ledger)->derived_fault());
  return std::make_shared<const LedgerState>(std::move(*ledger), options_.site,
                                             options_.cache_bytes);
}

std::string LedgerFollower::fingerprint() const {
  const std::filesystem::path& directory = options_.ledger.directory;
  std::vector<std::string> marks;
  std::error_code error;
  for (std::filesystem::directory_iterator file(directory / "db", error), end;
       !error && file != end; file.increment(error)) {
    const std::string name = file->path().filename().string();
    // The log of what RocksDB does itself changes without anything being written.
    if (name.starts_with("LOG")) continue;
    marks.push_back(name + "=" + file_mark(file->path()));
  }
  std::ranges::sort(marks);
  std::string out = "checkpoint=" + file_mark(directory / "checkpoint");
  for (const std::string& mark : marks) out += ";" + mark;
  return out;
}

Result<bool> LedgerFollower::refresh() {
  const MutexLock refreshing(refreshing_);
  // Before opening: what is written while it opens is seen by the next look.
  std::string now = fingerprint();
  if (now == seen_) return false;
  Result<LedgerStatePointer> next = open_state();
  healthy_ = next.has_value();
  if (!next) return fail(next.error());
  seen_ = std::move(now);
  const MutexLock lock(mutex_);
  const auto released = [](const LedgerState& state) {
    return state.checkpoint ? state.checkpoint->format() : std::string();
  };
  // Files of another shape may hold the same: then what was made of them stays. The old files can
  // be gone from the folder, but the store holds all of its files open.
  if ((*next)->reader.head() == state_->reader.head() && released(**next) == released(*state_)) {
    return false;
  }
  state_ = std::move(*next);
  return true;
}

}  // namespace kernelindex::serve
