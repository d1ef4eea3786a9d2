// SPDX-License-Identifier: Apache-2.0
// Which flags a submission may give its compilers, and what they are when it gives none.
// PROTOCOL section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"

namespace kernelindex::runner {

// As a solution says it; absent lists are not empty ones.
struct RequestedFlags {
  bool options_present = false;  // `compile_options` is there and not null
  std::optional<std::vector<std::string>> cflags = {};
  std::optional<std::vector<std::string>> cuda_cflags = {};
  std::optional<std::vector<std::string>> ld_flags = {};
};

struct CompilerFlags {
  std::vector<std::string> host;    // of the C++ compiler
  std::vector<std::string> device;  // of nvcc or NVRTC
  std::vector<std::string> link;
};

// The three cases of SOL-ExecBench, kept apart because fast-math changes results and speed:
//   no options           nothing is added
//   no `cuda_cflags`     -O3 --use_fast_math for the device, -lcuda when there are no link flags
//   `cuda_cflags` given  exactly these, also when the list is empty
// Error FLAG_DENIED (kind refused): a flag that is not on the list; the place is the flag.
Result<CompilerFlags> choose_flags(const RequestedFlags& requested);

// Whether one flag may be handed on:
//   -O0..-O3 --use_fast_math -ftz= -prec-div= -prec-sqrt= -fmad= -std=c++14|17|20 --maxrregcount=
//   -lineinfo --expt-relaxed-constexpr --extended-lambda -DNAME[=token] -I<relative, inside>
//   -lcuda -lcublas -lcublasLt -lcudnn
bool is_allowed_flag(std::string_view flag);

// A flag's form for NVRTC, which spells some of them differently; empty for those of a linker.
std::string nvrtc_form(std::string_view flag);

// What PyTorch's cpp_extension adds to nvcc; a build for its binding gets the same.
std::vector<std::string> torch_extension_flags();

}  // namespace kernelindex::runner
