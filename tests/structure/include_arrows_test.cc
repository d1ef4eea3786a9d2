// SPDX-License-Identifier: Apache-2.0
// Reads every #include of the house and holds it against the rules; then breaks each rule once, so
// that a test that could not fail would show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "tests/structure/include_rules.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SourceTree read_house() {
  SourceTree tree;
  const std::filesystem::path root = source_root();
  for (const char* room : {"schema", "ledger", "ingest", "verify", "cuda", "tools"}) {
    if (!std::filesystem::is_directory(root / room)) continue;
    for (const auto& file : std::filesystem::recursive_directory_iterator(root / room)) {
      const std::string extension = file.path().extension().string();
      if (extension == ".h" || extension == ".cc" || extension == ".cu" || extension == ".cuh") {
        tree[file.path().lexically_relative(root).generic_string()] = read_file(file.path());
      }
    }
  }
  return tree;
}

TEST(IncludeArrows, AllPointDown) {
  const SourceTree house = read_house();
  ASSERT_GT(house.size(), 10u) << "the sources were not found";
  for (const std::string& fault : broken_include_rules(house)) ADD_FAILURE() << fault;
}

TEST(IncludeArrows, AnArrowThatPointsUpIsFound) {
  EXPECT_THAT(
      broken_include_rules({{"schema/digest.h", "#pragma once\n#include \"ledger/entry.h\"\n"}}),
      ElementsAre("schema/digest.h:2: schema may not include ledger (ledger/entry.h)"));
}

TEST(IncludeArrows, IngestAndVerifyDoNotKnowEachOther) {
  EXPECT_THAT(broken_include_rules({{"ingest/a.cc", "#include \"verify/audit.h\"\n"},
                                    {"verify/b.cc", "#include \"ingest/draft.h\"\n"}}),
              ElementsAre(HasSubstr("ingest may not include verify"),
                          HasSubstr("verify may not include ingest")));
}

TEST(IncludeArrows, NobodyIncludesTheRunnerOrTheTests) {
  EXPECT_THAT(broken_include_rules({{"tools/a.cc", "#include \"cuda/device.h\"\n"},
                                    {"tools/b.cc", "  #  include \"tests/support/corpus.h\"\n"}}),
              ElementsAre(HasSubstr("tools may not include cuda"),
                          HasSubstr("tools may not include tests")));
}

TEST(IncludeArrows, ArrowsThatPointDownAreFine) {
  EXPECT_THAT(
      broken_include_rules({{"tools/a.cc",
                             "#include <CLI/CLI.hpp>\n#include <vector>\n"
                             "#include \"ingest/draft.h\"\n#include \"schema/digest.h\"\n"},
                            {"ledger/store.cc", "#include <rocksdb/db.h>\n"},
                            {"cuda/job.cc", "#include <cuda.h>\n#include \"schema/digest.h\"\n"}}),
      IsEmpty());
}

TEST(IncludeArrows, EveryForeignLibraryHasOneDoor) {
  for (const auto& [file, header] :
       std::map<std::string, std::string>{{"ledger/store.h", "rocksdb/db.h"},
                                          {"ledger/checkpoint.cc", "sodium.h"},
                                          {"ledger/merkle.cc", "openssl/evp.h"},
                                          {"tools/http/http_client.cc", "boost/asio.hpp"},
                                          {"ingest/zstd_source.cc", "zlib.h"},
                                          {"ingest/sol_execbench.cc", "simdjson.h"},
                                          {"ledger/query.cc", "flatbuffers/flatbuffers.h"},
                                          {"tools/cmd_show.cc", "rows_generated.h"},
                                          {"tools/cmd_manifest.cc", "libfyaml.h"},
                                          {"schema/digest.cc", "zstd.h"},
                                          {"ledger/ledger.cc", "CLI/CLI.hpp"},
                                          {"ledger/store.cc", "dlfcn.h"},
                                          {"verify/statistics.cc", "cuda_runtime.h"}}) {
    EXPECT_THAT(broken_include_rules({{file, "#include <" + header + ">\n"}}),
                ElementsAre(HasSubstr("has another door")))
        << file << " " << header;
  }
}

TEST(IncludeArrows, ALoopOfFilesIsFound) {
  EXPECT_THAT(broken_include_rules({{"ledger/a.h", "#include \"ledger/b.h\"\n"},
                                    {"ledger/b.h", "#include \"ledger/c.h\"\n"},
                                    {"ledger/c.h", "#include \"ledger/a.h\"\n"}}),
              ElementsAre("ledger/a.h -> ledger/b.h -> ledger/c.h -> ledger/a.h: a loop of files"));
}

TEST(IncludeArrows, OurHeadersAreSpelledOneWay) {
  EXPECT_THAT(broken_include_rules({{"ledger/a.cc", "#include \"b.h\"\n#include <ledger/c.h>\n"}}),
              ElementsAre(HasSubstr("not spelled from the root"), HasSubstr("in angle brackets")));
}

// Whether the list of the folder, or of the nearest one above that has a list, names the file.
bool is_listed(const std::string& path) {
  std::string folder = path.substr(0, path.rfind('/'));
  while (folder.find('/') != std::string::npos &&
         !std::filesystem::exists(source_root() / folder / "CMakeLists.txt")) {
    folder.resize(folder.rfind('/'));
  }
  const std::string list = read_file(source_root() / folder / "CMakeLists.txt");
  const std::string name = path.substr(folder.size() + 1);
  return std::regex_search(list, std::regex("(^|\\s)" + name + "(\\s|\\)|$)"));
}

TEST(Build, EverySourceIsListedInItsRoom) {
  for (const auto& [path, text] : read_house()) {
    if (!path.ends_with(".cc")) continue;
    EXPECT_TRUE(is_listed(path)) << path;
  }
}

// What is listed is installed; so what it includes must be listed too.
TEST(Build, AnInstalledHeaderIncludesOnlyInstalledOnes) {
  const std::regex include("#include \"([a-z_/]+\\.h)\"");
  for (const auto& [path, text] : read_house()) {
    if (!path.ends_with(".h") || !is_listed(path)) continue;
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      EXPECT_TRUE(is_listed((*it)[1])) << path << " includes " << (*it)[1];
    }
  }
}

}  // namespace
}  // namespace kernelindex::test
