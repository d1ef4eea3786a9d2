// SPDX-License-Identifier: Apache-2.0
#include "cuda/measuring_child.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "cuda/activity_recorder.h"
#include "cuda/child_service.h"
#include "cuda/sandbox.h"
#include "cuda/shim/ki_abi.h"
#include "cuda/wire_numbers.h"

namespace kernelindex::runner {
namespace {

constexpr std::uint64_t kMostItems = 64;
constexpr std::uint64_t kMostSlots = 64;
constexpr std::uint64_t kMostLaunches = 10'000;

void write_tensor(WireWriter& out, const ChildTensor& tensor) {
  out.number(tensor.scalar ? 1 : 0).real(tensor.value).signed_number(tensor.dtype);
  out.number(tensor.bytes).number(tensor.shape.size());
  for (const std::int64_t extent : tensor.shape) out.signed_number(extent);
}

ChildTensor read_tensor(WireReader& in) {
  ChildTensor tensor;
  tensor.scalar = in.number() != 0;
  tensor.value = in.real();
  tensor.dtype = static_cast<std::int32_t>(in.signed_number());
  tensor.bytes = in.number();
  const std::uint64_t dimensions = std::min<std::uint64_t>(in.count(), 8);
  for (std::uint64_t i = 0; i < dimensions; ++i) tensor.shape.push_back(in.signed_number());
  return tensor;
}

// What the artifact exports.
struct Exports {
  int (*abi_version)() = nullptr;
  int (*prepare)(const ki_device*) = nullptr;
  std::uint64_t (*workspace)(const ki_tensor*, int, const ki_scalar*, int) = nullptr;
  int (*run)(const ki_tensor*, int, const ki_scalar*, int, ki_tensor*, int, void*, std::uint64_t,
             ki_stream) = nullptr;
  void (*shim_bind)(const ki_host*) = nullptr;
  const char* (*shim_signature)(const char*) = nullptr;
  int (*shim_call)(const char*, const ki_argument*, ki_tensor*, int, int*, char*,
                   std::uint64_t) = nullptr;
};

ki_tensor to_abi(const ChildTensor& tensor, CudaPointer at) {
  ki_tensor out{};
  out.data = reinterpret_cast<void*>(at);
  out.dtype = tensor.dtype;
  out.ndim = static_cast<std::int32_t>(tensor.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    out.shape[i] = tensor.shape[i];
    out.stride[i] = stride;
    stride *= tensor.shape[i];
  }
  out.bytes = tensor.bytes;
  return out;
}

// One artifact on one device.
class Child {
 public:
  // The device, the runner's own kernels, memory, CUPTI. Nothing, or "CODE text".
  std::string open(const ChildLoad& load) {
    load_ = load;
    if (std::string fault = start_recorder(); !fault.empty()) return fault;
    if (std::string fault = open_device(driver_, device_); !fault.empty()) return fault;
    session_ = std::make_unique<DeviceSession>(driver_.driver);
    if (std::string fault = load_kernels(); !fault.empty()) return fault;
    if (std::string fault = prove_recorder(); !fault.empty()) return fault;
    std::vector<std::size_t> inputs;
    std::vector<std::size_t> outputs;
    for (const ChildTensor& tensor : load_.inputs) {
      if (!tensor.scalar) inputs.push_back(tensor.bytes);
    }
    for (const ChildTensor& tensor : load_.outputs) outputs.push_back(tensor.bytes);
    if (const Status done = session_->prepare(inputs, outputs, load_.workspace_bytes); !done) {
      return wire(done.error());
    }
    return {};
  }

  // The artifact: from here on there may be code of others. Nothing, or "CODE text".
  std::string load() {
    if (!forbid_new_processes()) return "NO_SANDBOX the filter of system calls cannot be put on";
    return load_.binding == ChildLoad::Binding::ki_kernel ? load_image() : load_library();
  }

