// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/corpus.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// DESIGN's pinned vector: a project by that spec has this digest, whatever its metadata says.
constexpr std::string_view kProject =
    R"({"kind":"SoftwareProject","apiVersion":"kernelindex.dev/v1alpha1",
        "metadata":{"name":"vector","title":"Vector"},
        "spec":{"repository":"https://example.invalid/vector/project","name":"Vector Project"}})";
constexpr std::string_view kProjectDigest =
    "sha256:bea60af06f12216679b113d6624c5293d59bef2104ccc27cd33c992d124e039d";
constexpr std::string_view kIdentity =
    R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject",)"
    R"("spec":{"name":"Vector Project","repository":"https://example.invalid/vector/project"}})";

Outcome manifest(std::vector<std::string> words, std::string input = {}) {
  words.insert(words.begin(), {KERNELINDEX_PROGRAM, "manifest"});
  return run_program(words, {.input = std::move(input)});
}

TEST(CmdManifest, DigestPrintsTheIdentityAlone) {
  const Outcome outcome = manifest({"digest", "-"}, std::string(kProject));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, std::string(kProjectDigest) + "\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(CmdManifest, YamlAndJsonOfOneManifestHaveOneDigest) {
  constexpr std::string_view kYaml =
      "apiVersion: kernelindex.dev/v1alpha1\nkind: SoftwareProject\nmetadata:\n  name: vector\n"
      "spec:\n  name: Vector Project\n  repository: https://example.invalid/vector/project\n";
  EXPECT_EQ(manifest({"digest", "-"}, std::string(kYaml)).out, std::string(kProjectDigest) + "\n");
  const TempDir folder;
  write_file(folder / "project.yaml", kYaml);
  const Outcome outcome = manifest({"digest", (folder / "project.yaml").string(), "--json"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(R"("kind":"SoftwareProject")"), HasSubstr(kProjectDigest)));
}

TEST(CmdManifest, EveryExampleOfTheForerunnerIsValid) {
  KERNELINDEX_REQUIRE_CORPUS();
  std::vector<std::string> words{"validate"};
  for (const auto& file :
       std::filesystem::directory_iterator(corpus_path("data/sources/kernelindex/examples"))) {
    if (file.is_regular_file()) words.push_back(file.path().string());
  }
  ASSERT_EQ(words.size(), 14u);
  const Outcome outcome = manifest(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST(CmdManifest, CanonicalBytesHaveNoNewlineAdded) {
  EXPECT_EQ(manifest({"canonicalize", "--identity", "-"}, std::string(kProject)).out, kIdentity);
  const std::string whole = manifest({"canonicalize", "-"}, std::string(kProject)).out;
  EXPECT_TRUE(whole.starts_with(R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":)"));
  EXPECT_TRUE(whole.ends_with("}}"));
}

TEST(CmdManifest, AnyCanonicalisesWhatHasNoSchema) {
  const Outcome outcome = manifest({"canonicalize", "--any", "-"}, R"( {"b": -0, "a": 1e-5} )");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, R"({"a":0.00001,"b":0})");
  EXPECT_EQ(manifest({"canonicalize", "--any", "-"}, R"("x")").out, R"("x")");
  EXPECT_EQ(manifest({"canonicalize", "--any", "--identity", "-"}, "{}").exit_code, 2);
}

TEST(CmdManifest, AnyIsStrictAndBounded) {
  EXPECT_EQ(manifest({"canonicalize", "--any", "-"}, R"({"a":1,"\u0061":2})").exit_code, 3);
  EXPECT_EQ(manifest({"canonicalize", "--any", "-"}, std::string(100'000, '[')).exit_code, 3);
  const std::string large = "\"" + std::string(16 * 1024 * 1024, 'x') + "\"";
  const Outcome outcome = manifest({"canonicalize", "--any", "-"}, large);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("16777216 bytes"));
}

TEST(CmdManifest, ValidateListsEveryFault) {
  const TempDir folder;
  const std::string good = (folder / "good.json").string();
  const std::string bad = (folder / "bad.json").string();
  write_file(good, kProject);
  write_file(bad, R"({"kind":"SoftwareProject","apiVersion":"kernelindex.dev/v1alpha1",
                      "metadata":{"name":"Vector"},"spec":{"nmae":"x"}})");
  EXPECT_EQ(manifest({"validate", good}).exit_code, 0);
  const Outcome outcome = manifest({"validate", good, bad});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("good.json: valid SoftwareProject, sha256:bea60af0"),
                                 HasSubstr("metadata.name"), HasSubstr("spec.nmae")));
}

TEST(CmdManifest, ValidateSpeaksJson) {
  const Outcome outcome = manifest({"validate", "-", "--json"}, std::string(kProject));
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(R"("valid":true)"), HasSubstr(kProjectDigest)));
  const Outcome refused = manifest({"validate", "-", "--json"}, "{");
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.out, HasSubstr(R"("valid":false)"));
}

TEST(CmdManifest, InputThatIsNotThereOrTooLargeIsNamed) {
  const Outcome missing = manifest({"digest", "/nowhere/run.json"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("/nowhere/run.json: No such file"));
  EXPECT_EQ(manifest({"digest", "/"}).exit_code, 6);  // a folder
  EXPECT_EQ(manifest({"digest", "-"}, std::string(1024 * 1024 + 1, ' ')).exit_code, 3);
  EXPECT_EQ(manifest({"digest", "-"}, "").exit_code, 3);
}

TEST(CmdManifest, NamesFromOutsideCannotSteerTheTerminal) {
  const Outcome outcome = manifest({"digest", "/nowhere/\x1b[31mred"});
  EXPECT_THAT(outcome.err, HasSubstr("\\x1b[31mred"));
}

}  // namespace
}  // namespace kernelindex::test
