// SPDX-License-Identifier: Apache-2.0
// torch-shim/1: enough of the C++ face of PyTorch to build public `binding: "torch"` CUDA solutions
// unmodified, without PyTorch. REFERENCES section 4.3.
//
// Tensors are dense, row-major views of device memory of the runner. torch::empty and empty_like take
// memory from the runner inside the timed call. The stream is the one that the runner gives: the
// legacy default stream. What is not here is an adapter gap, never a fault of the solution.
#ifndef KI_TORCH_SHIM_H
#define KI_TORCH_SHIM_H

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ki_abi.h>

namespace c10 {

struct Half {
  uint16_t x;
};
struct BFloat16 {
  uint16_t x;
};

enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16 };
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kCPU = DeviceType::CPU;

struct Device {
  DeviceType type_ = DeviceType::CUDA;
  int8_t index_ = 0;
  Device() = default;
  Device(DeviceType type, int8_t index = 0) : type_(type), index_(index) {}
  int8_t index() const { return index_; }
  DeviceType type() const { return type_; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }
  bool operator!=(const Device& other) const { return !(*this == other); }
};

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What torch calls caffe2::TypeMeta: comparable with a ScalarType.
struct TypeMeta {
  ScalarType type;
  operator ScalarType() const { return type; }
};
inline bool operator==(const TypeMeta& a, const TypeMeta& b) { return a.type == b.type; }
inline bool operator==(const TypeMeta& a, ScalarType b) { return a.type == b; }
inline bool operator!=(const TypeMeta& a, ScalarType b) { return a.type != b; }
inline std::ostream& operator<<(std::ostream& out, ScalarType type) { return out << int(type); }
inline std::ostream& operator<<(std::ostream& out, const TypeMeta& type) { return out << type.type; }

// A view of a list of extents.
class IntArrayRef {
 public:
  IntArrayRef() = default;
  IntArrayRef(const std::vector<int64_t>& values) : data_(values.data()), size_(values.size()) {}
  IntArrayRef(std::initializer_list<int64_t> values) : data_(values.begin()), size_(values.size()) {}
  IntArrayRef(const int64_t* data, size_t size) : data_(data), size_(size) {}
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t at) const { return data_[at]; }
  std::vector<int64_t> vec() const { return {begin(), end()}; }
  bool operator==(const IntArrayRef& other) const {
    return size_ == other.size_ && std::equal(begin(), end(), other.begin());
  }
  bool operator!=(const IntArrayRef& other) const { return !(*this == other); }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, const IntArrayRef& list) {
  out << '[';
  for (size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  return out << ']';
}

}  // namespace c10

namespace ki_shim {

inline ki_host& host() {
  static ki_host bound{};
  return bound;
}

inline int64_t size_of(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Byte:
    case c10::ScalarType::Char:
    case c10::ScalarType::Bool:
      return 1;
    case c10::ScalarType::Short:
    case c10::ScalarType::Half:
    case c10::ScalarType::BFloat16:
      return 2;
    case c10::ScalarType::Int:
    case c10::ScalarType::Float:
      return 4;
    default:
      return 8;
  }
}

inline int32_t dlpack(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Byte:
      return 1 << 8 | 8;
    case c10::ScalarType::Char:
      return 8;
    case c10::ScalarType::Short:
      return 16;
    case c10::ScalarType::Int:
      return 32;
    case c10::ScalarType::Long:
      return 64;
    case c10::ScalarType::Half:
      return 2 << 8 | 16;
    case c10::ScalarType::Float:
      return 2 << 8 | 32;
    case c10::ScalarType::Double:
      return 2 << 8 | 64;
    case c10::ScalarType::Bool:
      return 6 << 8 | 8;
    default:
      return 4 << 8 | 16;
  }
}

inline c10::ScalarType from_dlpack(int32_t code) {
  for (int type = 0; type <= int(c10::ScalarType::BFloat16); ++type) {
    if (dlpack(c10::ScalarType(type)) == code) return c10::ScalarType(type);
  }
  throw c10::Error("torch-shim: a tensor of a type that the shim does not know");
}

