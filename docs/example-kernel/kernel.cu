// RMSNorm over rows of 4,096 bf16 values, for ki-abi/1: one block a row, sums in fp32.
#include <cuda_bf16.h>
#include <ki_abi.h>

namespace {

constexpr int kHidden = 4096;
constexpr int kThreads = 256;
constexpr float kEpsilon = 1e-5f;

__global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* y) {
  __shared__ float partial[kThreads / 32];
  const __nv_bfloat16* row = x + static_cast<long long>(blockIdx.x) * kHidden;
  float sum = 0;
  for (int i = threadIdx.x; i < kHidden; i += kThreads) {
    const float value = __bfloat162float(row[i]);
    sum += value * value;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  float total = 0;
  for (float part : partial) total += part;
  const float scale = rsqrtf(total / kHidden + kEpsilon);
  for (int i = threadIdx.x; i < kHidden; i += kThreads) {
    const float normed = __bfloat162float(row[i]) * scale;
    y[static_cast<long long>(blockIdx.x) * kHidden + i] =
        __float2bfloat16(normed * __bfloat162float(weight[i]));
  }
}

}  // namespace

extern "C" int ki_abi_version(void) { return 1; }
extern "C" uint64_t ki_workspace_bytes(const ki_tensor*, int, const ki_scalar*, int) { return 0; }
extern "C" int ki_run(const ki_tensor* in, int, const ki_scalar*, int, ki_tensor* out, int, void*,
                      uint64_t, ki_stream stream) {
  rmsnorm<<<static_cast<unsigned>(in[0].shape[0]), kThreads, 0,
            reinterpret_cast<cudaStream_t>(stream)>>>(
      static_cast<const __nv_bfloat16*>(in[0].data),
      static_cast<const __nv_bfloat16*>(in[1].data), static_cast<__nv_bfloat16*>(out[0].data));
  return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
