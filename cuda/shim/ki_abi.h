// SPDX-License-Identifier: Apache-2.0
// ki-abi/1: what a shared object of a submission exports to be called by the runner. Plain C.
//
// Outputs are always given by the caller. Only `stream` is used; no allocation, synchronisation,
// threads, or writes outside of `out` and `ws`; 0 or a negative code comes back. Pointers are
// aligned to 256 bytes at least. Each call may bring other pointers and contents; the workspace is
// poisoned between calls. ki_prepare() is called once, before any data exists, and is not timed.
#ifndef KI_ABI_H
#define KI_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st* ki_stream;

typedef struct {
  void* data;
  int32_t dtype;  // DLPack: code << 8 | bits; float 2, bfloat 4, int 0, uint 1, bool 6
  int32_t ndim;
  int64_t shape[8];
  int64_t stride[8];  // in elements
  uint64_t bytes;
} ki_tensor;

typedef struct {
  int32_t kind;  // 0: v.f, 1: v.i
  union {
    double f;
    int64_t i;
  } v;
} ki_scalar;

typedef struct {
  uint32_t abi;
  int32_t sm;  // 90
  int32_t sm_count;
  uint32_t flags;
} ki_device;

int ki_abi_version(void);  // returns 1
uint64_t ki_workspace_bytes(const ki_tensor* in, int n_in, const ki_scalar* s, int n_s);
int ki_prepare(const ki_device* device);  // optional
int ki_run(const ki_tensor* in, int n_in, const ki_scalar* s, int n_s, ki_tensor* out, int n_out,
           void* ws, uint64_t ws_bytes, ki_stream stream);

// What the torch shim exports in their place; see ki_torch_shim.h.
typedef struct {
  int32_t kind;  // 0: tensor, 1: scalar
  ki_tensor tensor;
  ki_scalar scalar;
} ki_argument;

typedef struct {
  void* context;
  // Device memory of the runner, poisoned and counted; null when there is no more.
  void* (*allocate)(void* context, uint64_t bytes);
  ki_stream stream;
  int32_t device;
} ki_host;

#ifdef __cplusplus
}
#endif

#endif  // KI_ABI_H