  // A report, or nothing when the request makes no sense.
  std::optional<SampleReport> sample(const ChildSample& sample) {
    const std::uint64_t number = sample.number;
    switch (sample.what) {
      case ChildSample::What::timed:
        return timed(sample.plan);
      case ChildSample::What::empty_window:
        return session_->empty_window(sample.plan.blocking);
      case ChildSample::What::make_slots:
        return number <= kMostSlots ? make_slots(number) : std::nullopt;
      case ChildSample::What::fill_slot:
        return number < session_->slots() ? fill_slot(number) : std::nullopt;
      case ChildSample::What::read_slot:
        return number < session_->slots() ? read_slot(number) : std::nullopt;
      case ChildSample::What::run_slots:
        if (session_->slots() == 0) return std::nullopt;
        return session_->run_slots(number, [this](CallBuffers& buffers) { return call(buffers); });
      case ChildSample::What::run_nothing:
        if (session_->slots() == 0 || sample.launches > kMostLaunches) return std::nullopt;
        return run_nothing(number, sample.launches);
    }
    return std::nullopt;
  }

  // What CUPTI saw of the last call; nothing when it does not record.
  CallActivities take_activities() {
    if (!recorder_) return {};
    const auto [begin, end] = std::exchange(marks_, {});
    return recorder_->take(begin, end);
  }

 private:
  std::optional<SampleReport> timed(const SamplePlan& plan) {
    std::vector<std::string> inputs;
    if (!read_inputs(inputs)) return std::nullopt;
    std::vector<std::string> outputs;
    const SampleReport report = session_->run(
        plan, inputs, outputs, [this](CallBuffers& buffers) { return call(buffers); });
    if (!write_outputs(outputs)) return std::nullopt;
    return report;
  }

  std::optional<SampleReport> make_slots(std::uint64_t count) {
    SampleReport report;
    if (!session_->make_slots(count)) report.cuda_error = kCudaOutOfMemory;
    return report;
  }

  std::optional<SampleReport> fill_slot(std::uint64_t slot) {
    std::vector<std::string> inputs;
    if (!read_inputs(inputs)) return std::nullopt;
    return session_->fill_slot(slot, inputs);
  }

  std::optional<SampleReport> read_slot(std::uint64_t slot) {
    std::vector<std::string> outputs;
    const SampleReport report = session_->read_slot(slot, outputs);
    if (!write_outputs(outputs)) return std::nullopt;
    return report;
  }

  // What a call costs but for its work: its launches, and the memory that it asks for.
  SampleReport run_nothing(std::uint64_t calls, std::uint64_t launches) {
    const std::vector<std::size_t> asked = session_->asked();
    return session_->run_slots(calls, [&](CallBuffers&) {
      int error = kCudaSuccess;
      for (const std::size_t bytes : asked) session_->give(bytes);
      for (std::uint64_t i = 0; i < launches; ++i) {
        note_error(error, launch_kernel(driver_.driver, kernels_.nothing, {}));
      }
      return error;
    });
  }

  bool read_inputs(std::vector<std::string>& inputs) const {
    off_t at = 0;
    for (const ChildTensor& tensor : load_.inputs) {
      if (tensor.scalar) continue;
      std::string bytes(tensor.bytes, '\0');
      if (::pread(kInputDescriptor, bytes.data(), bytes.size(), at) !=
          static_cast<ssize_t>(bytes.size())) {
        return false;
      }
      at += static_cast<off_t>(bytes.size());
      inputs.push_back(std::move(bytes));
    }
    return true;
  }

  static bool write_outputs(const std::vector<std::string>& outputs) {
    off_t at = 0;
    for (const std::string& bytes : outputs) {
      if (::pwrite(kOutputDescriptor, bytes.data(), bytes.size(), at) !=
          static_cast<ssize_t>(bytes.size())) {
        return false;
      }
      at += static_cast<off_t>(bytes.size());
    }
    return true;
  }

  static std::string wire(const Error& error) { return error.code + " " + error.message; }

  // CUPTI, where it is asked for: before there is a context.
  std::string start_recorder() {
    if (load_.cuda_root.empty()) return {};
    cupti_ = load_cupti(load_.cuda_root);
    if (!cupti_.usable()) return "CUPTI_UNAVAILABLE " + cupti_.library.fault();
    recorder_ = std::make_unique<ActivityRecorder>();
    const Status started = recorder_->start(cupti_.cupti);
    return started ? std::string() : wire(started.error());
  }

