// SPDX-License-Identifier: Apache-2.0
// That nothing but the driver makes a device physical: results on made-up devices are written by
// tests alone, and no program or library of the house can link what writes them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

struct Found {
  std::string file;
  std::string line;
};

// Lines of the rooms' files that hold a text.
std::vector<Found> lines_with(std::string_view text, bool build_files) {
  std::vector<Found> out;
  for (const char* room : {"schema", "ledger", "ingest", "verify", "cuda", "tools"}) {
    for (const auto& item : std::filesystem::recursive_directory_iterator(source_root() / room)) {
      const std::string name = item.path().filename().string();
      const bool source = name.ends_with(".cc") || name.ends_with(".h");
      if (!item.is_regular_file() || !(build_files ? name == "CMakeLists.txt" : source)) continue;
      const std::string bytes = read_file(item.path());
      for (std::size_t at = bytes.find(text); at != std::string::npos;
           at = bytes.find(text, at + 1)) {
        const std::size_t begin = bytes.rfind('\n', at) + 1;
        out.push_back({std::filesystem::relative(item.path(), source_root()).string(),
                       bytes.substr(begin, bytes.find('\n', at) - begin)});
      }
    }
  }
  return out;
}

bool assigns(const std::string& line) {
  return line.find("= MeasuredDevice::Kind::physical") != std::string::npos &&
         line.find("== MeasuredDevice::Kind::physical") == std::string::npos;
}

TEST(InjectedDevice, OnlyTheBenchOfRealDevicesCallsADevicePhysical) {
  std::vector<std::string> files;
  for (const Found& found : lines_with("Kind::physical", false)) {
    if (assigns(found.line)) files.push_back(found.file);
  }
  EXPECT_EQ(files, std::vector<std::string>{"cuda/device_bench.cc"});
}

TEST(InjectedDevice, NoLibraryOrProgramOfTheHouseLinksWhatWritesResultsForTests) {
  EXPECT_FALSE(lines_with("kernelindex_log", true).empty()) << "the build files were not found";
  for (const char* text : {"kernelindex_sample_result", "sample_result", "controlled_world"}) {
    for (const Found& found : lines_with(text, true)) ADD_FAILURE() << found.file << ": " << text;
  }
}

}  // namespace
}  // namespace kernelindex::test
