// SPDX-License-Identifier: Apache-2.0
// Sources to something that can be loaded: nvcc and g++ for native_host, NVRTC for device_only,
// each command in the sandbox of the builder. PROTOCOL section 4; REFERENCES sections 3 and 4.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/launch_manifest.h"
#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/result.h"

namespace kernelindex::runner {

inline constexpr std::size_t kDiagnosticBytes = 64 * 1024;
inline constexpr std::int64_t kBuildMemoryBytes = std::int64_t{8} << 30;
inline constexpr std::int64_t kArtifactBytes = std::int64_t{256} << 20;

// Where compilers are. Empty paths: not found.
struct Toolchain {
  std::filesystem::path cuda_root;  // $CUDA_HOME, else /usr/local/cuda
  std::filesystem::path nvcc;
  std::filesystem::path host_compiler;
  std::filesystem::path nvrtc;    // libnvrtc.so
  std::filesystem::path cutlass;  // $CUTLASS_DIR
  std::filesystem::path runner;   // the program that has the mode role-nvrtc: this one
  bool has_cudnn = false;         // cudnn.h lies in cuda_root or /usr/include
};
Toolchain find_toolchain();
// "13.0.88 sha256:..." of each tool that was found, by token: nvcc, ptxas, gpp, nvrtc.
std::map<std::string, std::string> toolchain_versions(const Toolchain& toolchain);

struct BuildOutcome {
  BuildFacts facts;
  SandboxFacts sandbox;
  RunStatus status =
      RunStatus::passed;           // compile_error, policy_violation, resource_exceeded, timeout
  std::vector<std::string> codes;  // FLAG_DENIED, ADAPTER_GAP, ...
  std::string log;                 // diagnostics, at most the job's limit
  std::int64_t log_original_bytes = 0;
  std::string artifact;                              // bytes of the .so or the cubin
  std::map<std::string, std::string> lowered_names;  // of NVRTC: name expression -> symbol
  std::vector<Digest> cubins;
};

struct BuildRequest {
  const BuildRecipe& recipe;
  std::vector<JobSourceFile> sources;  // without the recipe
  JobLimits limits;
  std::string architecture;  // "sm_90a": of the device, never of the submission
};

// Builds in a directory of its own that is gone afterwards. An Error means that the machine did not
// co-operate (no compiler: NO_COMPILER); what is wrong with the sources is an outcome.
Result<BuildOutcome> build_kernel(const BuildRequest& request, const Toolchain& toolchain);

// One text of the runner's own device code to a cubin, with NVRTC in the same sandbox. Names of its
// kernels must be extern "C". Errors: NO_COMPILER (not_found); RUNNER_KERNELS (system) with what
// the compiler said.
Result<std::string> compile_device_code(std::string_view source, const std::string& architecture,
                                        const Toolchain& toolchain);

// The architecture to compile for on a device of this compute capability: "sm_90" -> "sm_90a".
std::string build_architecture(std::string_view device_architecture);

// The digest of the shim: of all its files by name and content.
Digest shim_digest();

// Whether a compiler's diagnostics say that the shim lacks something that the sources use.
bool is_adapter_gap(std::string_view diagnostics);

// Registers, shared memory and spills as `ptxas -v` says them.
std::vector<BuiltKernel> parse_ptxas(std::string_view diagnostics);

// The mode of the runner that compiles with NVRTC, in the sandbox: SOURCE OUTPUT OPTION...; writes
// the cubin, and for each name expression `NAME\tLOWERED` a line to OUTPUT.names. Names come as
// options --ki-name=EXPRESSION. Returns the exit code.
int nvrtc_main(const std::vector<std::string>& arguments);

}  // namespace kernelindex::runner
