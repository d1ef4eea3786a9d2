// SPDX-License-Identifier: Apache-2.0
// Text spoilt as files get spoilt: lines cut, glued, doubled, dropped and moved, encodings broken,
// the end lost, by a seeded choice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/ingest/json_mutations.h"

namespace kernelindex::test {

// One mutation of `text`; the same for the same seed.
Mutation text_mutation(std::string_view text, std::uint32_t seed);

// Independent of the importers' readers: lines that hold more than white space, and records of a
// CSV (RFC 4180: a line break inside quotes ends none), blank ones left out.
std::size_t count_lines(std::string_view text);
std::size_t count_csv_records(std::string_view text);

}  // namespace kernelindex::test
