// SPDX-License-Identifier: Apache-2.0
// The families of inputs of the correctness rounds: each breaks a shortcut that the source's own
// inputs let pass. PROTOCOL section 3.3.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cuda/input_seed.h"
#include "cuda/reference_operation.h"

namespace kernelindex::runner {

enum class InputFamily : std::uint8_t {
  source,       // T0: the source's own distribution; what is timed
  row_scale,    // C1: rows times 2^U(-3,3)
  block_scale,  // C2: and 512 columns at a time times 2^U(-2,2)
  exact_probe,  // C3: one-hot rows times powers of two: rows of the other matrix come back exactly
  extremes,     // C4: 1 % of largest safe magnitude, 1 % zeros of both signs and subnormals
  constant_rows,  // C5: each row constant
  all_equal,      // C5: all inputs equal
  one_redrawn,    // C6: as T0, but one tensor drawn anew
};
std::string_view family_name(InputFamily family);  // "T0", "C1", ... "C5-rows", "C5-equal", "C6"

// The family of each of the ten correctness rounds of an operation, PROTOCOL section 12.1: T0 four
// times, C1 and C2 twice, then C3 (C5-equal where there is no probe) and C4, with C5-rows and C6 in
// rounds of their own after them.
std::span<const InputFamily> correctness_rounds(const ReferenceOperation& operation);

// The stream of words of a tensor, or of a part of its making, by name.
using StreamOf = std::function<WordStream(std::string_view tensor)>;

struct InputOptions {
  InputFamily family = InputFamily::source;
  std::map<std::string, double, std::less<>> scalars = {};  // values of the workload
  // Tensors that came as files (index tensors); they take the place of what would be drawn.
  std::map<std::string, HostTensor, std::less<>> given = {};
  // C6: which input is drawn anew, from the stream "<name>/again".
  std::optional<std::size_t> redrawn = {};
};

// All inputs. Errors (invalid): MISSING_SCALAR, GIVEN_TENSOR (type or shape of a given one),
// NO_PROBE. Requires: axes from bind_axes().
Result<Arguments> make_inputs(const ReferenceOperation& operation, const Axes& axes,
                              const StreamOf& stream, const InputOptions& options = {});

// What T0 gives each input, as the result records it.
Distribution distribution_of(const ReferenceOperation& operation, const Axes& axes,
                             std::size_t input);

}  // namespace kernelindex::runner
