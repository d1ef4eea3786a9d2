// SPDX-License-Identifier: Apache-2.0
#include "cuda/doctor.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "cuda/activity_recorder.h"
#include "cuda/confined_process.h"
#include "cuda/cuda_driver.h"
#include "cuda/host_facts.h"
#include "cuda/kernel_builder.h"
#include "schema/canonical_json.h"
#include "schema/json_value.h"

namespace kernelindex::runner {
namespace {

struct Line {
  std::string name;
  bool there = false;
  std::string detail;
  bool needed = true;  // for measuring
};

std::string missing_symbols(const DynamicLibrary& library) {
  if (!library.loaded()) return library.fault();
  std::string text = "lacks";
  for (const std::string& symbol : library.missing()) text += " " + symbol;
  return text;
}

Line library_line(std::string name, const DynamicLibrary& library, bool needed = true) {
  const bool usable = library.loaded() && library.missing().empty();
  return {std::move(name), usable, usable ? library.name() : missing_symbols(library), needed};
}

Line device_line(const LoadedDriver& loaded) {
  if (!loaded.usable()) return {"device", false, "the driver is not here", true};
  const CudaDriver& cuda = loaded.driver;
  int count = 0;
  if (const int error = cuda.init(0); error != kCudaSuccess) {
    return {"device", false, "cuInit gives error " + std::to_string(error), true};
  }
  CudaDevice device = 0;
  if (cuda.device_count(&count) != kCudaSuccess || count == 0 ||
      cuda.device_get(&device, 0) != kCudaSuccess) {
    return {"device", false, "the driver sees no device", true};
  }
  std::array<char, 256> name{};
  int major = 0;
  int minor = 0;
  cuda.device_name(name.data(), static_cast<int>(name.size()) - 1, device);
  cuda.device_attribute(&major, kAttributeMajor, device);
  cuda.device_attribute(&minor, kAttributeMinor, device);
  return {"device", true,
          std::string(name.data()) + ", sm_" + std::to_string(major) + std::to_string(minor), true};
}

std::string cap_name(SandboxFacts::Cap cap) {
  return cap == SandboxFacts::Cap::cgroup   ? "cgroup"
         : cap == SandboxFacts::Cap::rlimit ? "rlimit"
                                            : "none";
}

// What a confined process really got, not what the kernel says that it has.
void add_sandbox(std::vector<Line>& lines) {
  const Result<PrivateDirectory> directory = PrivateDirectory::make();
  if (!directory) {
    lines.push_back({"sandbox", false, directory.error().text(), true});
    return;
  }
  ConfinedPlan plan;
  plan.command = {"/bin/true"};
  plan.with_channel = false;
  plan.sandbox.directory = directory->path();
  plan.sandbox.readable = system_folders();
  plan.sandbox.memory_bytes = std::int64_t{1} << 30;
  auto process = ConfinedProcess::start(plan);
  if (!process) {
    lines.push_back({"sandbox", false, process.error().text(), true});
    return;
  }
  const ConfinedEnd end =
      (*process)->wait(ConfinedProcess::Clock::now() + std::chrono::seconds(10));
  const SandboxFacts facts = (*process)->facts();
  lines.push_back({"sandbox", end.exit_code == 0, "a program runs in it", true});
  lines.push_back({"user namespace", facts.user_namespace, {}, false});
  lines.push_back({"mount namespace", facts.mount_namespace, {}, false});
  lines.push_back({"pid namespace", facts.pid_namespace, {}, false});
  lines.push_back({"network namespace", facts.network_namespace, {}, false});
  lines.push_back({"ipc namespace", facts.ipc_namespace, {}, false});
  lines.push_back({"no new privileges", facts.no_new_privileges, {}, true});
  lines.push_back({"seccomp", facts.seccomp, {}, true});
  lines.push_back(
      {"landlock", facts.landlock_abi > 0, "ABI " + std::to_string(facts.landlock_abi), false});
  lines.push_back({"memory cap", facts.memory_cap == SandboxFacts::Cap::cgroup,
                   cap_name(facts.memory_cap), false});
  lines.push_back({"process cap", facts.process_cap == SandboxFacts::Cap::cgroup,
                   cap_name(facts.process_cap), false});
}

std::vector<Line> examine() {
  std::vector<Line> lines;
  const Toolchain toolchain = find_toolchain();
  lines.push_back({"harness", true, own_digest().text(), false});
  lines.push_back({"nvcc", !toolchain.nvcc.empty(), toolchain.nvcc.string(), true});
  lines.push_back(
      {"host compiler", !toolchain.host_compiler.empty(), toolchain.host_compiler.string(), true});
  lines.push_back(library_line("nvrtc", DynamicLibrary{toolchain.nvrtc.string(), "libnvrtc.so"}));
  lines.push_back({"cudnn headers", toolchain.has_cudnn, {}, false});
  lines.push_back(
      {"cutlass", !toolchain.cutlass.empty(),
       toolchain.cutlass.empty() ? "CUTLASS_DIR is not set" : toolchain.cutlass.string(), false});
  const LoadedDriver driver = load_driver();
  lines.push_back(library_line("driver", driver.library));
  lines.push_back(device_line(driver));
  lines.push_back(library_line("nvml", load_nvml().library));
  lines.push_back(library_line("cupti", load_cupti(toolchain.cuda_root).library));
  add_sandbox(lines);
  return lines;
}

void print_json(const std::vector<Line>& lines) {
  json::Arena arena;
  std::vector<json::Value> items;
  for (const Line& line : lines) {
    json::ObjectBuilder item(arena);
    item.add("name", line.name)
        .add("there", json::Value(line.there))
        .add("needed", json::Value(line.needed))
        .add_if(!line.detail.empty(), "detail", line.detail);
    items.push_back(item.finish());
  }
  const std::string text = json::canonical(arena.array(items));
  std::printf("%s\n", text.c_str());
}

}  // namespace

int doctor_main(const std::vector<std::string>& arguments) {
  const bool as_json = !arguments.empty() && arguments[0] == "--json";
  if (arguments.size() > (as_json ? 1u : 0u)) {
    std::fputs("usage: kernelindex-runner doctor [--json]\n", stderr);
    return 2;
  }
  const std::vector<Line> lines = examine();
  bool complete = true;
  for (const Line& line : lines) complete = complete && (line.there || !line.needed);
  if (as_json) {
    print_json(lines);
  } else {
    for (const Line& line : lines) {
      std::printf("%-18s %-8s %s\n", line.name.c_str(),
                  line.there    ? "yes"
                  : line.needed ? "MISSING"
                                : "no",
                  line.detail.c_str());
    }
  }
  return complete ? 0 : 1;
}

}  // namespace kernelindex::runner
