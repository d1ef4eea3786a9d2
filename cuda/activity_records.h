// SPDX-License-Identifier: Apache-2.0
// Records of CUPTI's activity interface, as bytes: which work on the device belongs to one call,
// and how long it took from its first start to its last end. PROTOCOL section 9.2.
//
// All of it is pure. Layouts are those of cupti_activity.h from CUDA 12 on: records have only grown
// at their ends. A test holds them against the toolkit's header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/timing_checks.h"
#include "cuda/wire_numbers.h"
#include "schema/measurement_result.h"
#include "schema/statistics.h"

namespace kernelindex::runner {

// Of CUpti_ActivityKind: what is recorded.
enum class RecordKind : std::uint32_t {
  copy = 1,
  fill = 2,
  driver_call = 4,
  runtime_call = 5,
  kernel = 10,
  peer_copy = 22,
  graph = 51  // all of a graph at once: its kernels have no records of their own
};
inline constexpr RecordKind kRecordKinds[] = {
    RecordKind::kernel, RecordKind::copy,         RecordKind::peer_copy,  RecordKind::fill,
    RecordKind::graph,  RecordKind::runtime_call, RecordKind::driver_call};

// Bytes from the start of a record. 0: it has no such member.
struct RecordLayout {
  RecordKind kind{};
  std::size_t start = 0;        // 64 bits, ns
  std::size_t end = 0;          // 64 bits, ns
  std::size_t correlation = 0;  // 32 bits
  std::size_t stream = 0;       // 32 bits
  std::size_t name = 0;         // a pointer to text
};
// Nothing for a kind that is not recorded.
const RecordLayout* layout_of(std::uint32_t kind);

struct ApiCall {
  std::uint64_t start_ns = 0;
  std::uint32_t correlation = 0;
};
struct DeviceWork {
  std::uint32_t correlation = 0;
  Activity activity;
};
struct RecordBatch {
  std::vector<ApiCall> calls;
  std::vector<DeviceWork> work;
};
// Adds one record; others than kRecordKinds are left out. `default_stream` is how CUPTI numbers the
// legacy default stream. Requires: a record of CUPTI, at least as long as its layout says.
void add_record(const void* record, std::uint32_t default_stream, RecordBatch& batch);

// The work of the calls that began at `begin` or later and not after `end`, in its order.
std::vector<Activity> work_between(const RecordBatch& batch, std::uint64_t begin,
                                   std::uint64_t end);

// What a child says of one call. As many records as fit a frame; what does not fit counts as
// dropped, and names are cut.
inline constexpr std::size_t kActivitiesSent = 400;
inline constexpr std::size_t kActivityNameSent = 80;
struct CallActivities {
  std::vector<Activity> activities;
  std::uint64_t dropped = 0;
};
void write_activities(WireWriter& out, const CallActivities& call);
// Nothing for what is none.
std::optional<CallActivities> read_activities(WireReader& in);

// The envelopes of one trial, call after call.
class EnvelopePass {
 public:
  // Whether the call gave an envelope. Spoiled ones are discarded by name, never by their time.
  bool add(const CallActivities& call);
  // Forgets the calls so far: they were of another mode.
  void clear() { *this = {}; }

  const Samples& envelopes() const { return envelopes_; }  // ns, at least 1
  // Median number of kernels, copies and fills of a call; 0 without calls.
  std::uint64_t works_per_call() const;
  // kernels_per_call, kernel_set_varies, activity_records, dropped_records, discards.
  void describe(Trial& trial) const;
  // NO_DEVICE_WORK, BATCH_SKIP, KERNEL_SET_VARIES, SIDE_STREAM, and CUPTI_DROPPED when more than 5
  // % of the calls were spoiled. Each at most once.
  Findings findings() const;

 private:
  Samples envelopes_;
  Samples works_;  // of each call that gave an envelope
  Samples kernels_;
  std::vector<std::vector<std::string>> kernel_sets_;
  std::int64_t spoiled_ = 0;
  std::int64_t idle_ = 0;  // nothing ran, nothing was dropped
  std::int64_t side_streams_ = 0;
  std::int64_t records_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace kernelindex::runner
