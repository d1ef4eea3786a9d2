// SPDX-License-Identifier: Apache-2.0
#include "verify/fault_list.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace kernelindex::auditing {
namespace {

auto order_of(const Fault& fault) {
  return std::tuple(fault.derived, fault.index.value_or(std::numeric_limits<std::uint64_t>::max()),
                    fault.digest.value_or(Digest{}), std::string_view(fault.code),
                    std::string_view(fault.what));
}

}  // namespace

void FaultList::add(Fault fault) {
  const MutexLock lock(mutex_);
  if (faults_.size() < most_) {
    faults_.push_back(std::move(fault));
  } else {
    ++left_out_;
  }
}

void FaultList::add(Fault place, std::string code, std::string what, std::string expected,
                    std::string found) {
  place.code = std::move(code);
  place.what = std::move(what);
  place.expected = std::move(expected);
  place.found = std::move(found);
  add(std::move(place));
}

void FaultList::add(Fault place, const Error& error) {
  std::string what = error.place.empty() ? error.message : error.place + ": " + error.message;
  add(std::move(place), error.code, std::move(what));
}

void FaultList::add_derived(Fault place, std::string code, std::string what, std::string expected,
                            std::string found) {
  place.derived = true;
  add(std::move(place), std::move(code), std::move(what), std::move(expected), std::move(found));
}

bool FaultList::full() const {
  const MutexLock lock(mutex_);
  return faults_.size() >= most_;
}

void FaultList::move_to(AuditReport& report) {
  const MutexLock lock(mutex_);
  std::ranges::sort(faults_, {}, order_of);
  std::ranges::move(faults_, std::back_inserter(report.faults));
  report.faults_left_out += left_out_;
  faults_.clear();
  left_out_ = 0;
}

}  // namespace kernelindex::auditing
