// SPDX-License-Identifier: Apache-2.0
#include "cuda/sentinel_kernels.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "cuda/child_service.h"
#include "cuda/wire_numbers.h"
#include "schema/statistics.h"

namespace kernelindex::runner {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksEach = 8;  // on each multiprocessor
constexpr float kFactor = 0.5F;      // chains of x = x/2 + 1/2 stay finite for ever

constexpr std::uint64_t SentinelSample::*kSeries[] = {
    &SentinelSample::launch_ns, &SentinelSample::bandwidth_ns, &SentinelSample::compute_ns,
    &SentinelSample::tensor_ns, &SentinelSample::sm_khz};
static_assert(std::size(kSeries) == kSentinelSeries);

// The sentinels of a process of their own.
class SentinelChild {
 public:
  std::string open(std::string_view image_path) {
    CudaDevice device = 0;
    if (std::string fault = open_device(loaded_, device); !fault.empty()) return fault;
    std::ifstream in(std::string(image_path), std::ios::binary);
    image_.assign(std::istreambuf_iterator<char>(in), {});
    const Result<RunnerKernels> kernels = load_runner_kernels(loaded_.driver, image_);
    if (!kernels) return kernels.error().text();
    SentinelSizes sizes;
    int processors = 0;
    loaded_.driver.device_attribute(&processors, kAttributeMultiprocessors, device);
    sizes.multiprocessors = static_cast<unsigned>(std::max(processors, 1));
    sentinels_ = std::make_unique<SentinelKernels>(loaded_.driver, *kernels);
    const Status done = sentinels_->prepare(sizes);
    return done ? std::string() : done.error().code + " " + done.error().message;
  }

  ChildAnswer sample() {
    const Result<SentinelSample> measured = sentinels_->measure();
    if (!measured) return {false, measured.error().code + " " + measured.error().message};
    return {true, encode_sentinel_sample(*measured)};
  }

 private:
  LoadedDriver loaded_;
  std::string image_;
  std::unique_ptr<SentinelKernels> sentinels_;
};

}  // namespace

SentinelKernels::SentinelKernels(const CudaDriver& driver, const RunnerKernels& kernels)
    : driver_(driver),
      kernels_(kernels),
      resources_(driver),
      hold_back_(driver, kernels.hold_back) {}

Status SentinelKernels::prepare(const SentinelSizes& sizes) {
  sizes_ = sizes;
  int error = kCudaSuccess;
  const LaunchSize whole{kBlocksEach * sizes.multiprocessors, kThreads};
  for (CudaPointer& array : arrays_) {
    array = resources_.memory(sizes.triad_bytes, error);
    if (array == 0) break;
    note_error(error, launch_kernel(driver_, kernels_.scatter, whole, array,
                                    std::uint64_t{sizes.triad_bytes / sizeof(float)},
                                    static_cast<unsigned>(&array - arrays_) + 1));
  }
  flush_ = resources_.memory(sizes.flush_bytes, error);
  sums_ = resources_.memory(std::size_t{whole.blocks} * whole.threads * sizeof(float), error);
  reading_ = resources_.memory(sizeof(ClockReading), error);
  begin_ = resources_.event(error);
  end_ = resources_.event(error);
  if (const Status done = hold_back_.prepare(); !done) return done;
  note_error(error, driver_.context_synchronize());
  return made_or_error(error, "the buffers of the sentinels");
}

// The window of a candidate, PROTOCOL section 8: flush, held-back queue, event, call, event.
template <typename Launch>
std::uint64_t SentinelKernels::window(const Launch& launch, int& error) {
  note_error(error, driver_.fill32(flush_, flush_value_++, sizes_.flush_bytes / 4));
  note_error(error, driver_.context_synchronize());
  note_error(error, hold_back_.begin());
  note_error(error, driver_.event_record(begin_, nullptr));
  note_error(error, launch());
  note_error(error, driver_.event_record(end_, nullptr));
  hold_back_.release();
  note_error(error, driver_.context_synchronize());
  return std::max<std::uint64_t>(elapsed_ns(driver_, begin_, end_, error), 1);
}

