// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: over every file of the seed folders, and over a fixed
// number of small mutations of each, the same ones in every run. So the targets are plain tests
// under any compiler.
//
//   x_fuzz FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutationsPerSeed = 300;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string mutated(std::string input, std::mt19937_64& random) {
  for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
    const std::size_t at = input.empty() ? 0 : random() % input.size();
    switch (input.empty() ? 0 : random() % 4) {
      case 0:
        input.insert(at, 1, static_cast<char>(random() % 256));
        break;
      case 1:
        input.erase(at, 1 + random() % 8);
        break;
      case 2:
        input[at] = static_cast<char>(random() % 256);
        break;
      default:
        input.insert(at, input.substr(random() % input.size(), random() % 32));
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::mt19937_64 random(1);
  run("");
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string seed{std::istreambuf_iterator<char>(in), {}};
    run(seed);
    for (int i = 0; i < kMutationsPerSeed; ++i) run(mutated(seed, random));
  }
  std::printf("%zu seeds, %d mutations each\n", files.size(), kMutationsPerSeed);
  return files.empty() ? 1 : 0;
}
