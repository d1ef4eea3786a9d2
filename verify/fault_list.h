// SPDX-License-Identifier: Apache-2.0
// Collects faults from several threads: the first ones in full, all of them in number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schema/mutex.h"
#include "schema/result.h"
#include "verify/audit_report.h"

namespace kernelindex::auditing {

// Where a fault is; every call of FaultList::add() begins with one.
inline Fault at_entry(std::uint64_t index) {
  Fault fault;
  fault.index = index;
  return fault;
}
inline Fault about(const Digest& digest) {
  Fault fault;
  fault.digest = digest;
  return fault;
}
inline Fault about(std::uint64_t index, const Digest& digest) {
  Fault fault;
  fault.index = index;
  fault.digest = digest;
  return fault;
}

class FaultList {
 public:
  explicit FaultList(std::size_t most) : most_(most) {}

  void add(Fault fault);
  // Completes `place` and adds it.
  void add(Fault place, std::string code, std::string what, std::string expected = {},
           std::string found = {});
  // An Error as a fault: its code, and its text as the sentence.
  void add(Fault place, const Error& error);
  // The same as add(), of derived data alone.
  void add_derived(Fault place, std::string code, std::string what, std::string expected = {},
                   std::string found = {});

  // As many as are kept; nobody needs to look for more.
  bool full() const;
  // Moves what was found into the report, in order of index; those without one come last.
  void move_to(AuditReport& report);

 private:
  const std::size_t most_;
  mutable Mutex mutex_;
  std::vector<Fault> faults_ GUARDED_BY(mutex_);
  std::uint64_t left_out_ GUARDED_BY(mutex_) = 0;
};

}  // namespace kernelindex::auditing
