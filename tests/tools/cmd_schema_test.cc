// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ledger/predicate_schemas.h"
#include "schema/canonical_json.h"
#include "schema/manifest.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// job, build, launch, result, calibration-request, calibration
constexpr std::size_t kRunnerDocuments = 6;

class CmdSchema : public Cli {
 protected:
  std::filesystem::path written() {
    ok({"schema", "--to", (folder_ / "schemas").string()});
    return folder_ / "schemas";
  }
};

std::string canonical_of(const std::string& text) {
  json::Arena arena;
  return json::canonical(json::parse(text, arena).value());
}

TEST_F(CmdSchema, ListsEveryPredicateAndKind) {
  const std::string list = ok({"schema"});
  for (const PredicateType& type : predicate_types()) {
    EXPECT_THAT(list, HasSubstr(std::string(type.name) + " "));
  }
  EXPECT_THAT(list, HasSubstr("BenchmarkRun"));
  const json::Value document = this->document({"schema"});
  EXPECT_EQ(document.find("schemas")->array().size(),
            predicate_types().size() + kManifestKinds + kRunnerDocuments);
}

TEST_F(CmdSchema, PrintsOneForPeopleAndForPrograms) {
  for (const PredicateType& type : predicate_types()) {
    const std::string name(type.name);
    EXPECT_EQ(canonical_of(ok({"schema", name})), predicate_json_schema(type));
    EXPECT_EQ(ok({"schema", name, "--json"}), predicate_json_schema(type) + "\n");
  }
  const Outcome unknown = run({"schema", "rumour/v1"});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_THAT(unknown.out, IsEmpty());
  EXPECT_THAT(unknown.err, HasSubstr("lists the names"));
  EXPECT_EQ(run({"schema", "note/v1", "--to", "somewhere"}).exit_code, 2);
}

TEST_F(CmdSchema, WritesAllAsFiles) {
  const std::filesystem::path folder = written();
  for (const PredicateType& type : predicate_types()) {
    EXPECT_EQ(canonical_of(read_file(folder / "predicates" / predicate_schema_file(type))),
              predicate_json_schema(type));
  }
  std::size_t kinds = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder / "manifests")) {
    EXPECT_THAT(read_file(file), StartsWith("{\n")) << file.path();
    ++kinds;
  }
  EXPECT_EQ(kinds, kManifestKinds);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "runner"), {}),
            static_cast<std::ptrdiff_t>(kRunnerDocuments));
  write_file(folder_ / "file", "");
  EXPECT_EQ(run({"schema", "--to", (folder_ / "file" / "schemas").string()}).exit_code, 6);
}

// The normal forms of manifests that others wrote, by a validator that is not ours.
TEST_F(CmdSchema, RealManifestsAreValid) {
  KERNELINDEX_REQUIRE_CORPUS();
  RunOptions options;
  std::set<std::string> kinds;
  for (const auto& file :
       std::filesystem::directory_iterator(corpus_path("data/sources/kernelindex/examples"))) {
    if (!file.is_regular_file()) continue;
    const std::string bytes = ok({"manifest", "canonicalize", file.path().string()});
    json::Arena arena;
    const std::string kind(json::parse(bytes, arena).value().text("kind"));
    kinds.insert(kind);
    options.input += R"({"schema":")" + kind + R"(.schema.json","document":)" + bytes + "}\n";
    // The same with a member that nobody knows.
    options.input +=
        R"({"schema":")" + kind + R"(.schema.json","document":{"x":1,)" + bytes.substr(1) + "}\n";
  }
  EXPECT_GE(kinds.size(), 5u);
  const std::string script = (source_root() / "tests/support/validate_json.py").string();
  const Outcome outcome =
      run_program({"env", "python3", script, (written() / "manifests").string()}, options);
  if (outcome.exit_code == 77 || outcome.exit_code == 127) {
    GTEST_SKIP() << "NO VALIDATOR: python3-jsonschema is not installed, so this proves nothing";
  }
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::string sound;
  std::string spoilt;
  while (std::getline(lines, sound) && std::getline(lines, spoilt)) {
    EXPECT_EQ(sound, "valid");
    EXPECT_THAT(spoilt, StartsWith("invalid"));
  }
}

}  // namespace
}  // namespace kernelindex::test
