// SPDX-License-Identifier: Apache-2.0
#include "cuda/activity_records.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "cuda/stopping_rule.h"

namespace kernelindex::runner {
namespace {

// kind, start, end, correlation, stream, name
constexpr std::array kLayouts = {RecordLayout{RecordKind::copy, 16, 24, 44, 40, 0},
                                 RecordLayout{RecordKind::fill, 16, 24, 44, 40, 0},
                                 RecordLayout{RecordKind::driver_call, 8, 16, 32, 0, 0},
                                 RecordLayout{RecordKind::runtime_call, 8, 16, 32, 0, 0},
                                 RecordLayout{RecordKind::kernel, 16, 24, 92, 48, 104},
                                 RecordLayout{RecordKind::peer_copy, 16, 24, 60, 40, 0},
                                 RecordLayout{RecordKind::graph, 8, 16, 4, 36, 0}};
static_assert(kLayouts.size() == std::size(kRecordKinds));

template <typename T>
T member(const void* record, std::size_t at) {
  T value;
  std::memcpy(&value, static_cast<const char*>(record) + at, sizeof value);
  return value;
}

Activity::Kind activity_kind(RecordKind kind) {
  if (kind == RecordKind::fill) return Activity::Kind::fill;
  if (kind == RecordKind::copy || kind == RecordKind::peer_copy) return Activity::Kind::copy;
  return Activity::Kind::kernel;
}

std::string name_of(const void* record, const RecordLayout& layout) {
  if (layout.kind == RecordKind::graph) return "(graph)";
  const char* name = layout.name == 0 ? nullptr : member<const char*>(record, layout.name);
  return name == nullptr ? "" : name;
}

}  // namespace

const RecordLayout* layout_of(std::uint32_t kind) {
  const auto found = std::find_if(kLayouts.begin(), kLayouts.end(), [kind](const auto& layout) {
    return static_cast<std::uint32_t>(layout.kind) == kind;
  });
  return found == kLayouts.end() ? nullptr : found;
}

void add_record(const void* record, std::uint32_t default_stream, RecordBatch& batch) {
  const RecordLayout* layout = layout_of(member<std::uint32_t>(record, 0));
  if (layout == nullptr) return;
  const auto start = member<std::uint64_t>(record, layout->start);
  const auto correlation = member<std::uint32_t>(record, layout->correlation);
  if (layout->kind == RecordKind::driver_call || layout->kind == RecordKind::runtime_call) {
    batch.calls.push_back({start, correlation});
    return;
  }
  Activity activity;
  activity.kind = activity_kind(layout->kind);
  activity.start_ns = start;
  activity.end_ns = member<std::uint64_t>(record, layout->end);
  const auto stream = member<std::uint32_t>(record, layout->stream);
  // Another number for the default stream may be that of somebody else's; 0 is nobody's.
  activity.stream = stream == default_stream ? 0 : stream == 0 ? default_stream : stream;
  activity.name = name_of(record, *layout);
  batch.work.push_back({correlation, std::move(activity)});
}

std::vector<Activity> work_between(const RecordBatch& batch, std::uint64_t begin,
                                   std::uint64_t end) {
  std::set<std::uint32_t> ours;
  for (const ApiCall& call : batch.calls) {
    if (call.start_ns >= begin && call.start_ns <= end) ours.insert(call.correlation);
  }
  std::vector<Activity> work;
  for (const DeviceWork& one : batch.work) {
    if (ours.contains(one.correlation)) work.push_back(one.activity);
  }
  return work;
}

void write_activities(WireWriter& out, const CallActivities& call) {
  const std::size_t sent = std::min(call.activities.size(), kActivitiesSent);
  out.number(call.dropped + (call.activities.size() - sent)).number(sent);
  for (std::size_t i = 0; i < sent; ++i) {
    const Activity& activity = call.activities[i];
    out.number(static_cast<std::uint64_t>(activity.kind)).number(activity.stream);
    out.number(activity.start_ns).number(activity.end_ns);
    out.text(std::string_view(activity.name).substr(0, kActivityNameSent));
  }
}

std::optional<CallActivities> read_activities(WireReader& in) {
  CallActivities call;
  call.dropped = in.number();
  for (std::uint64_t i = in.count(); i > 0; --i) {
    Activity activity;
    const std::uint64_t kind = in.number();
    if (kind > static_cast<std::uint64_t>(Activity::Kind::fill)) return std::nullopt;
    activity.kind = static_cast<Activity::Kind>(kind);
    activity.stream = static_cast<std::uint32_t>(in.number());
    activity.start_ns = in.number();
    activity.end_ns = in.number();
    activity.name = in.text();
    call.activities.push_back(std::move(activity));
  }
  return call;
}

bool EnvelopePass::add(const CallActivities& call) {
  records_ += static_cast<std::int64_t>(call.activities.size());
  dropped_ += static_cast<std::int64_t>(call.dropped);
  Envelope envelope = envelope_of(call.activities, call.dropped);
  if (!envelope.ns) {
    const bool idle = call.activities.empty() && call.dropped == 0;
    (idle ? idle_ : spoiled_) += 1;
    if (idle) kernel_sets_.emplace_back();
    return false;
  }
  side_streams_ += envelope.findings.empty() ? 0 : 1;  // the one finding beside an envelope
  envelopes_.push_back(std::max<std::uint64_t>(*envelope.ns, 1));
  works_.push_back(call.activities.size());
  kernels_.push_back(envelope.kernels.size());
  kernel_sets_.push_back(std::move(envelope.kernels));
  return true;
}

std::uint64_t EnvelopePass::works_per_call() const {
  return works_.empty() ? 0 : median_of(works_);
}

void EnvelopePass::describe(Trial& trial) const {
  trial.kernels_per_call = kernels_.empty() ? 0 : static_cast<std::int64_t>(median_of(kernels_));
  trial.kernel_set_varies = !check_kernel_sets(kernel_sets_).empty();
  trial.activity_records = records_;
  trial.dropped_records = dropped_;
  if (spoiled_ > 0) trial.discards.push_back({Discards::Reason::cupti_record, spoiled_});
}

Findings EnvelopePass::findings() const {
  Findings findings = check_kernel_sets(kernel_sets_);
  if (idle_ > 0) {
    findings.push_back({"NO_DEVICE_WORK", Finding::Weight::hack,
                        std::to_string(idle_) + " calls ran no kernel, copy or fill"});
  }
  if (side_streams_ > 0) {
    findings.push_back({"SIDE_STREAM", Finding::Weight::note,
                        std::to_string(side_streams_) + " calls use another stream"});
  }
  if (too_many_discards(envelopes_.size(), static_cast<std::size_t>(spoiled_))) {
    findings.push_back({"CUPTI_DROPPED", Finding::Weight::incomplete,
                        std::to_string(spoiled_) + " calls lack records or their times"});
  }
  return findings;
}

}  // namespace kernelindex::runner