template <typename... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream out;
  (void)std::initializer_list<int>{((out << parts), 0)...};
  return out.str();
}

}  // namespace ki_shim

namespace at {

using c10::BFloat16;
using c10::Device;
using c10::Half;
using c10::IntArrayRef;
using c10::ScalarType;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short,
                     kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half,
                     kFloat = ScalarType::Float, kDouble = ScalarType::Double,
                     kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr c10::DeviceType kCUDA = c10::kCUDA;
constexpr c10::DeviceType kCPU = c10::kCPU;

class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(c10::DeviceType device) : device_(device) {}
  TensorOptions(Device device) : device_(device) {}
  TensorOptions dtype(ScalarType type) const {
    TensorOptions changed = *this;
    changed.type_ = type;
    return changed;
  }
  TensorOptions device(Device device) const {
    TensorOptions changed = *this;
    changed.device_ = device;
    return changed;
  }
  TensorOptions device(c10::DeviceType type, int8_t index = 0) const {
    return device(Device(type, index));
  }
  ScalarType type() const { return type_; }
  Device device() const { return device_; }

 private:
  ScalarType type_ = ScalarType::Float;
  Device device_;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(void* data, ScalarType type, std::vector<int64_t> sizes)
      : data_(data), type_(type), sizes_(std::move(sizes)), strides_(sizes_.size(), 1) {
    for (size_t i = sizes_.size(); i > 1; --i) strides_[i - 2] = strides_[i - 1] * sizes_[i - 1];
  }
  bool defined() const { return data_ != nullptr || !sizes_.empty(); }
  int64_t dim() const { return int64_t(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t size(int64_t at) const { return sizes_.at(size_t(at < 0 ? at + dim() : at)); }
  int64_t stride(int64_t at) const { return strides_.at(size_t(at < 0 ? at + dim() : at)); }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t extent : sizes_) count *= extent;
    return count;
  }
  int64_t element_size() const { return ki_shim::size_of(type_); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return size_t(numel() * element_size()); }
  c10::TypeMeta dtype() const { return {type_}; }
  ScalarType scalar_type() const { return type_; }
  TensorOptions options() const { return TensorOptions(type_); }
  Device device() const { return Device(c10::kCUDA, int8_t(ki_shim::host().device)); }
  int64_t get_device() const { return ki_shim::host().device; }
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  bool is_contiguous() const { return true; }
  Tensor contiguous() const { return *this; }
  Tensor view(IntArrayRef sizes) const { return reshape(sizes); }
  Tensor reshape(IntArrayRef sizes) const {
    std::vector<int64_t> shape = sizes.vec();
    int64_t known = 1;
    for (int64_t extent : shape) known *= extent < 0 ? 1 : extent;
    for (int64_t& extent : shape) {
      if (extent < 0) extent = known == 0 ? 0 : numel() / known;
    }
    Tensor viewed(data_, type_, std::move(shape));
    if (viewed.numel() != numel()) throw c10::Error("torch-shim: a view of another size");
    return viewed;
  }
  void* data_ptr() const { return data_; }
  template <typename T>
  T* data_ptr() const {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* const_data_ptr() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  ScalarType type_ = ScalarType::Float;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
};

inline Tensor empty(IntArrayRef sizes, const TensorOptions& options = {}) {
  Tensor shape(nullptr, options.type(), sizes.vec());
  void* data = ki_shim::host().allocate(ki_shim::host().context, shape.nbytes());
  if (data == nullptr) throw c10::Error("torch-shim: the runner has no more memory to give");
  return Tensor(data, options.type(), sizes.vec());
}
inline Tensor empty_like(const Tensor& like) { return empty(like.sizes(), like.options()); }
inline Tensor empty_like(const Tensor& like, const TensorOptions& options) {
  return empty(like.sizes(), options);
}

namespace cuda {
struct CUDAStream {
  cudaStream_t stream_;
  operator cudaStream_t() const { return stream_; }
  cudaStream_t stream() const { return stream_; }
};
inline CUDAStream getCurrentCUDAStream(int8_t = -1) {
  return {reinterpret_cast<cudaStream_t>(ki_shim::host().stream)};
}
inline CUDAStream getDefaultCUDAStream(int8_t = -1) { return getCurrentCUDAStream(); }

// One device: there is nothing to switch.
struct CUDAGuard {
  explicit CUDAGuard(c10::Device) {}
  explicit CUDAGuard(int) {}
  ~CUDAGuard() {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() {}
  explicit OptionalCUDAGuard(c10::Device) {}
  ~OptionalCUDAGuard() {}
};

inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp read{};
    cudaGetDeviceProperties(&read, ki_shim::host().device);
    return read;
  }();
  return &properties;
}
}  // namespace cuda

}  // namespace at

