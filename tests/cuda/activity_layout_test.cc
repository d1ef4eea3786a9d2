// SPDX-License-Identifier: Apache-2.0
// Our own layouts of CUPTI's records, and our table of it, against the toolkit's header and
// library.
#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "cuda/activity_recorder.h"
#include "cuda/activity_records.h"
#include "cuda/kernel_builder.h"

namespace kernelindex::runner {
namespace {

static_assert(CUPTI_SUCCESS == kCuptiSuccess);
static_assert(CUPTI_ERROR_MAX_LIMIT_REACHED == kCuptiNoMoreRecords);
static_assert(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == kCuptiForced);
static_assert(sizeof(CUpti_ActivityKind) == sizeof(std::uint32_t));

TEST(ActivityLayout, IsThatOfTheToolkit) {
  const auto check = [](CUpti_ActivityKind kind, const RecordLayout& want) {
    const RecordLayout* layout = layout_of(kind);
    ASSERT_NE(layout, nullptr) << kind;
    EXPECT_EQ(layout->start, want.start) << kind;
    EXPECT_EQ(layout->end, want.end) << kind;
    EXPECT_EQ(layout->correlation, want.correlation) << kind;
    EXPECT_EQ(layout->stream, want.stream) << kind;
    EXPECT_EQ(layout->name, want.name) << kind;
  };
  using Kernel = CUpti_ActivityKernel10;
  check(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        {RecordKind::kernel, offsetof(Kernel, start), offsetof(Kernel, end),
         offsetof(Kernel, correlationId), offsetof(Kernel, streamId), offsetof(Kernel, name)});
  using Copy = CUpti_ActivityMemcpy6;
  check(CUPTI_ACTIVITY_KIND_MEMCPY, {RecordKind::copy, offsetof(Copy, start), offsetof(Copy, end),
                                     offsetof(Copy, correlationId), offsetof(Copy, streamId), 0});
  using Peer = CUpti_ActivityMemcpyPtoP4;
  check(CUPTI_ACTIVITY_KIND_MEMCPY2,
        {RecordKind::peer_copy, offsetof(Peer, start), offsetof(Peer, end),
         offsetof(Peer, correlationId), offsetof(Peer, streamId), 0});
  using Fill = CUpti_ActivityMemset4;
  check(CUPTI_ACTIVITY_KIND_MEMSET, {RecordKind::fill, offsetof(Fill, start), offsetof(Fill, end),
                                     offsetof(Fill, correlationId), offsetof(Fill, streamId), 0});
  using Graph = CUpti_ActivityGraphTrace2;
  check(CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
        {RecordKind::graph, offsetof(Graph, start), offsetof(Graph, end),
         offsetof(Graph, correlationId), offsetof(Graph, streamId), 0});
  using Api = CUpti_ActivityAPI;
  for (const auto kind : {CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME}) {
    check(kind, {RecordKind::driver_call, offsetof(Api, start), offsetof(Api, end),
                 offsetof(Api, correlationId), 0, 0});
  }
}

TEST(ActivityLayout, OfARecordOfTheToolkitIsRead) {
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = 100;
  kernel.end = 250;
  kernel.correlationId = 9;
  kernel.streamId = 7;
  kernel.name = "gemm";
  RecordBatch batch;
  add_record(&kernel, 7, batch);
  ASSERT_EQ(batch.work.size(), 1u);
  EXPECT_EQ(batch.work[0].correlation, 9u);
  EXPECT_EQ(batch.work[0].activity.name, "gemm");
  EXPECT_EQ(batch.work[0].activity.start_ns, 100u);
  EXPECT_EQ(batch.work[0].activity.end_ns, 250u);
  EXPECT_EQ(batch.work[0].activity.stream, 0u);
}

TEST(CuptiTable, EverySymbolIsInTheLibrary) {
  const LoadedCupti loaded = load_cupti(find_toolchain().cuda_root);
  if (!loaded.library.loaded()) GTEST_SKIP() << "SKIPPED: no CUPTI: " << loaded.library.fault();
  for (const std::string& symbol : loaded.library.missing()) ADD_FAILURE() << symbol;
  std::uint32_t version = 0;
  EXPECT_EQ(loaded.cupti.version(&version), kCuptiSuccess);
  EXPECT_GT(version, 0u);
}

}  // namespace
}  // namespace kernelindex::runner
