// SPDX-License-Identifier: Apache-2.0
// From made-up records of CUPTI to envelopes and to what they say of a trial. PROTOCOL section 9.2
// and 9.3; HACKS rows 1, 8, 9 and 44.
#include "cuda/activity_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Bytes of a record, filled where its layout says.
std::string record(RecordKind kind, std::uint64_t start, std::uint64_t end,
                   std::uint32_t correlation, std::uint32_t stream = 7,
                   const char* name = nullptr) {
  const RecordLayout& layout = *layout_of(static_cast<std::uint32_t>(kind));
  std::string bytes(160, '\0');
  const auto put = [&bytes](std::size_t at, const auto& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  put(0, kind);
  put(layout.start, start);
  put(layout.end, end);
  put(layout.correlation, correlation);
  if (layout.stream != 0) put(layout.stream, stream);
  if (layout.name != 0) put(layout.name, name);
  return bytes;
}

RecordBatch batch_of(const std::vector<std::string>& records) {
  RecordBatch batch;
  for (const std::string& bytes : records) add_record(bytes.data(), 7, batch);
  return batch;
}

CallActivities call_of(std::vector<Activity> activities, std::uint64_t dropped = 0) {
  return {std::move(activities), dropped};
}
Activity kernel(std::uint64_t start, std::uint64_t end, std::string name = "k",
                std::uint32_t stream = 0) {
  return {Activity::Kind::kernel, start, end, stream, std::move(name)};
}
std::vector<std::string> codes(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.emplace_back(finding.code);
  return out;
}
Trial described(const EnvelopePass& pass) {
  Trial trial;
  pass.describe(trial);
  return trial;
}

TEST(ActivityRecords, WorkBelongsToTheCallThatStartedIt) {
  const RecordBatch batch = batch_of(
      {record(RecordKind::driver_call, 90, 95, 1),  // before the marks
       record(RecordKind::runtime_call, 100, 105, 2), record(RecordKind::driver_call, 200, 201, 3),
       record(RecordKind::driver_call, 201, 210, 4),  // after them
       record(RecordKind::fill, 96, 99, 1), record(RecordKind::kernel, 500, 700, 2, 7, "k"),
       record(RecordKind::copy, 450, 460, 3), record(RecordKind::kernel, 701, 800, 4)});
  const std::vector<Activity> work = work_between(batch, 100, 200);
  ASSERT_THAT(work, SizeIs(2));
  EXPECT_EQ(work[0].kind, Activity::Kind::kernel);
  EXPECT_EQ(work[0].name, "k");
  EXPECT_EQ(work[1].kind, Activity::Kind::copy);
  EXPECT_EQ(envelope_of(work, 0).ns, 250u);
}

TEST(ActivityRecords, EveryKindOfWorkCounts) {
  const RecordBatch batch =
      batch_of({record(RecordKind::driver_call, 10, 11, 1), record(RecordKind::kernel, 20, 30, 1),
                record(RecordKind::copy, 30, 40, 1), record(RecordKind::peer_copy, 40, 50, 1),
                record(RecordKind::fill, 50, 60, 1), record(RecordKind::graph, 60, 70, 1)});
  const std::vector<Activity> work = work_between(batch, 10, 10);
  ASSERT_THAT(work, SizeIs(5));
  EXPECT_EQ(work[4].name, "(graph)");
  const Envelope envelope = envelope_of(work, 0);
  EXPECT_EQ(envelope.ns, 50u);
  EXPECT_THAT(envelope.kernels, ElementsAre("", "(graph)"));
}

TEST(ActivityRecords, TheDefaultStreamIsZeroAndNoOtherIs) {
  const RecordBatch batch =
      batch_of({record(RecordKind::kernel, 1, 2, 1, 7), record(RecordKind::kernel, 1, 2, 1, 13),
                record(RecordKind::kernel, 1, 2, 1, 0)});
  EXPECT_EQ(batch.work[0].activity.stream, 0u);
  EXPECT_EQ(batch.work[1].activity.stream, 13u);
  EXPECT_NE(batch.work[2].activity.stream, 0u);
}

TEST(ActivityRecords, OfOtherKindsAreLeftOut) {
  std::string other(160, '\x01');
  const std::uint32_t kind = 38;
  std::memcpy(other.data(), &kind, sizeof kind);
  const RecordBatch batch = batch_of({other});
  EXPECT_THAT(batch.work, IsEmpty());
  EXPECT_THAT(batch.calls, IsEmpty());
}

TEST(ActivityWire, SurvivesAndWhatDoesNotFitCountsAsDropped) {
  CallActivities call = call_of({}, 2);
  for (std::size_t i = 0; i < kActivitiesSent + 5; ++i) {
    call.activities.push_back(kernel(i + 1, i + 2, std::string(kActivityNameSent + 9, 'n'), 3));
  }
  WireWriter out;
  write_activities(out, call);
  EXPECT_LT(out.bytes().size(), 64u * 1024 - 1024);  // beside a report in one frame
  WireReader in(out.bytes());
  const auto read = read_activities(in);
  ASSERT_TRUE(read && in.finish());
  EXPECT_EQ(read->dropped, 7u);
  ASSERT_THAT(read->activities, SizeIs(kActivitiesSent));
  EXPECT_EQ(read->activities[3].start_ns, 4u);
  EXPECT_EQ(read->activities[3].stream, 3u);
  EXPECT_EQ(read->activities[3].name, std::string(kActivityNameSent, 'n'));
}

TEST(ActivityWire, AKindThatIsNoneIsRefused) {
  WireWriter out;
  out.number(0).number(1).number(9).number(0).number(1).number(2).text("k");
  WireReader in(out.bytes());
  EXPECT_FALSE(read_activities(in));
}

TEST(EnvelopePass, OfAnHonestTrialSaysNothing) {
  EnvelopePass pass;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_TRUE(pass.add(call_of({kernel(100, 150, "a"),
                                  kernel(150, 200 + i, "b"),
                                  {Activity::Kind::fill, 90, 95, 0, ""}})));
  }
  EXPECT_THAT(pass.envelopes(), ElementsAre(111, 112, 113));
  EXPECT_EQ(pass.works_per_call(), 3u);
  EXPECT_THAT(pass.findings(), IsEmpty());
  const Trial trial = described(pass);
  EXPECT_EQ(trial.kernels_per_call, 2);
  EXPECT_FALSE(trial.kernel_set_varies);
  EXPECT_EQ(trial.activity_records, 9);
  EXPECT_EQ(trial.dropped_records, 0);
  EXPECT_THAT(trial.discards, IsEmpty());
}

