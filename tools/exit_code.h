// SPDX-License-Identifier: Apache-2.0
// What the program's exit status says. DESIGN section 10.
#pragma once

#include "schema/result.h"

namespace kernelindex::tools {

enum class ExitCode : int {
  done = 0,
  check_failed = 1,  // a check did its work and the answer is no; or an import set items aside
  usage = 2,         // the command makes no sense as given
  bad_input = 3,     // malformed, missing, unknown or ambiguous id, no ledger here
  corrupt = 4,       // stored bytes or derived data disagree
  refused = 5,       // a policy forbids it
  system = 6,        // I/O, disk full, permission, lock held, network, time
  interrupted = 130,
};

constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return ExitCode::usage;
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::ambiguous:
      return ExitCode::bad_input;
    case ErrorKind::corrupt:
      return ExitCode::corrupt;
    case ErrorKind::refused:
      return ExitCode::refused;
    case ErrorKind::system:
      return ExitCode::system;
  }
  return ExitCode::system;
}

}  // namespace kernelindex::tools