namespace c10 {
namespace cuda {
using at::cuda::CUDAGuard;
using at::cuda::CUDAStream;
using at::cuda::getCurrentCUDAStream;
using at::cuda::getDefaultCUDAStream;
using at::cuda::OptionalCUDAGuard;
}  // namespace cuda
}  // namespace c10

namespace torch {
using at::BFloat16;
using at::Half;
using at::IntArrayRef;
using at::ScalarType;
using at::Tensor;
using at::TensorOptions;
using at::empty;
using at::empty_like;
using c10::Device;
constexpr ScalarType kUInt8 = ScalarType::Byte, kInt8 = ScalarType::Char, kInt16 = ScalarType::Short,
                     kInt32 = ScalarType::Int, kInt64 = ScalarType::Long, kFloat16 = ScalarType::Half,
                     kFloat32 = ScalarType::Float, kFloat64 = ScalarType::Double;
using at::kBFloat16;
using at::kBool;
using at::kCPU;
using at::kCUDA;
using at::kDouble;
using at::kFloat;
using at::kHalf;
using at::kInt;
using at::kLong;
inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
}  // namespace torch

#define TORCH_CHECK(condition, ...)                                                     \
  do {                                                                                  \
    if (!(condition)) throw c10::Error(ki_shim::join("" __VA_OPT__(, ) __VA_ARGS__));   \
  } while (0)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_CUDA_CHECK(call)                                                             \
  do {                                                                                  \
    const cudaError_t ki_error = (call);                                                \
    if (ki_error != cudaSuccess) throw c10::Error(cudaGetErrorString(ki_error));        \
  } while (0)
#define C10_CUDA_CHECK(call) AT_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() AT_CUDA_CHECK(cudaGetLastError())

namespace ki_shim {

using Arguments = const ki_argument*;
using Returned = std::vector<at::Tensor>;

// A letter for each type of a signature: T tensor, d number, i integer, b truth, v nothing.
template <typename T, typename = void>
struct Take;
template <>
struct Take<at::Tensor> {
  static constexpr char letter = 'T';
  static at::Tensor from(const ki_argument& argument) {
    const ki_tensor& t = argument.tensor;
    return at::Tensor(t.data, from_dlpack(t.dtype), {t.shape, t.shape + t.ndim});
  }
};
template <typename T>
struct Take<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static constexpr char letter = std::is_same_v<T, bool> ? 'b' : std::is_integral_v<T> ? 'i' : 'd';
  static T from(const ki_argument& argument) {
    return argument.scalar.kind == 0 ? static_cast<T>(argument.scalar.v.f)
                                     : static_cast<T>(argument.scalar.v.i);
  }
};

inline void give(Returned& out, const at::Tensor& tensor) { out.push_back(tensor); }
inline void give(Returned& out, const std::vector<at::Tensor>& tensors) {
  out.insert(out.end(), tensors.begin(), tensors.end());
}
template <typename... T>
void give(Returned& out, const std::tuple<T...>& tensors) {
  std::apply([&out](const auto&... each) { (give(out, each), ...); }, tensors);
}

