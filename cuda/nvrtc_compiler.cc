// SPDX-License-Identifier: Apache-2.0
// The runner's mode that compiles device code; see nvrtc_main() in kernel_builder.h.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cuda/dynamic_library.h"
#include "cuda/kernel_builder.h"

namespace kernelindex::runner {
namespace {

// Of nvrtc.h: opaque programs and plain integers, the same since CUDA 11.1.
using Program = struct NvrtcProgram*;
struct Nvrtc {
  int (*version)(int*, int*);
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(Program, int, const char* const*);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, std::size_t*);
  int (*cubin)(Program, char*);
  int (*add_name)(Program, const char*);
  int (*lowered_name)(Program, const char*, const char**);
};

bool load(DynamicLibrary& library, Nvrtc& nvrtc) {
  library.bind(nvrtc.version, "nvrtcVersion");
  library.bind(nvrtc.create, "nvrtcCreateProgram");
  library.bind(nvrtc.compile, "nvrtcCompileProgram");
  library.bind(nvrtc.log_size, "nvrtcGetProgramLogSize");
  library.bind(nvrtc.log, "nvrtcGetProgramLog");
  library.bind(nvrtc.cubin_size, "nvrtcGetCUBINSize");
  library.bind(nvrtc.cubin, "nvrtcGetCUBIN");
  library.bind(nvrtc.add_name, "nvrtcAddNameExpression");
  library.bind(nvrtc.lowered_name, "nvrtcGetLoweredName");
  return library.loaded() && library.missing().empty();
}

}  // namespace

int nvrtc_main(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3) return 2;
  DynamicLibrary library{arguments[0]};
  Nvrtc nvrtc{};
  if (!load(library, nvrtc)) {
    std::fprintf(stderr, "NVRTC cannot be loaded: %s\n", library.fault().c_str());
    return 3;
  }
  std::ifstream in(arguments[1], std::ios::binary);
  const std::string source{std::istreambuf_iterator<char>(in), {}};
  std::vector<const char*> options;
  std::vector<std::string> names;
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--ki-name=")) {
      names.push_back(arguments[i].substr(10));
    } else {
      options.push_back(arguments[i].c_str());
    }
  }
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), arguments[1].c_str(), 0, nullptr, nullptr) != 0)
    return 3;
  for (const std::string& name : names) nvrtc.add_name(program, name.c_str());
  const int result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  if (nvrtc.log_size(program, &size) == 0 && size > 1) {
    std::string log(size, '\0');
    nvrtc.log(program, log.data());
    std::fwrite(log.data(), 1, size - 1, stdout);
  }
  if (result != 0) return 1;
  if (nvrtc.cubin_size(program, &size) != 0 || size == 0) return 1;
  std::string cubin(size, '\0');
  if (nvrtc.cubin(program, cubin.data()) != 0) return 1;
  std::ofstream(arguments[2], std::ios::binary) << cubin;
  std::ofstream lowered(arguments[2] + ".names");
  for (const std::string& name : names) {
    const char* text = nullptr;
    if (nvrtc.lowered_name(program, name.c_str(), &text) != 0) return 1;
    lowered << name << '\t' << text << '\n';
  }
  return lowered ? 0 : 1;
}

}  // namespace kernelindex::runner
