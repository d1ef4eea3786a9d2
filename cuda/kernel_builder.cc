// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernel_builder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "cuda/compile_flags.h"
#include "cuda/confined_process.h"
#include "cuda/embedded_files.h"
#include "schema/canonical_json.h"
#include "schema/json_value.h"
#include "schema/utf8.h"

namespace kernelindex::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShim = "torch-shim/1";

std::string read_bytes(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return {};
  std::string bytes(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

// Compilers are large and do not change while we run.
const std::string& digest_of_tool(const fs::path& path) {
  static std::map<fs::path, std::string> known;
  std::string& digest = known[path];
  if (digest.empty()) digest = sha256(read_bytes(path)).text();
  return digest;
}

fs::path first_file(std::initializer_list<fs::path> candidates) {
  std::error_code ignored;
  for (const fs::path& path : candidates) {
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

bool is_compiled(std::string_view path) {
  return path.ends_with(".cu") || path.ends_with(".cpp") || path.ends_with(".cc") ||
         path.ends_with(".cxx") || path.ends_with(".c");
}

bool has_standard(const std::vector<std::string>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
    return flag.starts_with("-std=") || flag.starts_with("--std=");
  });
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// One build, command after command, until one fails or the time is up.
class Build {
 public:
  Build(const BuildRequest& request, const Toolchain& toolchain, PrivateDirectory& directory)
      : request_(request),
        toolchain_(toolchain),
        directory_(directory),
        deadline_(ConfinedProcess::Clock::now() +
                  std::chrono::seconds(request.limits.build_seconds)) {}

  BuildOutcome outcome;

  // False when the build is over.
  Result<bool> run(std::vector<std::string> command) {
    outcome.log += "$";
    for (const std::string& word : command) outcome.log += " " + fs::path(word).string();
    outcome.log += "\n";
    ConfinedPlan plan;
    plan.command = std::move(command);
    plan.with_channel = false;
    plan.log_bytes = request_.limits.log_bytes;
    const std::string root = toolchain_.cuda_root.string();
    plan.environment = {{"PATH", root + "/bin:/usr/bin:/bin"},
                        {"TMPDIR", directory_.path().string()},
                        {"HOME", directory_.path().string()},
                        {"LANG", "C"}};
    plan.sandbox.directory = directory_.path();
    plan.sandbox.readable = system_folders();
    plan.sandbox.readable.push_back(toolchain_.cuda_root);
    if (!toolchain_.cutlass.empty()) plan.sandbox.readable.push_back(toolchain_.cutlass);
    plan.sandbox.readable.push_back(toolchain_.runner.parent_path());
    plan.sandbox.writable = {"/dev/null"};
    plan.sandbox.memory_bytes = kBuildMemoryBytes;
    plan.sandbox.processes = request_.limits.pids;
    plan.sandbox.file_bytes = kArtifactBytes;
    auto process = ConfinedProcess::start(plan);
    if (!process) return fail(process.error());
    const ConfinedEnd end = (*process)->wait(deadline_);
    outcome.sandbox = (*process)->facts();
    outcome.log += (*process)->log();
    outcome.log_original_bytes += (*process)->log_original_bytes();
    if (end.timed_out) {
      outcome.status = RunStatus::timeout;
      outcome.codes.push_back("BUILD_TIMEOUT");
    } else if (end.forbidden_call()) {
      outcome.status = RunStatus::policy_violation;
      outcome.codes.push_back("FORBIDDEN_SYSCALL");
    } else if (end.out_of_memory || end.signal == SIGXFSZ) {
      outcome.status = RunStatus::resource_exceeded;
      outcome.codes.push_back("BUILD_LIMIT");
    } else if (end.exit_code != 0) {
      outcome.status = RunStatus::compile_error;
      outcome.codes.push_back("COMPILER_FAILED");
    }
    return outcome.status == RunStatus::passed;
  }

 private:
  const BuildRequest& request_;
  const Toolchain& toolchain_;
  PrivateDirectory& directory_;
  ConfinedProcess::Clock::time_point deadline_;
};

std::vector<std::string> include_flags(const Toolchain& toolchain) {
  std::vector<std::string> flags = {"-Ishim", "-Isrc"};
  if (!toolchain.cutlass.empty()) {
    flags.push_back("-I" + (toolchain.cutlass / "include").string());
    flags.push_back("-I" + (toolchain.cutlass / "tools/util/include").string());
  }
  return flags;
}

// -Iinclude of a submission means a folder of its sources.
std::vector<std::string> below_sources(std::vector<std::string> flags) {
  for (std::string& flag : flags) {
    if (flag.starts_with("-I")) flag = "-Isrc/" + flag.substr(2);
  }
  return flags;
}

std::string code_of_architecture(std::string_view architecture) {
  return "arch=compute_" + std::string(architecture.substr(3)) +
         ",code=" + std::string(architecture);
}

Result<bool> build_native(const BuildRequest& request, const Toolchain& toolchain,
                          const CompilerFlags& flags, Build& build) {
  const bool torch = request.recipe.binding == BuildRecipe::Binding::torch;
  std::vector<std::string> device = {"-Xcompiler", "-fPIC", "-gencode",
                                     code_of_architecture(request.architecture)};
  if (!has_standard(flags.device)) device.push_back("-std=c++17");
  if (torch) append(device, torch_extension_flags());
  append(device, below_sources(flags.device));
  append(device, include_flags(toolchain));
  std::vector<std::string> host = {"-fPIC"};
  if (!has_standard(flags.host)) host.push_back("-std=c++17");
  append(host, below_sources(flags.host));
  append(host, include_flags(toolchain));
  host.push_back("-I" + (toolchain.cuda_root / "include").string());
  build.outcome.facts.flags = device;
  append(build.outcome.facts.flags, host);
  append(build.outcome.facts.flags, flags.link);

  std::vector<std::string> objects;
  for (const JobSourceFile& source : request.sources) {
    if (!is_compiled(source.path)) continue;
    const std::string number = std::to_string(objects.size());
    const std::string object = "unit" + number + ".o";
    const std::string path = "src/" + source.path;
    std::vector<std::string> command;
    if (source.path.ends_with(".cu")) {
      const std::string kept = "keep" + number;
      command = {toolchain.nvcc.string(), "-c", path, "-o", object};
      append(command, device);
      append(command, {"-Xptxas", "-v", "--keep", "--keep-dir", "."});
    } else {
      command = {toolchain.host_compiler.string(), "-c", path, "-o", object};
      append(command, host);
    }
    Result<bool> done = build.run(std::move(command));
    if (!done || !*done) return done;
    objects.push_back(object);
  }
  if (objects.empty()) {
    build.outcome.status = RunStatus::compile_error;
    build.outcome.codes.push_back("NOTHING_TO_COMPILE");
    return false;
  }
  std::vector<std::string> link = {
      toolchain.nvcc.string(), "-shared", "-cudart", "static", "-o", "artifact.so"};
  append(link, objects);
  append(link, flags.link);
  if (std::find(flags.link.begin(), flags.link.end(), "-lcuda") != flags.link.end()) {
    link.push_back("-L" + (toolchain.cuda_root / "lib64/stubs").string());
  }
  return build.run(std::move(link));
}

Result<bool> build_device_only(const BuildRequest& request, const Toolchain& toolchain,
                               const CompilerFlags& flags, Build& build) {
  const auto manifest_file = std::find_if(
      request.sources.begin(), request.sources.end(),
      [&](const JobSourceFile& file) { return file.path == request.recipe.entry_path; });
  const Result<LaunchManifest> manifest =
      manifest_file == request.sources.end()
          ? Result<LaunchManifest>(
                fail(ErrorKind::invalid, "NO_LAUNCH_MANIFEST", {}, "there is none"))
          : read_launch_manifest(manifest_file->content);
  if (!manifest) {
    build.outcome.status = RunStatus::compile_error;
    build.outcome.codes.push_back(manifest.error().code);
    build.outcome.log += manifest.error().text() + "\n";
    return false;
  }
  std::vector<std::string> options = {"--gpu-architecture=" + request.architecture};
  std::vector<std::string> asked = flags.device;
  append(asked, manifest->flags);
  if (!has_standard(asked)) options.push_back("--std=c++17");
  for (const std::string& flag : asked) {
    if (!is_allowed_flag(flag)) {
      build.outcome.status = RunStatus::policy_violation;
      build.outcome.codes.push_back("FLAG_DENIED");
      build.outcome.log += flag + ": this compiler flag is not allowed\n";
      return false;
    }
    const std::string form = nvrtc_form(flag);
    if (!form.empty()) options.push_back(form);
  }
  options = below_sources(options);
  options.push_back("-Isrc");
  options.push_back("--include-path=" + (toolchain.cuda_root / "include").string());
  build.outcome.facts.flags = options;
  // One image for all files would need their names apart; a manifest of one file is what there is.
  std::map<std::string, std::vector<std::string>> names;
  for (const LaunchKernel& kernel : manifest->kernels) names[kernel.file].push_back(kernel.name);
  if (names.size() != 1) {
    build.outcome.status = RunStatus::compile_error;
    build.outcome.codes.push_back("ADAPTER_GAP");
    build.outcome.facts.adapter_gap = true;
    build.outcome.log += "kernels of several files in one manifest are not supported\n";
    return false;
  }
  std::vector<std::string> command = {toolchain.runner.string(), "role-nvrtc",
                                      toolchain.nvrtc.string(), "src/" + names.begin()->first,
                                      "artifact.cubin"};
  append(command, options);
  for (const std::string& name : names.begin()->second) command.push_back("--ki-name=" + name);
  return build.run(std::move(command));
}

Digest compile_digest(const BuildOutcome& outcome, const std::string& architecture, bool shim) {
  json::Arena arena;
  std::vector<json::Value> sources;
  for (const Digest& digest : outcome.facts.sources) sources.push_back(arena.string(digest.text()));
  std::vector<json::Value> flags;
  for (const std::string& flag : outcome.facts.flags) flags.push_back(arena.string(flag));
  json::ObjectBuilder tools(arena);
  for (const auto& [name, version] : outcome.facts.toolchain) tools.add(name, version);
  json::ObjectBuilder body(arena);
  body.add("sources", arena.array(sources))
      .add("toolchain", tools.finish())
      .add("flags", arena.array(flags))
      .add("architecture", architecture)
      .add_if(shim, "shim", shim_digest().text());
  return sha256(json::canonical(body.finish()));
}

std::int64_t number_before(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == line.npos || at < 2) return 0;
  std::size_t begin = at - 1;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::strtoll(std::string(line.substr(begin, at - begin)).c_str(), nullptr, 10);
}

}  // namespace

Toolchain find_toolchain() {
  Toolchain toolchain;
  const char* home = std::getenv("CUDA_HOME");
  toolchain.cuda_root = home != nullptr && *home == '/' ? home : "/usr/local/cuda";
  toolchain.nvcc = first_file({toolchain.cuda_root / "bin/nvcc"});
  toolchain.host_compiler = first_file({"/usr/bin/g++"});
  toolchain.nvrtc = first_file({toolchain.cuda_root / "lib64/libnvrtc.so",
                                toolchain.cuda_root / "lib64/libnvrtc.so.13",
                                toolchain.cuda_root / "lib64/libnvrtc.so.12"});
  std::error_code ignored;
  toolchain.runner = fs::read_symlink("/proc/self/exe", ignored);
  const char* cutlass = std::getenv("CUTLASS_DIR");
  if (cutlass != nullptr && *cutlass == '/') toolchain.cutlass = cutlass;
  toolchain.has_cudnn =
      !first_file({toolchain.cuda_root / "include/cudnn.h", "/usr/include/cudnn.h"}).empty();
  return toolchain;
}

std::map<std::string, std::string> toolchain_versions(const Toolchain& toolchain) {
  std::map<std::string, std::string> versions;
  const auto add = [&versions](const char* name, const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (!error && fs::is_regular_file(real)) versions[name] = digest_of_tool(real);
  };
  add("nvcc", toolchain.nvcc);
  add("ptxas", toolchain.cuda_root / "bin/ptxas");
  add("gpp", toolchain.host_compiler);
  add("nvrtc", toolchain.nvrtc);
  return versions;
}

Result<std::string> compile_device_code(std::string_view source, const std::string& architecture,
                                        const Toolchain& toolchain) {
  if (toolchain.nvrtc.empty()) {
    return fail(ErrorKind::not_found, "NO_COMPILER", toolchain.cuda_root.string(),
                "NVRTC is not here", "Install the CUDA toolkit, or set CUDA_HOME");
  }
  Result<PrivateDirectory> directory = PrivateDirectory::make();
  if (!directory) return fail(directory.error());
  if (const Status done = directory->write("source.cu", source); !done) return fail(done.error());
  const BuildRecipe recipe;
  const BuildRequest request{recipe, {}, {}, architecture};
  Build build(request, toolchain, *directory);
  const Result<bool> built =
      build.run({toolchain.runner.string(), "role-nvrtc", toolchain.nvrtc.string(), "source.cu",
                 "image.cubin", "--gpu-architecture=" + architecture, "--std=c++17"});
  if (!built) return fail(built.error());
  std::string image = *built ? read_bytes(directory->path() / "image.cubin") : std::string();
  if (!image.empty()) return image;
  return fail(ErrorKind::system, "RUNNER_KERNELS", architecture,
              "the runner's own kernels cannot be compiled: " + build.outcome.log);
}

std::string build_architecture(std::string_view device_architecture) {
  std::string architecture(device_architecture);
  // From 9.0 on the features of one architecture have a target of their own.
  const long number =
      architecture.starts_with("sm_") ? std::strtol(architecture.c_str() + 3, nullptr, 10) : 0;
  const bool plain =
      !architecture.empty() && architecture.back() >= '0' && architecture.back() <= '9';
  if (number >= 90 && plain) architecture += 'a';
  return architecture;
}

Digest shim_digest() {
  Sha256 hasher;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with("shim/")) continue;
    hasher.update(file.path).update(std::string_view("\0", 1));
    hasher.update(sha256(file.text).raw());
  }
  return hasher.finish();
}