Result<SentinelSample> SentinelKernels::measure() {
  SentinelSample sample;
  int error = kCudaSuccess;
  const LaunchSize whole{kBlocksEach * sizes_.multiprocessors, kThreads};
  ClockReading reading;
  note_error(error, driver_.copy_to_device(reading_, &reading, sizeof reading));
  sample.launch_ns = window([&] { return launch_kernel(driver_, kernels_.nothing, {}); }, error);
  sample.bandwidth_ns = window(
      [&] {
        return launch_kernel(driver_, kernels_.triad, whole, arrays_[0], arrays_[1], arrays_[2],
                             3.0F, std::uint64_t{sizes_.triad_bytes / (4 * sizeof(float))});
      },
      error);
  sample.compute_ns = window(
      [&] {
        return launch_kernel(driver_, kernels_.multiply_add, whole, sums_, kFactor, kComputeRounds,
                             reading_);
      },
      error);
  sample.tensor_ns = window(
      [&] { return launch_kernel(driver_, kernels_.tensor_multiply, whole, sums_, kTensorRounds); },
      error);
  note_error(error, driver_.copy_to_host(&reading, reading_, sizeof reading));
  if (error != kCudaSuccess) {
    return fail(ErrorKind::system, "CUDA_ERROR", {},
                "a sentinel cannot be timed: CUDA error " + std::to_string(error));
  }
  const std::optional<std::uint64_t> khz = clock_khz(reading);
  if (!khz) {
    return fail(ErrorKind::system, "NO_CLOCK_READING", {},
                "no block of the compute sentinel read the clocks of multiprocessor 0");
  }
  sample.sm_khz = *khz;
  return sample;
}

std::optional<std::uint64_t> clock_khz(const ClockReading& reading) {
  // Above 2^43 cycles, more than an hour, the product below would not fit.
  if (reading.claimed == 0 || reading.ns == 0 || reading.cycles >> 43 != 0) return std::nullopt;
  const std::uint64_t khz = reading.cycles * 1'000'000 / reading.ns;
  if (khz == 0) return std::nullopt;
  return khz;
}

SentinelOutcome sentinel_outcome(ClockVariant clocks, const Digest& boot,
                                 std::span<const SentinelSample> samples) {
  SentinelOutcome outcome;
  outcome.session.boot = boot;
  outcome.session.clocks = clocks;
  outcome.session.repetitions = static_cast<std::int64_t>(samples.size());
  std::int64_t* const medians[] = {&outcome.session.launch_ns, &outcome.session.bandwidth_ns,
                                   &outcome.session.compute_ns, &outcome.session.tensor_ns,
                                   &outcome.session.sm_khz};
  for (std::size_t i = 0; i < kSentinelSeries; ++i) {
    Samples series;
    for (const SentinelSample& sample : samples) series.push_back(sample.*kSeries[i]);
    *medians[i] = static_cast<std::int64_t>(median_of(series));
    outcome.samples.insert(outcome.samples.end(), series.begin(), series.end());
  }
  return outcome;
}

std::string encode_sentinel_sample(const SentinelSample& sample) {
  WireWriter out;
  for (const auto series : kSeries) out.number(sample.*series);
  return out.bytes();
}

std::optional<SentinelSample> decode_sentinel_sample(std::string_view payload) {
  WireReader in(payload);
  SentinelSample sample;
  for (const auto series : kSeries) sample.*series = in.number();
  if (!in.finish()) return std::nullopt;
  return sample;
}

int sentinel_child_main() {
  SentinelChild child;
  return serve_parent({[&child](std::string_view path) { return child.open(path); },
                       {},
                       [&child](std::string_view) { return child.sample(); }});
}

}  // namespace kernelindex::runner
