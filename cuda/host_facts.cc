// SPDX-License-Identifier: Apache-2.0
#include "cuda/host_facts.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "schema/json_reader.h"
#include "schema/json_value.h"

namespace kernelindex::runner {
namespace {

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// ID and VERSION_ID of os-release(5): "debian 12".
std::string operating_system() {
  std::ifstream in("/etc/os-release");
  std::map<std::string, std::string> values;
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    std::string value = line.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    values[line.substr(0, equals)] = value;
  }
  std::string name = values["ID"];
  if (!name.empty() && !values["VERSION_ID"].empty()) name += " " + values["VERSION_ID"];
  return name;
}

// version.json of the toolkit names all its parts; older ones have none.
std::string cuda_toolkit() {
  const char* home = std::getenv("CUDA_HOME");
  const std::string root = home != nullptr && *home == '/' ? home : "/usr/local/cuda";
  std::ifstream in(root + "/version.json");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  json::Arena arena;
  const auto value = json::parse(text, arena);
  if (value) {
    if (const json::Value* cuda = value->find("cuda")) return std::string(cuda->text("version"));
  }
  // CUDA_VERSION of cuda.h: 13000 is 13.0.
  std::ifstream header(root + "/include/cuda.h");
  std::string line;
  constexpr std::string_view kDefine = "#define CUDA_VERSION ";
  while (std::getline(header, line)) {
    if (!line.starts_with(kDefine)) continue;
    const long number = std::strtol(line.c_str() + kDefine.size(), nullptr, 10);
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  }
  return {};
}

}  // namespace

Digest keyed_id(const Digest& ledger, std::string_view text) {
  return sha256({ledger.raw(), text});
}

MeasuredHost host_ids(const Digest& ledger) {
  return {keyed_id(ledger, first_line("/etc/machine-id")),
          keyed_id(ledger, first_line("/proc/sys/kernel/random/boot_id"))};
}

MeasuredSoftware host_software() {
  MeasuredSoftware software;
  software.operating_system = operating_system();
  utsname name{};
  if (::uname(&name) == 0) software.kernel = name.release;
  software.cuda_toolkit = cuda_toolkit();
#if defined(__VERSION__)
  software.compiler = __VERSION__;
#endif
  return software;
}

Digest own_digest() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  Sha256 hasher;
  std::string block(1 << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    hasher.update(std::string_view(block).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  return hasher.finish();
}

}  // namespace kernelindex::runner
