// A mutex whose rules the compiler checks: what it guards is written at the member, and clang's
// thread-safety analysis (preset `thread-safety`) refuses code that touches it without the lock.
// The standard library's mutex bears no such marks in libstdc++, so this wraps it, at no cost.
// Source of the attributes: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define KERNELINDEX_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define KERNELINDEX_THREAD_SAFETY(attribute)
#endif

// Read and written only while `mutex` is held.
#define GUARDED_BY(mutex) KERNELINDEX_THREAD_SAFETY(guarded_by(mutex))
// Called only while `mutex` is held.
#define REQUIRES_LOCK(mutex) KERNELINDEX_THREAD_SAFETY(requires_capability(mutex))

namespace kernelindex {

class KERNELINDEX_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a mutex from its making to its end.
class KERNELINDEX_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) KERNELINDEX_THREAD_SAFETY(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~MutexLock() KERNELINDEX_THREAD_SAFETY(release_capability()) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // Gives the mutex up until `changed` is told, and holds it again on return; may wake for nothing.
  // Wait in a loop that reads the condition: inside a predicate function the analysis is blind.
  void wait(std::condition_variable& changed) { changed.wait(lock_); }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace kernelindex
