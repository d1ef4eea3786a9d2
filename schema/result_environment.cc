// SPDX-License-Identifier: Apache-2.0
// Where and how a result was measured, as members of its document.
#include "schema/checked_members.h"
#include "schema/result_members.h"

namespace kernelindex::result_members {
namespace {

using checked::digest;
using checked::FlagRow;
using checked::line;
using checked::LineRow;
using checked::one_of_words;
using checked::OptionalWholeRow;
using checked::whole;
using checked::WholeRow;
using schema::Node;
using schema::optional;
using schema::required;

constexpr std::size_t kNameBytes = 200;
constexpr std::size_t kTextBytes = 500;
constexpr std::size_t kMapMembers = 128;
constexpr std::size_t kFlags = 256;
constexpr std::size_t kKernels = 1024;

constexpr std::array<std::string_view, 2> kDeviceKinds = {"physical", "simulated"};
constexpr std::array<std::string_view, 3> kCaps = {"none", "rlimit", "cgroup"};

constexpr LineRow<MeasuredDevice> kDeviceLines[] = {
    {"reportedName", &MeasuredDevice::reported_name, kProductBytes},
    {"formFactor", &MeasuredDevice::form_factor, kNameBytes},
    {"migProfile", &MeasuredDevice::mig_profile, kMigProfileBytes},
    {"board", &MeasuredDevice::board, kNameBytes},
};
constexpr OptionalWholeRow<MeasuredDevice> kDeviceMemory[] = {
    {"memoryBytes", &MeasuredDevice::memory_bytes, 1, kDeviceBytes},
};
constexpr WholeRow<MeasuredDevice> kDeviceCount[] = {
    {"count", &MeasuredDevice::count, 1, kDevices},
};

constexpr LineRow<MeasuredSoftware> kSoftware[] = {
    {"operatingSystem", &MeasuredSoftware::operating_system, kNameBytes},
    {"kernel", &MeasuredSoftware::kernel, kNameBytes},
    {"driver", &MeasuredSoftware::driver, 100},
    {"cudaToolkit", &MeasuredSoftware::cuda_toolkit, 100},
    {"compiler", &MeasuredSoftware::compiler, kNameBytes},
};

constexpr FlagRow<SandboxFacts> kSandbox[] = {
    {"userNamespace", &SandboxFacts::user_namespace},
    {"mountNamespace", &SandboxFacts::mount_namespace},
    {"pidNamespace", &SandboxFacts::pid_namespace},
    {"networkNamespace", &SandboxFacts::network_namespace},
    {"ipcNamespace", &SandboxFacts::ipc_namespace},
    {"noNewPrivileges", &SandboxFacts::no_new_privileges},
    {"seccomp", &SandboxFacts::seccomp},
    {"privateDirectory", &SandboxFacts::private_directory},
};
constexpr WholeRow<SandboxFacts> kLandlock[] = {
    {"landlockAbi", &SandboxFacts::landlock_abi, 0, 1000},
};

constexpr WholeRow<DevicePolls> kPolls[] = {
    {"polls", &DevicePolls::polls},
    {"smKhzLowest", &DevicePolls::sm_khz_lowest},
    {"smKhzMedian", &DevicePolls::sm_khz_median},
    {"smKhzHighest", &DevicePolls::sm_khz_highest},
    {"hwSlowdown", &DevicePolls::hw_slowdown},
    {"swThermal", &DevicePolls::sw_thermal},
    {"hwThermal", &DevicePolls::hw_thermal},
    {"powerBrake", &DevicePolls::power_brake},
    {"swPowerCap", &DevicePolls::sw_power_cap},
    {"temperatureFirst", &DevicePolls::temperature_first, -100, 1000},
    {"temperatureLast", &DevicePolls::temperature_last, -100, 1000},
    {"temperatureHighest", &DevicePolls::temperature_highest, -100, 1000},
    {"xids", &DevicePolls::xids},
    {"foreignProcesses", &DevicePolls::foreign_processes},
};
constexpr OptionalWholeRow<DevicePolls> kOptionalPolls[] = {
    {"smKhzTarget", &DevicePolls::sm_khz_target, 1},
    {"temperatureSlowdown", &DevicePolls::temperature_slowdown, -100, 1000},
    {"eccBefore", &DevicePolls::ecc_before},
    {"eccAfter", &DevicePolls::ecc_after},
};

constexpr WholeRow<BuiltKernel> kBuiltKernel[] = {
    {"registers", &BuiltKernel::registers},
    {"sharedBytes", &BuiltKernel::shared_bytes},
    {"spillBytes", &BuiltKernel::spill_bytes},
};
constexpr LineRow<BuildFacts> kBuildLines[] = {
    {"architecture", &BuildFacts::architecture, kArchitectureBytes},
    {"adapter", &BuildFacts::adapter, kNameBytes},
};
constexpr FlagRow<BuildFacts> kBuildFlags[] = {
    {"built", &BuildFacts::built},
    {"adapterGap", &BuildFacts::adapter_gap},
};

Node text_map_shape(Node name) {
  Node node = schema::map(std::move(name), line(kTextBytes));
  node.max_count = kMapMembers;
  return node;
}

Node device_shape() {
  Node node = schema::object({
      required("kind", one_of_words(kDeviceKinds)),
      required("product", line(kProductBytes)),
      required("architecture", schema::text(schema::kToken, kArchitectureBytes)),
      required("id", digest()),
  });
  checked::add_fields(node, kDeviceLines);
  checked::add_fields(node, kDeviceMemory);
  checked::add_fields(node, kDeviceCount);
  return node;
}

MeasuredDevice read_device(const json::Value& value) {
  MeasuredDevice device;
  device.kind = checked::word_of<MeasuredDevice::Kind>(value, "kind", kDeviceKinds);
  device.product = checked::text_of(value, "product");
  device.architecture = checked::text_of(value, "architecture");
  device.id = checked::digest_of(value, "id");
  checked::read_rows(value, kDeviceLines, device);
  checked::read_rows(value, kDeviceMemory, device);
  checked::read_rows(value, kDeviceCount, device);
  return device;
}

json::Value write_device(const MeasuredDevice& device, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("kind", kDeviceKinds[static_cast<std::size_t>(device.kind)])
      .add("product", device.product)
      .add("architecture", device.architecture)
      .add("id", device.id.text());
  checked::write_rows(device, kDeviceLines, out);
  checked::write_rows(device, kDeviceMemory, out);
  checked::write_rows(device, kDeviceCount, out);
  return out.finish();
}

Node settings_shape() {
  return schema::object({
      optional("clocksLocked", schema::boolean()),
      optional("powerLimitMilliwatts", whole(1)),
      optional("persistenceMode", schema::boolean()),
      optional("eccEnabled", schema::boolean()),
      optional("environmentVariables", text_map_shape(line(kNameBytes))),
  });
}

json::Value write_settings(const MeasuredSettings& settings, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  const auto flag = [&](std::string_view name, std::optional<bool> value) {
    if (value) out.add(name, json::Value(*value));
  };
  flag("clocksLocked", settings.clocks_locked);
  if (settings.power_limit_milliwatts) {
    out.add("powerLimitMilliwatts", checked::number(*settings.power_limit_milliwatts));
  }
  flag("persistenceMode", settings.persistence_mode);
  flag("eccEnabled", settings.ecc_enabled);
  if (!settings.environment_variables.empty()) {
    out.add("environmentVariables", checked::text_map(settings.environment_variables, arena));
  }
  return out.finish();
}

}  // namespace

Node environment_shape() {
  Node software =
      schema::object({optional("libraries", text_map_shape(schema::text(schema::kToken)))});
  checked::add_fields(software, kSoftware);
  return schema::object({
      required("device", device_shape()),
      required("host", schema::object({required("id", digest()), required("boot", digest())})),
      required("software", software),
      required("settings", settings_shape()),
  });
}

void read_environment(const json::Value& value, MeasurementResult& out) {
  out.device = read_device(*value.find("device"));
  const json::Value& host = *value.find("host");
  out.host = {checked::digest_of(host, "id"), checked::digest_of(host, "boot")};
  const json::Value& software = *value.find("software");
  checked::read_rows(software, kSoftware, out.software);
  out.software.libraries = checked::text_map_of(software, "libraries");
  const json::Value& settings = *value.find("settings");
  out.settings.clocks_locked = checked::optional_flag(settings, "clocksLocked");
  out.settings.power_limit_milliwatts = checked::optional_whole(settings, "powerLimitMilliwatts");
  out.settings.persistence_mode = checked::optional_flag(settings, "persistenceMode");
  out.settings.ecc_enabled = checked::optional_flag(settings, "eccEnabled");
  out.settings.environment_variables = checked::text_map_of(settings, "environmentVariables");
}

json::Value write_environment(const MeasurementResult& from, json::Arena& arena) {
  json::ObjectBuilder software(arena);
  checked::write_rows(from.software, kSoftware, software);
  if (!from.software.libraries.empty()) {
    software.add("libraries", checked::text_map(from.software.libraries, arena));
  }
  return json::ObjectBuilder(arena)
      .add("device", write_device(from.device, arena))
      .add("host", json::ObjectBuilder(arena)
                       .add("id", from.host.id.text())
                       .add("boot", from.host.boot.text())
                       .finish())
      .add("software", software.finish())
      .add("settings", write_settings(from.settings, arena))
      .finish();
}

Node sandbox_shape() {
  Node node = schema::object(
      {required("memoryCap", one_of_words(kCaps)), required("processCap", one_of_words(kCaps))});
  checked::add_fields(node, kSandbox);
  checked::add_fields(node, kLandlock);
  return node;
}

SandboxFacts read_sandbox(const json::Value& value) {
  SandboxFacts facts;
  facts.memory_cap = checked::word_of<SandboxFacts::Cap>(value, "memoryCap", kCaps);
  facts.process_cap = checked::word_of<SandboxFacts::Cap>(value, "processCap", kCaps);
  checked::read_rows(value, kSandbox, facts);
  checked::read_rows(value, kLandlock, facts);
  return facts;
}

json::Value write_sandbox(const SandboxFacts& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("memoryCap", kCaps[static_cast<std::size_t>(from.memory_cap)])
      .add("processCap", kCaps[static_cast<std::size_t>(from.process_cap)]);
  checked::write_rows(from, kSandbox, out);
  checked::write_rows(from, kLandlock, out);
  return out.finish();
}

Node polls_shape() {
  Node node = schema::object({});
  checked::add_fields(node, kPolls);
  checked::add_fields(node, kOptionalPolls);
  return node;
}

DevicePolls read_polls(const json::Value& value) {
  DevicePolls polls;
  checked::read_rows(value, kPolls, polls);
  checked::read_rows(value, kOptionalPolls, polls);
  return polls;
}

json::Value write_polls(const DevicePolls& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  checked::write_rows(from, kPolls, out);
  checked::write_rows(from, kOptionalPolls, out);
  return out.finish();
}

Node build_shape() {
  Node kernel = schema::object({required("name", line(kResultTextBytes))});
  checked::add_fields(kernel, kBuiltKernel);
  Node sources = schema::list(digest(), 0, kJobSources);
  sources.set_like = true;
  Node node = schema::object({
      optional("compileDigest", digest()),
      optional("artifactDigest", digest()),
      required("sources", sources),
      required("flags", schema::list(line(kTextBytes), 0, kFlags)),
      required("toolchain", text_map_shape(schema::text(schema::kToken))),
      required("kernels", schema::list(kernel, 0, kKernels)),
      optional("reproducible", schema::boolean()),
  });
  checked::add_fields(node, kBuildLines);
  checked::add_fields(node, kBuildFlags);
  return node;
}

BuildFacts read_build(const json::Value& value) {
  BuildFacts build;
  checked::read_rows(value, kBuildFlags, build);
  checked::read_rows(value, kBuildLines, build);
  build.compile_digest = checked::optional_digest(value, "compileDigest");
  build.artifact_digest = checked::optional_digest(value, "artifactDigest");
  for (const json::Value& item : checked::items_of(value, "sources")) {
    build.sources.push_back(Digest::parse(item.string()).value());
  }
  build.flags = checked::texts_of(value, "flags");
  build.toolchain = checked::text_map_of(value, "toolchain");
  for (const json::Value& item : checked::items_of(value, "kernels")) {
    BuiltKernel kernel{checked::text_of(item, "name")};
    checked::read_rows(item, kBuiltKernel, kernel);
    build.kernels.push_back(std::move(kernel));
  }
  build.reproducible = checked::optional_flag(value, "reproducible");
  return build;
}

json::Value write_build(const BuildFacts& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  checked::write_rows(from, kBuildFlags, out);
  checked::write_rows(from, kBuildLines, out);
  if (from.compile_digest) out.add("compileDigest", from.compile_digest->text());
  if (from.artifact_digest) out.add("artifactDigest", from.artifact_digest->text());
  std::vector<json::Value> sources;
  for (const Digest& source : from.sources) sources.push_back(arena.string(source.text()));
  std::vector<json::Value> kernels;
  for (const BuiltKernel& kernel : from.kernels) {
    json::ObjectBuilder one(arena);
    one.add("name", kernel.name);
    checked::write_rows(kernel, kBuiltKernel, one);
    kernels.push_back(one.finish());
  }
  out.add("sources", arena.array(sources))
      .add("flags", checked::texts(from.flags, arena))
      .add("toolchain", checked::text_map(from.toolchain, arena))
      .add("kernels", arena.array(kernels));
  if (from.reproducible) out.add("reproducible", json::Value(*from.reproducible));
  return out.finish();
}

}  // namespace kernelindex::result_members