bool is_adapter_gap(std::string_view diagnostics) {
  static constexpr std::array<std::string_view, 12> kSigns = {
      "torch/",           "ATen/",        "c10/",    "pybind11/",
      "torch::",          "at::",         "c10::",   "namespace \"torch\"",
      "namespace \"at\"", "class \"at::", "‘torch’", "ki_shim"};
  std::istringstream lines{std::string(diagnostics)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.find("error") == line.npos) continue;
    for (const std::string_view sign : kSigns) {
      if (line.find(sign) != line.npos) return true;
    }
  }
  return false;
}

std::vector<BuiltKernel> parse_ptxas(std::string_view diagnostics) {
  std::vector<BuiltKernel> kernels;
  std::istringstream lines{std::string(diagnostics)};
  std::string line;
  while (std::getline(lines, line)) {
    constexpr std::string_view kEntry = "Compiling entry function '";
    if (const std::size_t at = line.find(kEntry); at != line.npos) {
      const std::size_t begin = at + kEntry.size();
      kernels.push_back({line.substr(begin, line.find('\'', begin) - begin), 0, 0, 0});
    } else if (!kernels.empty() && line.find("bytes spill stores") != line.npos) {
      kernels.back().spill_bytes = number_before(line, " bytes spill stores");
    } else if (!kernels.empty() && line.find("Used ") != line.npos) {
      kernels.back().registers = number_before(line, " registers");
      kernels.back().shared_bytes = number_before(line, " bytes smem");
    }
  }
  return kernels;
}

