// SPDX-License-Identifier: Apache-2.0
// The runner's own device code: sentinels (PROTOCOL section 6), the kernel that holds the queue back
// and the flush that reads (section 8). The runner carries this text and compiles it with NVRTC for
// the device it measures on; runner_kernels.h says how each kernel is launched.

__device__ unsigned long long now_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__device__ unsigned multiprocessor() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

// S0, and what the parent's clock is calibrated with: nothing.
extern "C" __global__ void ki_nothing() {}

// Numbers that differ, so that no memory compression makes a triad cheaper than it is.
extern "C" __global__ void ki_scatter(float* out, unsigned long long count, unsigned seed) {
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    unsigned word = static_cast<unsigned>(i) * 2654435761u + seed;
    word ^= word >> 15;
    word *= 2246822519u;
    out[i] = __uint_as_float(0x3f800000u | word >> 9);  // in [1, 2)
  }
}

// S1: a = b + s c, four numbers at a time. `count` in groups of four.
extern "C" __global__ void ki_triad(float4* a, const float4* b, const float4* c, float s,
                                    unsigned long long count) {
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const float4 x = b[i];
    const float4 y = c[i];
    a[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
  }
}

// What one block on multiprocessor 0 saw of its clocks. `claimed` must be 0 before the launch.
struct ClockReading {
  unsigned long long cycles;
  unsigned long long ns;
  unsigned claimed;
};

// S2: `rounds` times eight fused multiply-adds in four chains that depend on themselves. The factor
// comes from outside, so that nothing can be folded.
extern "C" __global__ void __launch_bounds__(256, 8)
    ki_multiply_add(float* out, float factor, unsigned rounds, ClockReading* reading) {
  const bool reads = multiprocessor() == 0 && threadIdx.x == 0;
  const unsigned long long ns = reads ? now_ns() : 0;
  const long long cycles = reads ? clock64() : 0;
  const float x = static_cast<float>(threadIdx.x);
  float chain[4] = {x, x + 1, x + 2, x + 3};
  for (unsigned i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) chain[j % 4] = fmaf(chain[j % 4], factor, 0.5f);
  }
  if (reads && atomicCAS(&reading->claimed, 0u, 1u) == 0u) {
    reading->cycles = static_cast<unsigned long long>(clock64() - cycles);
    reading->ns = now_ns() - ns;
  }
  out[1ull * blockIdx.x * blockDim.x + threadIdx.x] = chain[0] + chain[1] + chain[2] + chain[3];
}

// S2 on tensor cores: `rounds` times four products of 16 x 8 x 16 in bf16 with sums in fp32.
extern "C" __global__ void __launch_bounds__(256, 8)
    ki_tensor_multiply(float* out, unsigned rounds) {
  float sum[4][4] = {};
  // Ones and twos of bf16, another mixture in each thread.
  const unsigned a = threadIdx.x % 2 ? 0x3f803f80u : 0x40003f80u;
  const unsigned b = threadIdx.x % 3 ? 0x3f804000u : 0x3f803f80u;
  for (unsigned i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
          : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
          : "r"(a), "r"(b));
    }
  }
  float total = 0;
  for (int j = 0; j < 4; ++j) total += sum[j][0] + sum[j][1] + sum[j][2] + sum[j][3];
  out[1ull * blockIdx.x * blockDim.x + threadIdx.x] = total;
}

// Holds the queue back until the host writes a word, so that gaps of launching stay outside of the
// window; gives up by itself after `limit_ns`, because a call that waits for the device would wait
// for ever. state[0]: the host lets go. state[1]: it took too long.
extern "C" __global__ void ki_hold_back(volatile unsigned* state, unsigned long long limit_ns) {
  const unsigned long long begin = now_ns();
  while (state[0] == 0) {
    if (now_ns() - begin > limit_ns) {
      state[1] = 1;
      __threadfence_system();
      return;
    }
  }
}

// The flush that leaves no dirty lines: reads `count` groups of four words. Nothing is ever written
// unless the sum is one that the host never puts there.
extern "C" __global__ void ki_read_all(const uint4* from, unsigned long long count, unsigned* sink) {
  unsigned sum = 0;
  const unsigned long long step = 1ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 1ull * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 words = from[i];
    sum |= words.x | words.y | words.z | words.w;
  }
  if (sum == 0xffffffffu) *sink = sum;
}