  std::string prove_recorder() {
    if (!recorder_) return {};
    if (kernels_.nothing == nullptr) return "CUPTI_UNAVAILABLE without the runner's own kernels";
    Status done = recorder_->find_default_stream();
    if (done) done = recorder_->prove(driver_.driver, kernels_.nothing);
    return done ? std::string() : wire(done.error());
  }

  // Nothing, or "CODE text".
  std::string load_kernels() {
    if (load_.kernels_image.empty()) return {};
    own_image_ = read_whole(load_.kernels_image);
    const Result<RunnerKernels> kernels = load_runner_kernels(driver_.driver, own_image_);
    if (!kernels) return wire(kernels.error());
    kernels_ = *kernels;
    const Status used = session_->use(kernels_);
    return used ? std::string() : wire(used.error());
  }

  static std::string read_whole(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string load_image() {
    image_ = read_whole(load_.artifact);
    CudaModule module = nullptr;
    if (const int error = driver_.driver.module_load(&module, image_.data());
        error != kCudaSuccess) {
      return "UNLOADABLE the image cannot be loaded: CUDA error " + std::to_string(error);
    }
    for (const ChildKernel& kernel : load_.kernels) {
      CudaFunction function = nullptr;
      if (driver_.driver.module_function(&function, module, kernel.symbol.c_str()) !=
          kCudaSuccess) {
        return "MISSING_SYMBOL " + kernel.symbol;
      }
      if (kernel.shared_bytes > 48 * 1024 &&
          driver_.driver.function_attribute(function, kFunctionMaxDynamicShared,
                                            static_cast<int>(kernel.shared_bytes)) !=
              kCudaSuccess) {
        return "LAUNCH_LIMIT shared memory";
      }
      functions_.push_back(function);
    }
    return {};
  }

  std::string load_library() {
    void* handle = ::dlopen(load_.artifact.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = ::dlerror();
      return std::string("UNLOADABLE ") + (why != nullptr ? why : "");
    }
    const auto find = [handle](auto*& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    };
    if (load_.binding == ChildLoad::Binding::torch) {
      find(exports_.shim_bind, "ki_shim_bind");
      find(exports_.shim_signature, "ki_shim_signature");
      find(exports_.shim_call, "ki_shim_call");
      if (exports_.shim_bind == nullptr || exports_.shim_signature == nullptr ||
          exports_.shim_call == nullptr) {
        return "ADAPTER_GAP the artifact does not speak torch-shim/1";
      }
      const ki_host host{this, &Child::give, nullptr, device_};
      exports_.shim_bind(&host);
      return check_signature();
    }
    find(exports_.abi_version, "ki_abi_version");
    find(exports_.prepare, "ki_prepare");
    find(exports_.run, "ki_run");
    if (exports_.abi_version == nullptr || exports_.run == nullptr || exports_.abi_version() != 1) {
      return "MISSING_SYMBOL ki_run of ki-abi/1";
    }
    int major = 0;
    int minor = 0;
    int processors = 0;
    driver_.driver.device_attribute(&major, kAttributeMajor, device_);
    driver_.driver.device_attribute(&minor, kAttributeMinor, device_);
    driver_.driver.device_attribute(&processors, kAttributeMultiprocessors, device_);
    const ki_device described{1, major * 10 + minor, processors, 0};
    if (exports_.prepare != nullptr && exports_.prepare(&described) != 0) {
      return "PREPARE_FAILED ki_prepare";
    }
    return {};
  }

  // The function must take what the definition has: its inputs, and its outputs when they are
  // given.
  std::string check_signature() const {
    const char* found = exports_.shim_signature(load_.symbol.c_str());
    if (found == nullptr) return "MISSING_SYMBOL " + load_.symbol;
    const std::string signature = found;
    const std::size_t wanted =
        load_.inputs.size() + (load_.destination_passing ? load_.outputs.size() : 0);
    if (signature.size() - 1 != wanted || (signature[0] == 'v') != load_.destination_passing) {
      return "WRONG_SIGNATURE " + signature;
    }
    for (std::size_t i = 0; i < load_.inputs.size(); ++i) {
      if ((signature[i + 1] == 'T') == load_.inputs[i].scalar)
        return "WRONG_SIGNATURE " + signature;
    }
    return {};
  }

  static void* give(void* context, std::uint64_t bytes) {
    return reinterpret_cast<void*>(static_cast<Child*>(context)->session_->give(bytes));
  }

  // The submission's function, between two marks on CUPTI's clock when it records.
  int call(CallBuffers& buffers) {
    if (!recorder_) return call_bound(buffers);
    const std::uint64_t begin = recorder_->now();
    const int result = call_bound(buffers);
    marks_ = {begin, recorder_->now()};
    return result;
  }

  int call_bound(CallBuffers& buffers) {
    switch (load_.binding) {
      case ChildLoad::Binding::torch:
        return call_shim(buffers);
      case ChildLoad::Binding::ki_abi:
        return call_abi(buffers);
      case ChildLoad::Binding::ki_kernel:
        return launch_all(buffers);
    }
    return -1;
  }

  int call_shim(CallBuffers& buffers) {
    std::vector<ki_argument> arguments;
    std::size_t tensor = 0;
    for (const ChildTensor& input : load_.inputs) {
      ki_argument argument{};
      if (input.scalar) {
        argument.kind = 1;
        argument.scalar.v.f = input.value;
      } else {
        argument.tensor = to_abi(input, buffers.inputs[tensor++]);
      }
      arguments.push_back(argument);
    }
    if (load_.destination_passing) {
      for (std::size_t i = 0; i < load_.outputs.size(); ++i) {
        ki_argument argument{};
        argument.tensor = to_abi(load_.outputs[i], buffers.outputs[i]);
        arguments.push_back(argument);
      }
    }
    std::array<ki_tensor, kMostItems> returned{};
    int count = 0;
    std::array<char, 512> error{};
    const int result =
        exports_.shim_call(load_.symbol.c_str(), arguments.data(), returned.data(),
                           static_cast<int>(returned.size()), &count, error.data(), error.size());
    if (result != 0 || load_.destination_passing) return result;
    if (static_cast<std::size_t>(count) != load_.outputs.size()) return -2;
    for (std::size_t i = 0; i < load_.outputs.size(); ++i) {
      const ki_tensor expected = to_abi(load_.outputs[i], 0);
      if (returned[i].ndim != expected.ndim ||
          !std::equal(expected.shape, expected.shape + expected.ndim, returned[i].shape)) {
        return -3;
      }
      if (returned[i].dtype != expected.dtype) return -4;
      buffers.outputs[i] = reinterpret_cast<CudaPointer>(returned[i].data);
    }
    return 0;
  }

  int call_abi(CallBuffers& buffers) {
    std::vector<ki_tensor> inputs;
    std::vector<ki_scalar> scalars;
    for (const ChildTensor& input : load_.inputs) {
      if (input.scalar) {
        ki_scalar scalar{};
        scalar.v.f = input.value;
        scalars.push_back(scalar);
      } else {
        inputs.push_back(to_abi(input, buffers.inputs[inputs.size()]));
      }
    }
    std::vector<ki_tensor> outputs;
    for (std::size_t i = 0; i < load_.outputs.size(); ++i) {
      outputs.push_back(to_abi(load_.outputs[i], buffers.outputs[i]));
    }
    return exports_.run(inputs.data(), static_cast<int>(inputs.size()), scalars.data(),
                        static_cast<int>(scalars.size()), outputs.data(),
                        static_cast<int>(outputs.size()),
                        reinterpret_cast<void*>(buffers.workspace), load_.workspace_bytes, nullptr);
  }

  int launch_all(CallBuffers& buffers) {
    for (std::size_t i = 0; i < load_.kernels.size(); ++i) {
      const ChildKernel& kernel = load_.kernels[i];
      std::vector<std::array<char, 8>> values(kernel.arguments.size());
      std::vector<void*> pointers;
      for (std::size_t j = 0; j < kernel.arguments.size(); ++j) {
        put_argument(kernel.arguments[j], buffers, values[j]);
        pointers.push_back(values[j].data());
      }
      const auto size = [](std::uint64_t value) { return static_cast<unsigned>(value); };
      const int error = driver_.driver.launch(
          functions_[i], size(kernel.grid[0]), size(kernel.grid[1]), size(kernel.grid[2]),
          size(kernel.block[0]), size(kernel.block[1]), size(kernel.block[2]),
          size(kernel.shared_bytes), nullptr, pointers.data(), nullptr);
      if (error != kCudaSuccess) return error;
    }
    return 0;
  }

  static void put_argument(const ChildArgument& argument, const CallBuffers& buffers,
                           std::array<char, 8>& out) {
    const auto put = [&out](const auto& value) { std::memcpy(out.data(), &value, sizeof value); };
    switch (argument.kind) {
      case ChildArgument::Kind::input:
        return put(buffers.inputs.at(argument.index));
      case ChildArgument::Kind::output:
        return put(buffers.outputs.at(argument.index));
      case ChildArgument::Kind::workspace:
        return put(buffers.workspace);
      case ChildArgument::Kind::i32:
        return put(static_cast<std::int32_t>(argument.integer));
      case ChildArgument::Kind::i64:
        return put(argument.integer);
      case ChildArgument::Kind::f32:
        return put(static_cast<float>(argument.real));
      case ChildArgument::Kind::f64:
        return put(argument.real);
    }
  }

  ChildLoad load_;
  CudaDevice device_ = 0;
  LoadedCupti cupti_;
  std::unique_ptr<ActivityRecorder> recorder_;
  std::pair<std::uint64_t, std::uint64_t> marks_{};
  LoadedDriver driver_;
  std::unique_ptr<DeviceSession> session_;
  Exports exports_;
  std::string image_;
  std::string own_image_;
  RunnerKernels kernels_;
  std::vector<CudaFunction> functions_;
};

}  // namespace

std::string encode_load(const ChildLoad& load) {
  WireWriter out;
  out.number(static_cast<std::uint64_t>(load.binding)).text(load.artifact).text(load.symbol);
  out.text(load.kernels_image).text(load.cuda_root);
  out.number(load.destination_passing ? 1 : 0).number(load.workspace_bytes);
  out.number(load.inputs.size());
  for (const ChildTensor& tensor : load.inputs) write_tensor(out, tensor);
  out.number(load.outputs.size());
  for (const ChildTensor& tensor : load.outputs) write_tensor(out, tensor);
  out.number(load.kernels.size());
  for (const ChildKernel& kernel : load.kernels) {
    out.text(kernel.symbol).number(kernel.shared_bytes);
    for (std::size_t i = 0; i < 3; ++i) out.number(kernel.grid[i]).number(kernel.block[i]);
    out.number(kernel.arguments.size());
    for (const ChildArgument& argument : kernel.arguments) {
      out.number(static_cast<std::uint64_t>(argument.kind)).number(argument.index);
      out.signed_number(argument.integer).real(argument.real);
    }
  }
  return out.bytes();
}

std::optional<ChildLoad> decode_load(std::string_view payload) {
  WireReader in(payload);
  ChildLoad load;
  const std::uint64_t binding = in.number();
  if (binding > static_cast<std::uint64_t>(ChildLoad::Binding::ki_kernel)) return std::nullopt;
  load.binding = static_cast<ChildLoad::Binding>(binding);
  load.artifact = in.text();
  load.symbol = in.text();
  load.kernels_image = in.text();
  load.cuda_root = in.text();
  load.destination_passing = in.number() != 0;
  load.workspace_bytes = in.number();
  for (std::uint64_t i = in.count(); i > 0; --i) load.inputs.push_back(read_tensor(in));
  for (std::uint64_t i = in.count(); i > 0; --i) load.outputs.push_back(read_tensor(in));
  for (std::uint64_t i = in.count(); i > 0; --i) {
    ChildKernel kernel;
    kernel.symbol = in.text();
    kernel.shared_bytes = in.number();
    for (std::size_t j = 0; j < 3; ++j) {
      kernel.grid[j] = in.number();
      kernel.block[j] = in.number();
    }
    for (std::uint64_t j = in.count(); j > 0; --j) {
      ChildArgument argument;
      const std::uint64_t kind = in.number();
      if (kind > static_cast<std::uint64_t>(ChildArgument::Kind::f64)) return std::nullopt;
      argument.kind = static_cast<ChildArgument::Kind>(kind);
      argument.index = in.number();
      argument.integer = in.signed_number();
      argument.real = in.real();
      kernel.arguments.push_back(argument);
    }
    load.kernels.push_back(std::move(kernel));
  }
  if (!in.finish()) return std::nullopt;
  return load;
}

std::string encode_sample(const ChildSample& sample) {
  WireWriter out;
  out.number(static_cast<std::uint64_t>(sample.what)).number(sample.number).number(sample.launches);
  out.number(sample.plan.withheld_phase).number(sample.plan.pattern);
  out.number(sample.plan.blocking ? 1 : 0);
  out.number(static_cast<std::uint64_t>(sample.plan.flush)).number(sample.plan.windows.size());
  for (const std::uint64_t window : sample.plan.windows) out.number(window);
  out.number(sample.plan.offsets.size());
  for (const std::uint64_t offset : sample.plan.offsets) out.number(offset);
  return out.bytes();
}

std::optional<ChildSample> decode_sample(std::string_view payload) {
  WireReader in(payload);
  ChildSample sample;
  const std::uint64_t what = in.number();
  if (what > static_cast<std::uint64_t>(ChildSample::What::read_slot)) return std::nullopt;
  sample.what = static_cast<ChildSample::What>(what);
  sample.number = in.number();
  sample.launches = in.number();
  sample.plan.withheld_phase = in.number();
  sample.plan.pattern = in.number();
  sample.plan.blocking = in.number() != 0;
  const std::uint64_t flush = in.number();
  if (flush > static_cast<std::uint64_t>(SamplePlan::Flush::read)) return std::nullopt;
  sample.plan.flush = static_cast<SamplePlan::Flush>(flush);
  for (std::uint64_t i = in.count(); i > 0; --i) sample.plan.windows.push_back(in.number());
  for (std::uint64_t i = in.count(); i > 0; --i) sample.plan.offsets.push_back(in.number());
  if (!in.finish()) return std::nullopt;
  return sample;
}

std::string encode_report(const ChildReport& whole) {
  const SampleReport& report = whole.sample;
  WireWriter out;
  out.number(report.window_ns).number(report.late_ns).signed_number(report.cuda_error);
  out.signed_number(report.call_result).number(report.retained_bytes);
  for (const bool flag : {report.guards_broken, report.inputs_changed, report.output_aliases,
                          report.l2_limit_changed, report.held_too_long}) {
    out.number(flag ? 1 : 0);
  }
  write_activities(out, whole.call);
  return out.bytes();
}

std::optional<ChildReport> decode_report(std::string_view payload) {
  WireReader in(payload);
  ChildReport whole;
  SampleReport& report = whole.sample;
  report.window_ns = in.number();
  report.late_ns = in.number();
  report.cuda_error = static_cast<int>(in.signed_number());
  report.call_result = static_cast<int>(in.signed_number());
  report.retained_bytes = in.number();
  for (bool SampleReport::*flag :
       {&SampleReport::guards_broken, &SampleReport::inputs_changed, &SampleReport::output_aliases,
        &SampleReport::l2_limit_changed, &SampleReport::held_too_long}) {
    report.*flag = in.number() != 0;
  }
  std::optional<CallActivities> call = read_activities(in);
  if (!call || !in.finish()) return std::nullopt;
  whole.call = std::move(*call);
  return whole;
}

int measuring_child_main() {
  Child child;
  return serve_parent({[&child](std::string_view payload) {
                         const std::optional<ChildLoad> load = decode_load(payload);
                         return load ? child.open(*load) : "BAD_REQUEST open";
                       },
                       [&child] { return child.load(); },
                       [&child](std::string_view payload) -> ChildAnswer {
                         const std::optional<ChildSample> sample = decode_sample(payload);
                         const auto report = sample ? child.sample(*sample) : std::nullopt;
                         if (!report) return {false, "BAD_REQUEST sample"};
                         return {true, encode_report({*report, child.take_activities()})};
                       }});
}

}  // namespace kernelindex::runner