Result<BuildOutcome> build_kernel(const BuildRequest& request, const Toolchain& toolchain) {
  const bool device_only = request.recipe.binding == BuildRecipe::Binding::ki_kernel;
  if (device_only ? toolchain.nvrtc.empty()
                  : toolchain.nvcc.empty() || toolchain.host_compiler.empty()) {
    return fail(ErrorKind::not_found, "NO_COMPILER", toolchain.cuda_root.string(),
                device_only ? "NVRTC is not here" : "nvcc or g++ is not here",
                "Install the CUDA toolkit and g++, or set CUDA_HOME");
  }
  Result<PrivateDirectory> directory = PrivateDirectory::make();
  if (!directory) return fail(directory.error());
  Build build(request, toolchain, *directory);
  BuildFacts& facts = build.outcome.facts;
  facts.architecture = request.architecture;
  facts.toolchain = toolchain_versions(toolchain);
  for (const JobSourceFile& source : request.sources) {
    facts.sources.push_back(source.digest);
    if (const Status done = directory->write("src/" + source.path, source.content); !done) {
      return fail(done.error());
    }
  }
  std::sort(facts.sources.begin(), facts.sources.end());
  const bool torch = request.recipe.binding == BuildRecipe::Binding::torch;
  if (torch) facts.adapter = std::string(kShim);
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with("shim/")) continue;
    if (const Status done = directory->write(file.path, file.text); !done)
      return fail(done.error());
  }

  RequestedFlags requested;
  if (request.recipe.compile_options) {
    requested = {true, request.recipe.compile_options->cflags,
                 request.recipe.compile_options->cuda_cflags,
                 request.recipe.compile_options->ld_flags};
  }
  const Result<CompilerFlags> flags = choose_flags(requested);
  if (!flags) {
    build.outcome.status = RunStatus::policy_violation;
    build.outcome.codes.push_back(flags.error().code);
    build.outcome.log = flags.error().text() + "\n";
    build.outcome.log_original_bytes = static_cast<std::int64_t>(build.outcome.log.size());
    return std::move(build.outcome);
  }
  const Result<bool> built = device_only ? build_device_only(request, toolchain, *flags, build)
                                         : build_native(request, toolchain, *flags, build);
  if (!built) return fail(built.error());
  build.outcome.log_original_bytes = std::max(build.outcome.log_original_bytes,
                                              static_cast<std::int64_t>(build.outcome.log.size()));
  facts.compile_digest = compile_digest(build.outcome, request.architecture, torch);
  facts.kernels = parse_ptxas(build.outcome.log);
  if (!*built) {
    facts.adapter_gap = facts.adapter_gap || (torch && is_adapter_gap(build.outcome.log));
    if (facts.adapter_gap) build.outcome.codes.push_back("ADAPTER_GAP");
    return std::move(build.outcome);
  }
  build.outcome.artifact =
      read_bytes(directory->path() / (device_only ? "artifact.cubin" : "artifact.so"));
  if (device_only) {
    build.outcome.cubins.push_back(sha256(build.outcome.artifact));
    std::ifstream names(directory->path() / "artifact.cubin.names");
    std::string line;
    while (std::getline(names, line)) {
      const std::size_t tab = line.find('\t');
      if (tab != line.npos) build.outcome.lowered_names[line.substr(0, tab)] = line.substr(tab + 1);
    }
  }
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory->path(), ignored)) {
    if (!device_only && entry.path().extension() == ".cubin") {
      build.outcome.cubins.push_back(sha256(read_bytes(entry.path())));
    }
  }
  std::sort(build.outcome.cubins.begin(), build.outcome.cubins.end());
  if (build.outcome.artifact.empty()) {
    build.outcome.status = RunStatus::compile_error;
    build.outcome.codes.push_back("NO_ARTIFACT");
    return std::move(build.outcome);
  }
  facts.built = true;
  facts.artifact_digest = sha256(build.outcome.artifact);
  return std::move(build.outcome);
}

}  // namespace kernelindex::runner
