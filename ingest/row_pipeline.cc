// SPDX-License-Identifier: Apache-2.0
#include "ingest/row_pipeline.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "schema/limits.h"
#include "schema/mutex.h"

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kBatchBytes = 128 * limits::kKiB;
constexpr std::size_t kBatchesPerThread = 3;

// Some lines with a copy of their text, and the rows read from them.
struct Batch {
  struct Piece {
    std::uint64_t number = 0;
    std::size_t begin = 0;
    std::size_t size = 0;
    bool too_long = false;
  };
  std::string text;
  std::vector<Piece> pieces;
  std::vector<CatalogRow> rows;
};

class Pipeline {
 public:
  Pipeline(LineSource& lines, unsigned threads)
      : lines_(lines), batches_(threads * kBatchesPerThread) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Pipeline() {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
    }
    wake_worker_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Status run(const std::function<Status(CatalogRow&&)>& take) {
    std::size_t filled = 0;  // batches given to the threads, of all time
    std::size_t taken = 0;   // batches handed out
    Status source_status;
    bool at_end = false;
    while (true) {
      while (!at_end && filled - taken < batches_.size()) {
        Batch& batch = batches_[filled % batches_.size()];
        source_status = fill(batch, at_end);
        if (!source_status) at_end = true;
        if (batch.pieces.empty()) break;
        ++filled;
        give(batch);
      }
      if (taken == filled) return source_status;
      Batch& batch = batches_[taken++ % batches_.size()];
      wait_for(batch);
      for (CatalogRow& row : batch.rows) {
        if (Status status = take(std::move(row)); !status) return status;
      }
    }
  }

 private:
  Status fill(Batch& batch, bool& at_end) {
    batch.text.clear();
    batch.pieces.clear();
    batch.rows.clear();
    Line line;
    while (batch.text.size() < kBatchBytes) {
      Result<bool> more = lines_.next(line);
      if (!more) return fail(std::move(more.error()));
      if (!*more) {
        at_end = true;
        break;
      }
      batch.pieces.push_back({line.number, batch.text.size(), line.text.size(), line.too_long});
      batch.text += line.text;
    }
    // One long line must not keep its memory in every batch for ever.
    if (batch.text.capacity() > 16 * kBatchBytes && batch.text.size() < kBatchBytes) {
      batch.text.shrink_to_fit();
    }
    return {};
  }

  void give(Batch& batch) {
    {
      const MutexLock lock(mutex_);
      queue_.push_back(&batch);
    }
    wake_worker_.notify_one();
  }

  void wait_for(const Batch& batch) {
    MutexLock lock(mutex_);
    while (!done_.contains(&batch)) lock.wait(batch_done_);
    done_.erase(&batch);
  }

  void work() {
    json::Arena arena;
    while (true) {
      Batch* batch = nullptr;
      {
        MutexLock lock(mutex_);
        while (!stop_ && queue_.empty()) lock.wait(wake_worker_);
        if (stop_) return;
        batch = queue_.front();
        queue_.pop_front();
      }
      for (const Batch::Piece& piece : batch->pieces) {
        arena.reset();
        const std::string_view text(batch->text.data() + piece.begin, piece.size);
        batch->rows.push_back(read_catalog_row({piece.number, text, piece.too_long}, arena));
      }
      {
        const MutexLock lock(mutex_);
        done_.insert(batch);
      }
      batch_done_.notify_one();
    }
  }

  LineSource& lines_;
  std::vector<Batch> batches_;  // a ring; addresses stay
  std::vector<std::thread> threads_;
  Mutex mutex_;
  std::condition_variable wake_worker_;
  std::condition_variable batch_done_;
  std::deque<Batch*> queue_ GUARDED_BY(mutex_);
  std::set<const Batch*> done_ GUARDED_BY(mutex_);  // read, and not handed out yet
  bool stop_ GUARDED_BY(mutex_) = false;
};

}  // namespace

Status for_each_row(LineSource& lines, unsigned threads,
                    const std::function<Status(CatalogRow&&)>& take) {
  const unsigned count = threads != 0 ? threads : std::thread::hardware_concurrency();
  return Pipeline(lines, std::max(count, 1u)).run(take);
}

}  // namespace kernelindex::ingest
