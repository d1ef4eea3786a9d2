// SPDX-License-Identifier: Apache-2.0
#include "tools/output.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "schema/canonical_json.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

}  // namespace

Output::Output(int descriptor, OutputForm form)
    : descriptor_(descriptor), form_(form), terminal_(inspect_terminal(descriptor)) {}

void Output::write(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() >= kBlockBytes) drain();
}

void Output::document(const json::Value& value) {
  json::append_canonical(value, pending_);
  write("\n");
}

Status Output::flush() {
  drain();
  if (error_ == 0) return {};
  return fail(ErrorKind::system, "OUTPUT_FAILED", "standard output",
              std::generic_category().message(error_), "What was printed is not complete");
}

void Output::drain() {
  std::string_view left = pending_;
  while (!left.empty() && error_ == 0) {
    const ssize_t count = ::write(descriptor_, left.data(), left.size());
    if (count >= 0) {
      left.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  pending_.clear();
}

}  // namespace kernelindex::tools
