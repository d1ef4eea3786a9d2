// SPDX-License-Identifier: Apache-2.0
// Input that is no input, through the program: each gives its exit code, an error that names the
// place, and leaves the ledger as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/acceptance/answers.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BadInput : public ::testing::Test {
 protected:
  BadInput() { room_.close(); }

  fs::path file(const std::string& name, std::string_view bytes) {
    write_file(room_.folder() / name, bytes);
    return room_.folder() / name;
  }

  // Importers and `add` refuse the file with this exit code.
  void expect_refused(const fs::path& path, int code, const std::string& said) {
    for (const std::string source : {"kernelindex-catalog", "kernelindex-run"}) {
      expect_refused({"import", source, path.string()}, code, said);
    }
    expect_refused({"add", path.string()}, code, said);
  }
  // As one file of a dump it is set aside by name, and the rest would be recorded.
  void expect_set_aside(const fs::path& path) {
    const Outcome outcome = room_.run({"import", "sol-execbench", path.string(), "--json"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    const Document report(outcome.out);
    const auto quarantined = report->find("quarantined")->array();
    ASSERT_EQ(quarantined.size(), 1u) << outcome.out;
    EXPECT_EQ(quarantined[0].text("locator"), path.filename().string());
    EXPECT_NE(quarantined[0].text("reason"), "");
    EXPECT_LT(outcome.out.size(), 2'000u);
    EXPECT_EQ(report->find({"recorded", "manifests"})->number(), 0);
  }
  void expect_bad(const fs::path& path) {
    expect_refused(path, 3, path.filename().string());
    expect_set_aside(path);
  }
  void expect_refused(const std::vector<std::string>& words, int code, const std::string& said) {
    SCOPED_TRACE(words[0] + " " + words[1]);
    const TreeHead before = room_.head();
    room_.close();
    const Outcome outcome = room_.run(words);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err << outcome.out.substr(0, 500);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, StartsWith("kernelindex: error: "));
    EXPECT_THAT(outcome.err, HasSubstr(said));
    EXPECT_LT(outcome.err.size(), 2'000u);
    EXPECT_EQ(room_.head().size, before.size) << "something was recorded";
    room_.close();
  }

  Room room_;
};

TEST_F(BadInput, AMissingFile) {
  const fs::path nowhere = room_.folder() / "nowhere.json";
  expect_refused(nowhere, 3, "NO_SUCH_FILE");
  expect_refused({"import", "sol-execbench", nowhere.string()}, 3, "NO_SUCH_FILE");
}

TEST_F(BadInput, AnEmptyFile) { expect_bad(file("empty.json", "")); }

TEST_F(BadInput, AHundredThousandNestedBrackets) {
  expect_bad(file("deep.json", std::string(100'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_bad(file("deep-objects.json", objects));
}

TEST_F(BadInput, ANumberOfMoreThanAKibibyte) {
  const std::string digits(2'000, '7');
  expect_bad(file("number.json", "{\"kernels\":[{\"id\":" + digits + "}]}"));
}

// A number as long as a file can be: refused by its size, without memory for it.
TEST_F(BadInput, ANumberOfTwoGibibytes) {
  const fs::path path = file("huge.json", "{\"kernels\":7");
  fs::resize_file(path, 65 * limits::kMiB);
  expect_refused(path, 3, "huge.json");
  expect_refused({"import", "sol-execbench", path.string()}, 3, "huge.json");
  fs::resize_file(path, std::uintmax_t{1} << 31);
  expect_refused({"add", path.string()}, 3, "huge.json");
  expect_refused({"import", "kernelindex-run", path.string()}, 3, "huge.json");
}

TEST_F(BadInput, BytesThatAreNoUtf8) {
  expect_refused(file("latin.json", "{\"kernels\":[{\"name\":\"caf\xe9\"}]}"), 3, "latin.json");
  expect_set_aside(file("latin.json", "{\"kernels\":[{\"name\":\"caf\xe9\"}]}"));
  const fs::path binary = file("binary.json", std::string("\0\xff\xfe\x80", 4));
  expect_refused(binary, 3, "binary.json");
  expect_refused({"import", "sol-execbench", binary.string()}, 3, "NOT_A_DUMP");
}

TEST_F(BadInput, AnEmptyFolder) {
  fs::create_directory(room_.folder() / "nothing");
  const std::string folder = (room_.folder() / "nothing").string();
  expect_refused({"import", "sol-execbench", folder}, 3, "NO_FILES");
  expect_refused({"add", folder}, 6, "nothing");
}

// Nothing waits for a writer that never comes.
TEST_F(BadInput, AFifo) {
  const fs::path path = room_.folder() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  RunOptions patience;
  patience.timeout_seconds = 20;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"import", "sol-execbench", path.string()},
                                             {"import", "kernelindex-catalog", path.string()},
                                             {"add", path.string()}}) {
    const Outcome outcome = room_.run(words, patience);
    EXPECT_EQ(outcome.exit_code, 3) << words[0] << " " << words[1] << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("pipe"));
  }
}

TEST_F(BadInput, KeyFilesThatOthersCanRead) {
  const fs::path key = room_.directory() / "keys/importer.key";
  ASSERT_EQ(::chmod(key.c_str(), 0644), 0);
  expect_refused({"import", "sol-execbench", sample_folder().string()}, 5, "importer.key");
  ASSERT_EQ(::chmod(key.c_str(), 0600), 0);
  const fs::path log = room_.directory() / "keys/log.key";
  ASSERT_EQ(::chmod(log.c_str(), 0644), 0);
  expect_refused({"import", "sol-execbench", sample_folder().string()}, 5, "log.key");
  ASSERT_EQ(::chmod(log.c_str(), 0600), 0);
  EXPECT_EQ(room_.run({"import", "sol-execbench", sample_folder().string()}).exit_code, 0);
}

TEST_F(BadInput, AKeyFileThatIsNone) {
  const fs::path key = room_.directory() / "keys/importer.key";
  fs::remove(key);
  write_file(key, "not a key");
  ASSERT_EQ(::chmod(key.c_str(), 0600), 0);
  expect_refused({"import", "sol-execbench", sample_folder().string()}, 3, "importer.key");
  fs::remove(key);
  expect_refused({"import", "sol-execbench", sample_folder().string()}, 3, "importer.key");
}

// One kernel of a dump is broken: it is set aside by name, all else is recorded.
TEST_F(BadInput, ADumpWithOneBrokenKernel) {
  const fs::path dump = room_.folder() / "dump";
  fs::copy(sample_folder(), dump, fs::copy_options::recursive);
  std::string kernel = read_file(dump / "kernels/17.json");
  const std::size_t at = kernel.find("\"inputs\"");
  ASSERT_NE(at, std::string::npos);
  kernel.replace(at, 8, "\"inputz\"");
  fs::permissions(dump / "kernels/17.json", fs::perms::owner_write, fs::perm_options::add);
  write_file(dump / "kernels/17.json", kernel);

  const Outcome outcome = room_.run({"import", "sol-execbench", dump.string(), "--json"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  const Document report(outcome.out);
  const auto quarantined = report->find("quarantined")->array();
  ASSERT_EQ(quarantined.size(), 1u) << outcome.out;
  EXPECT_THAT(std::string(quarantined[0].text("locator")), HasSubstr("kernels/17.json"));
  EXPECT_THAT(std::string(quarantined[0].text("reason")), HasSubstr("inputs"));
  EXPECT_EQ(room_.run({"history", "sol-execbench:submission/15866"}).exit_code, 0);
  EXPECT_EQ(room_.run({"history", "sol-execbench:submission/1307"}).exit_code, 3);
  const Outcome text = room_.run({"import", "sol-execbench", dump.string()});
  EXPECT_EQ(text.exit_code, 1) << "what is set aside is not forgotten";
  // The kept report says it too, and the whole dump is recorded when it is well again.
  EXPECT_EQ(room_.run({"import", "sol-execbench", sample_folder().string()}).exit_code, 0);
  EXPECT_EQ(room_.run({"history", "sol-execbench:submission/1307"}).exit_code, 0);
  expect_sound(room_);
}

TEST_F(BadInput, IdsAndUsage) {
  EXPECT_EQ(room_.run({"import", "sol-execbench", sample_folder().string()}).exit_code, 0);
  const std::vector<std::pair<std::vector<std::string>, int>> cases = {
      {{"show", "sha256:" + std::string(64, '0')}, 3},
      {{"show", "00000000000000"}, 3},
      {{"show", "12345"}, 3},
      {{"show", "nobody:submission/1"}, 3},
      {{"history", "sol-execbench:submission/999999"}, 3},
      {{"provenance", "kernelindex:01a0032e"}, 3},
      {{"runs", "--level", "excellent"}, 2},
      {{"runs", "--since", "yesterday"}, 2},
      {{"history"}, 2},
      {{"import", "huggingface", "x"}, 2},
      {{"init"}, 5},
      {{"runs", "--ledger", "/nonexistent/ledger"}, 3},
      {{"import", "sol-execbench", sample_folder().string(), "--ledger", "/nonexistent/ledger"},
       3}};
  for (const auto& [words, code] : cases) {
    const Outcome outcome = room_.run(words);
    EXPECT_EQ(outcome.exit_code, code) << words[0] << " " << words.back() << ": " << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("kernelindex: error: "));
  }
}

}  // namespace
}  // namespace kernelindex::test
