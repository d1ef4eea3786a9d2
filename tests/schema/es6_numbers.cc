// SPDX-License-Identifier: Apache-2.0
// Prints doubles as bits and as our text, for comparison with an independent formatter;
// tests/campaigns/check_numbers.sh runs it.
//
//   es6_numbers random SEED COUNT        random bits, every exponent as likely as another
//   es6_numbers sequence FILE COUNT      the published sequence of es6_numbers_sequence.json
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/number_sequence.h"
#include "schema/random_json.h"
#include "support/corpus.h"

namespace {

using namespace kernelindex;

constexpr std::size_t kFlushBytes = 1 << 20;

void flush(std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  text.clear();
}

void print_random(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const double number = test::random_double(random);
    char bits[24];
    std::snprintf(bits, sizeof bits, "%016llx,",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number)));
    text += bits;
    json::append_number(number, text);
    text += '\n';
    if (text.size() > kFlushBytes) flush(text);
  }
  flush(text);
}

bool print_sequence(const std::string& file, std::size_t count) {
  json::Arena arena;
  const Result<json::Value> vectors = json::parse(test::read_file(file), arena);
  if (!vectors || vectors->find("static_u64") == nullptr) return false;
  std::vector<std::uint64_t> fixed;
  for (const json::Value& bits : vectors->find("static_u64")->array()) {
    fixed.push_back(std::strtoull(std::string(bits.string()).c_str(), nullptr, 16));
  }
  test::NumberSequence sequence(std::move(fixed));
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    sequence.append_line(text);
    if (text.size() > kFlushBytes) flush(text);
  }
  flush(text);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 4 ? argv[1] : "";
  const std::size_t count = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (mode == "random") {
    print_random(std::strtoull(argv[2], nullptr, 10), count);
    return 0;
  }
  if (mode == "sequence") return print_sequence(argv[2], count) ? 0 : 3;
  std::fputs("usage: es6_numbers random SEED COUNT | es6_numbers sequence FILE COUNT\n", stderr);
  return 2;
}
