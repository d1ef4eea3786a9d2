// SPDX-License-Identifier: Apache-2.0
// What is at the other end of a stream: a person's terminal, or a file or program.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelindex::tools {

enum class Tone { plain, strong, dim, good, warning, bad };

struct Terminal {
  bool attached = false;    // a terminal, not a file or pipe
  bool colour = false;      // attached, and neither NO_COLOR nor TERM=dumb forbids it
  std::size_t columns = 0;  // 0: no limit, nothing is cut

  // The text in a tone, or as it is where colours are not wanted.
  std::string tinted(std::string_view text, Tone tone) const;
};

// Looks at a file descriptor and the environment (NO_COLOR, TERM).
Terminal inspect_terminal(int descriptor);

}  // namespace kernelindex::tools