TEST(EnvelopePass, SpoiledCallsAreDiscardedByName) {
  EnvelopePass pass;
  for (int i = 0; i < 97; ++i) pass.add(call_of({kernel(1, 2)}));
  EXPECT_FALSE(pass.add(call_of({kernel(1, 2)}, 4)));
  EXPECT_FALSE(pass.add(call_of({kernel(0, 0)})));
  EXPECT_THAT(pass.envelopes(), SizeIs(97));
  EXPECT_THAT(codes(pass.findings()), IsEmpty());  // below 5 %
  const Trial trial = described(pass);
  EXPECT_EQ(trial.dropped_records, 4);
  EXPECT_THAT(trial.discards, ElementsAre(Discards{Discards::Reason::cupti_record, 2}));
  for (int i = 0; i < 10; ++i) pass.add(call_of({}, 1));
  EXPECT_THAT(codes(pass.findings()), ElementsAre("CUPTI_DROPPED"));
}

// Never 0 ns: a latency of nothing is no latency.
TEST(EnvelopePass, CallsThatRunNothingAccuse) {
  EnvelopePass pass;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(pass.add(call_of({})));
  EXPECT_THAT(pass.envelopes(), IsEmpty());
  EXPECT_THAT(codes(pass.findings()), ElementsAre("NO_DEVICE_WORK"));
  EXPECT_EQ(pass.works_per_call(), 0u);
}

TEST(EnvelopePass, SkippedCallsShowInTheKernels) {
  EnvelopePass pass;
  for (int i = 0; i < 14; ++i) pass.add(call_of({}));
  pass.add(call_of({kernel(1, 2)}));
  EXPECT_THAT(codes(pass.findings()), ElementsAre("BATCH_SKIP", "NO_DEVICE_WORK"));
  EXPECT_TRUE(described(pass).kernel_set_varies);
}

TEST(EnvelopePass, OtherKernelsAndOtherStreamsAreNoted) {
  EnvelopePass pass;
  pass.add(call_of({kernel(1, 2, "a")}));
  pass.add(call_of({kernel(1, 2, "b"), kernel(2, 3, "a", 13)}));
  EXPECT_THAT(codes(pass.findings()), ElementsAre("KERNEL_SET_VARIES", "SIDE_STREAM"));
  EXPECT_TRUE(described(pass).kernel_set_varies);
  pass.clear();
  EXPECT_THAT(pass.findings(), IsEmpty());
  EXPECT_EQ(described(pass).activity_records, 0);
}

}  // namespace
}  // namespace kernelindex::runner
