// SPDX-License-Identifier: Apache-2.0
#include "ingest/pipeline.h"

#include <condition_variable>
#include <deque>
#include <thread>
#include <variant>

#include "schema/limits.h"
#include "schema/mutex.h"

namespace kernelindex::ingest {
namespace {

// Calls are handed over in chunks: taking the lock for each would cost more than many a call.
constexpr std::size_t kChunkCalls = 64;
constexpr std::size_t kChunkBytes = 256 * limits::kKiB;
constexpr std::size_t kWaitingChunks = 16;

struct BeginFile {
  std::size_t file = 0;
};
struct Skipped {
  std::string reason;
};
struct Selected {};
struct Counted {
  std::string what;
  std::uint64_t times = 0;
};
using Call = std::variant<BeginFile, Draft, ArtifactDraft, WithdrawalDraft, Finding, Skipped,
                          Selected, Counted>;
using Chunk = std::vector<Call>;

class Queue {
 public:
  // False when the other side has given up.
  bool push(Chunk chunk) {
    MutexLock lock(mutex_);
    while (chunks_.size() >= kWaitingChunks && !stopped_) lock.wait(changed_);
    if (stopped_) return false;
    chunks_.push_back(std::move(chunk));
    changed_.notify_all();
    return true;
  }
  // Nothing once the importer has ended and all is taken.
  std::optional<Chunk> pop() {
    MutexLock lock(mutex_);
    while (chunks_.empty() && !ended_) lock.wait(changed_);
    if (chunks_.empty()) return std::nullopt;
    Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    changed_.notify_all();
    return chunk;
  }
  void end() {
    const MutexLock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  void stop() {
    const MutexLock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Chunk> chunks_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;    // nothing more will come
  bool stopped_ GUARDED_BY(mutex_) = false;  // nothing more is wanted
};

class QueueSink final : public DraftSink {
 public:
  explicit QueueSink(Queue& queue) : queue_(queue) {}

  Status begin_file(std::size_t file) override { return add(BeginFile{file}, 0); }
  Status claim(Draft draft) override {
    const std::size_t bytes = draft.manifest.bytes.size();
    return add(std::move(draft), bytes);
  }
  Status artifact(ArtifactDraft artifact) override {
    const std::size_t bytes = artifact.bytes.size();
    return add(std::move(artifact), bytes);
  }
  Status withdrawn(WithdrawalDraft withdrawal) override { return add(std::move(withdrawal), 0); }
  void finding(Finding finding) override { add_quietly(std::move(finding)); }
  void skipped(std::string_view reason) override { add_quietly(Skipped{std::string(reason)}); }
  void selected() override { add_quietly(Selected{}); }
  void counted(std::string_view what, std::uint64_t times) override {
    // Counts come by the thousand, often of one thing in a row.
    if (!chunk_.empty()) {
      if (auto* last = std::get_if<Counted>(&chunk_.back());
          last != nullptr && last->what == what) {
        last->times += times;
        return;
      }
    }
    add_quietly(Counted{std::string(what), times});
  }
  Status flush() {
    bytes_ = 0;
    if (chunk_.empty() && !stopped_) return {};
    stopped_ = stopped_ || !queue_.push(std::exchange(chunk_, {}));
    if (!stopped_) return {};
    return fail(ErrorKind::system, "IMPORT_STOPPED", {}, "recording has stopped");
  }

 private:
  Status add(Call call, std::size_t bytes) {
    add_quietly(std::move(call));
    bytes_ += bytes;
    return bytes_ < kChunkBytes && !stopped_ ? Status() : flush();
  }
  // For calls that cannot fail: when recording has stopped, the next one that can fail says so.
  void add_quietly(Call call) {
    if (chunk_.capacity() == 0) chunk_.reserve(kChunkCalls);
    chunk_.push_back(std::move(call));
    if (chunk_.size() < kChunkCalls) return;
    const Status flushed = flush();
    static_cast<void>(flushed.has_value());
  }

  Queue& queue_;
  Chunk chunk_;
  std::size_t bytes_ = 0;
  bool stopped_ = false;  // nobody takes any more
};

struct Deliver {
  DraftSink& sink;
  Status operator()(BeginFile& call) const { return sink.begin_file(call.file); }
  Status operator()(Draft& call) const { return sink.claim(std::move(call)); }
  Status operator()(ArtifactDraft& call) const { return sink.artifact(std::move(call)); }
  Status operator()(WithdrawalDraft& call) const { return sink.withdrawn(std::move(call)); }
  Status operator()(Finding& call) const {
    sink.finding(std::move(call));
    return {};
  }
  Status operator()(Skipped& call) const {
    sink.skipped(call.reason);
    return {};
  }
  Status operator()(Selected&) const {
    sink.selected();
    return {};
  }
  Status operator()(Counted& call) const {
    sink.counted(call.what, call.times);
    return {};
  }
};

}  // namespace

Status run_pipelined(const Importer& importer, DraftSink& sink) {
  Queue queue;
  Status imported;
  std::thread reading([&] {
    QueueSink out(queue);
    imported = importer(out);
    if (imported) imported = out.flush();
    queue.end();
  });
  Status recorded;
  while (std::optional<Chunk> chunk = queue.pop()) {
    if (!recorded) continue;  // what still waits is dropped
    for (Call& call : *chunk) {
      recorded = std::visit(Deliver{sink}, call);
      if (!recorded) {
        queue.stop();
        break;
      }
    }
  }
  reading.join();
  return recorded ? std::move(imported) : std::move(recorded);
}

}  // namespace kernelindex::ingest