struct Entry {
  std::string signature;  // what comes back, then the arguments
  std::function<void(Arguments, Returned&)> call;
};
inline std::map<std::string, Entry>& entries() {
  static std::map<std::string, Entry> all;
  return all;
}

template <typename R, typename... A, size_t... I>
Entry make_entry(R (*function)(A...), std::index_sequence<I...>) {
  Entry entry;
  entry.signature = std::string(1, std::is_void_v<R> ? 'v' : 'T');
  (void)std::initializer_list<int>{((entry.signature += Take<std::decay_t<A>>::letter), 0)...};
  entry.call = [function](Arguments arguments, Returned& out) {
    (void)arguments;
    // Named, so that a parameter by reference has something to refer to.
    std::tuple<std::decay_t<A>...> taken{Take<std::decay_t<A>>::from(arguments[I])...};
    if constexpr (std::is_void_v<R>) {
      function(std::get<I>(taken)...);
    } else {
      give(out, function(std::get<I>(taken)...));
    }
  };
  return entry;
}

struct Module {
  template <typename R, typename... A, typename... Rest>
  Module& def(const char* name, R (*function)(A...), const Rest&...) {
    entries()[name] = make_entry(function, std::index_sequence_for<A...>{});
    return *this;
  }
  const char*& doc() {
    static const char* text = "";
    return text;
  }
};

}  // namespace ki_shim

namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <typename T>
  arg& operator=(const T&) {
    return *this;
  }
};
}  // namespace pybind11
namespace py = pybind11;

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME ki_extension
#endif
#define PYBIND11_MODULE(name, variable)                                                       \
  static void ki_shim_register(ki_shim::Module& variable);                                    \
  static const bool ki_shim_registered = [] {                                                 \
    ki_shim::Module module;                                                                   \
    ki_shim_register(module);                                                                 \
    return true;                                                                              \
  }();                                                                                        \
  static void ki_shim_register(ki_shim::Module& variable)

#define KI_SHIM_EXPORT extern "C" __attribute__((weak, visibility("default"), used))

KI_SHIM_EXPORT int ki_shim_version() { return 1; }
KI_SHIM_EXPORT void ki_shim_bind(const ki_host* host) { ki_shim::host() = *host; }
// "TTT" for a function of two tensors that gives one; null when there is none of that name.
KI_SHIM_EXPORT const char* ki_shim_signature(const char* function) {
  const auto found = ki_shim::entries().find(function);
  return found == ki_shim::entries().end() ? nullptr : found->second.signature.c_str();
}
// 0; or -1 and a text in `error`. `out` takes at most `most` returned tensors; `*count` says how many
// there were.
KI_SHIM_EXPORT int ki_shim_call(const char* function, const ki_argument* arguments, ki_tensor* out,
                                int most, int* count, char* error, uint64_t error_bytes) {
  const auto found = ki_shim::entries().find(function);
  try {
    if (found == ki_shim::entries().end()) throw c10::Error("no such function");
    ki_shim::Returned returned;
    found->second.call(arguments, returned);
    *count = int(returned.size());
    for (int i = 0; i < most && i < *count; ++i) {
      const at::Tensor& tensor = returned[size_t(i)];
      out[i] = ki_tensor{};
      out[i].data = tensor.data_ptr();
      out[i].dtype = ki_shim::dlpack(tensor.scalar_type());
      out[i].ndim = int32_t(tensor.dim());
      for (int64_t d = 0; d < tensor.dim() && d < 8; ++d) {
        out[i].shape[d] = tensor.size(d);
        out[i].stride[d] = tensor.stride(d);
      }
      out[i].bytes = tensor.nbytes();
    }
    return 0;
  } catch (const std::exception& what) {
    std::snprintf(error, error_bytes, "%s", what.what());
  } catch (...) {
    std::snprintf(error, error_bytes, "an exception of no known type");
  }
  return -1;
}

#endif  // KI_TORCH_SHIM_H
