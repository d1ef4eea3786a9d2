// SPDX-License-Identifier: Apache-2.0
#include "cuda/compile_flags.h"

#include <algorithm>
#include <array>

namespace kernelindex::runner {
namespace {

constexpr std::array<std::string_view, 17> kWhole = {
    "-O0",         "-O1",        "-O2",        "-O3",        "--use_fast_math", "-use_fast_math",
    "-lineinfo",   "--lineinfo", "-std=c++14", "-std=c++17", "-std=c++20",      "--std=c++17",
    "--std=c++20", "-lcuda",     "-lcublas",   "-lcublasLt", "-lcudnn"};
constexpr std::array<std::string_view, 3> kWholeLong = {"--expt-relaxed-constexpr",
                                                        "--extended-lambda", "-extended-lambda"};
constexpr std::array<std::string_view, 8> kTrueOrFalse = {
    "-ftz=",       "--ftz=",       "-prec-div=", "--prec-div=",
    "-prec-sqrt=", "--prec-sqrt=", "-fmad=",     "--fmad="};

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_number(std::string_view text, std::size_t digits) {
  return !text.empty() && text.size() <= digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// NAME or NAME=token, where a token may be a number with a point or a sign.
bool is_definition(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (!is_word(name) || is_number(name.substr(0, 1), 1)) return false;
  if (equals == text.npos) return true;
  return std::all_of(
      text.begin() + static_cast<std::ptrdiff_t>(equals) + 1, text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-' || c == '+';
      });
}

// A folder among the sources: relative, going nowhere else.
bool is_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.front() == '-') return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    if (part == ".." || part.find_first_of("\\\n\r\t ,@") != part.npos) return false;
    at = slash + 1;
  }
  return true;
}

bool is_link_flag(std::string_view flag) { return flag.starts_with("-l") && flag != "-lineinfo"; }

Result<std::vector<std::string>> allowed(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags) {
    if (!is_allowed_flag(flag)) {
      return fail(ErrorKind::refused, "FLAG_DENIED", flag.substr(0, 200),
                  "this compiler flag is not allowed", "See PROTOCOL section 4 for those that are");
    }
  }
  return flags;
}

}  // namespace

bool is_allowed_flag(std::string_view flag) {
  if (std::find(kWhole.begin(), kWhole.end(), flag) != kWhole.end()) return true;
  if (std::find(kWholeLong.begin(), kWholeLong.end(), flag) != kWholeLong.end()) return true;
  for (const std::string_view start : kTrueOrFalse) {
    if (!flag.starts_with(start)) continue;
    const std::string_view value = flag.substr(start.size());
    return value == "true" || value == "false";
  }
  for (const std::string_view start : {"--maxrregcount=", "-maxrregcount="}) {
    if (flag.starts_with(start)) return is_number(flag.substr(start.size()), 3);
  }
  if (flag.starts_with("-D")) return is_definition(flag.substr(2));
  if (flag.starts_with("-I")) return is_inside(flag.substr(2));
  return false;
}

Result<CompilerFlags> choose_flags(const RequestedFlags& requested) {
  CompilerFlags flags;
  if (!requested.options_present) return flags;
  const std::vector<std::string> none;
  Result<std::vector<std::string>> host = allowed(requested.cflags.value_or(none));
  if (!host) return fail(host.error());
  Result<std::vector<std::string>> device =
      allowed(requested.cuda_cflags.value_or(std::vector<std::string>{"-O3", "--use_fast_math"}));
  if (!device) return fail(device.error());
  Result<std::vector<std::string>> link =
      allowed(requested.ld_flags.value_or(std::vector<std::string>{"-lcuda"}));
  if (!link) return fail(link.error());
  flags.host = std::move(*host);
  flags.device = std::move(*device);
  flags.link = std::move(*link);
  return flags;
}

std::string nvrtc_form(std::string_view flag) {
  if (is_link_flag(flag) || flag.starts_with("-O")) return {};  // NVRTC always optimizes
  if (flag.starts_with("-D") || flag.starts_with("-I")) return std::string(flag);
  if (flag == "--expt-relaxed-constexpr") return {};
  if (flag.starts_with("--")) return std::string(flag);
  return "-" + std::string(flag);
}

std::vector<std::string> torch_extension_flags() {
  return {"-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
          "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__",
          "--expt-relaxed-constexpr"};
}

}  // namespace kernelindex::runner
