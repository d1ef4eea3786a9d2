// SPDX-License-Identifier: Apache-2.0
#include "tools/runner_program.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "tools/display_text.h"

namespace kernelindex::tools {
namespace {

constexpr std::string_view kName = "kernelindex-runner";

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// Installed they lie in one folder; in a build tree in two that do.
std::filesystem::path beside_this_program() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  for (const std::filesystem::path& candidate :
       {here.parent_path() / kName, here.parent_path().parent_path() / "cuda" / kName}) {
    if (is_program(candidate)) return candidate;
  }
  return {};
}

std::filesystem::path on_the_path() {
  const char* list = std::getenv("PATH");
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::filesystem::path candidate = std::filesystem::path(rest.substr(0, end)) / kName;
    if (end != 0 && is_program(candidate)) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

Result<std::filesystem::path> runner_program(const Arguments& arguments) {
  if (arguments.given("--runner-program")) {
    return std::filesystem::absolute(arguments.text("--runner-program"));
  }
  for (const std::filesystem::path& found : {beside_this_program(), on_the_path()}) {
    if (!found.empty()) return found;
  }
  return fail(ErrorKind::not_found, "NO_RUNNER", std::string(kName),
              "the runner is neither beside this program nor on the PATH",
              "give it with --runner-program");
}

Result<Digest> runner_digest(const std::filesystem::path& program) {
  std::ifstream file(program, std::ios::binary);
  Sha256 hash;
  std::array<char, 64 * 1024> buffer;
  while (file) {
    file.read(buffer.data(), buffer.size());
    hash.update({buffer.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.eof()) return hash.finish();
  return fail(ErrorKind::system, "CANNOT_READ", program.string(), "the runner cannot be read");
}

Result<RunnerRun> start_runner(const Session& session, const Arguments& arguments,
                               const std::string& mode, std::int64_t seconds, std::string_view work,
                               const std::string& otherwise) {
  const Result<std::filesystem::path> program = runner_program(arguments);
  if (!program) return fail(program.error());
  const std::string path = arguments.given("-o") ? arguments.text("-o") : otherwise;
  Result<ResultWriter> folder = ResultWriter::make(path);
  if (!folder) return fail(folder.error());
  const RunnerListener listener{
      [&session](std::string_view line) {
        session.note("kernelindex-runner: " + escape_text(line));
      },
      [&folder](std::string_view bytes) { return folder->object(bytes); }};
  Result<std::string> document =
      run_runner({*program, mode, arguments.given("--simulate"), seconds}, work, listener);
  if (!document) {
    // Nothing came that could be accepted; the same name can be used again.
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    return fail(document.error());
  }
  if (Status status = folder->document(*document); !status) return fail(status.error());
  return RunnerRun{path, std::move(*document), std::move(*folder)};
}

}  // namespace kernelindex::tools
