// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelindex::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr OptionSpec kOptions[] = {
    {.name = "--tag", .value = "T", .repeated = true},
    {.name = "--as-of", .value = "SIZE", .kind = ValueKind::count},
    {.name = "--level", .value = "LEVEL", .kind = ValueKind::choice, .choices = "none|reported"},
    {.name = "--all"},
    {.name = "ID", .required = true},
    {.name = "PATH", .repeated = true},
};
constexpr Verb kHistory{.name = "history", .summary = "history", .options = kOptions};
constexpr OptionSpec kImportOptions[] = {
    {.name = "SOURCE", .kind = ValueKind::choice, .choices = "dump|pages"},
    {.name = "PATH", .kind = ValueKind::file, .required = true, .repeated = true},
};
constexpr Verb kImport{.name = "import", .summary = "import", .options = kImportOptions};
constexpr Verb kKeyNew{.name = "key new", .summary = "new key"};
constexpr Verb kKeyList{.name = "key list", .summary = "keys"};
constexpr OptionSpec kFileOptions[] = {{.name = "FILE", .required = true}, {.name = "ID"}};
constexpr OptionSpec kDirOptions[] = {{.name = "--key", .value = "VKEY"},
                                      {.name = "DIR", .required = true}};
constexpr Verb kVerify{.name = "verify", .summary = "file", .options = kFileOptions};
constexpr Verb kVerifyTiles{.name = "verify tiles", .summary = "tiles", .options = kDirOptions};
constexpr const Verb* kTable[] = {&kHistory, &kImport,      &kKeyNew,
                                  &kKeyList, &kVerifyTiles, &kVerify};

Result<Command> parse(const std::vector<std::string>& words) {
  return parse_command_line(words, kTable);
}

std::string refusal(const std::vector<std::string>& words) {
  const Result<Command> command = parse(words);
  if (command) return "accepted";
  EXPECT_EQ(command.error().kind, ErrorKind::usage);
  EXPECT_FALSE(command.error().remedy.empty());
  return command.error().message;
}

TEST(CommandLine, OptionsAndArgumentsArrive) {
  const Result<Command> command = parse({"history", "--tag", "a", "fa2cdd", "--tag=b", "--as-of",
                                         "18446744073709551615", "x", "y", "--all"});
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_EQ(command->verb, &kHistory);
  EXPECT_THAT(command->arguments->list("--tag"), ElementsAre("a", "b"));
  EXPECT_EQ(command->arguments->count("--as-of"), 18446744073709551615u);
  EXPECT_EQ(command->arguments->text("ID"), "fa2cdd");
  EXPECT_THAT(command->arguments->list("PATH"), ElementsAre("x", "y"));
  EXPECT_TRUE(command->arguments->given("--all"));
  EXPECT_FALSE(command->arguments->given("--level"));
}

TEST(CommandLine, CommonOptionsStandBeforeOrAfterTheVerb) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--ledger", "d", "history", "x"}, {"history", "--ledger", "d", "x"}}) {
    const Result<Command> command = parse(words);
    ASSERT_TRUE(command) << command.error().text();
    EXPECT_EQ(command->common->text("--ledger"), "d");
  }
  EXPECT_EQ(refusal({"--ledger", "a", "history", "x", "--ledger", "b"}), "--ledger is given twice");
}

TEST(CommandLine, AnArgumentMayBeTheNameOfAVerb) {
  const Result<Command> command = parse({"history", "history", "key", "-"});
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_EQ(command->arguments->text("ID"), "history");
  EXPECT_THAT(command->arguments->list("PATH"), ElementsAre("key", "-"));
}

TEST(CommandLine, AWordThatIsNoneOfTheOptionalChoicesIsTheNextArgument) {
  const Result<Command> named = parse({"import", "dump", "a", "b"});
  ASSERT_TRUE(named) << named.error().text();
  EXPECT_EQ(named->arguments->text("SOURCE"), "dump");
  EXPECT_THAT(named->arguments->list("PATH"), ElementsAre("a", "b"));
  const Result<Command> plain = parse({"import", "a", "dump"});
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_FALSE(plain->arguments->given("SOURCE"));
  EXPECT_THAT(plain->arguments->list("PATH"), ElementsAre("a", "dump"));
  EXPECT_EQ(refusal({"import", "dump"}), "import: PATH is required");
  EXPECT_EQ(refusal({"import"}), "import: PATH is required");
}

TEST(CommandLine, WordsAfterTwoDashesAreArguments) {
  const Result<Command> command = parse({"history", "--", "--all"});
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_EQ(command->arguments->text("ID"), "--all");
}

TEST(CommandLine, VerbsOfTwoWords) {
  const Result<Command> command = parse({"key", "list"});
  ASSERT_TRUE(command) << command.error().text();
  EXPECT_EQ(command->verb, &kKeyList);
  EXPECT_EQ(refusal({"key"}), "a verb is missing");
  EXPECT_EQ(refusal({"key", "steal"}), "there is no verb 'key steal'");
}

TEST(CommandLine, AFirstWordMayBeAVerbAndLeadToOthers) {
  constexpr const Verb* kOtherOrder[] = {&kVerify, &kVerifyTiles};
  for (const std::span<const Verb* const> table :
       {std::span<const Verb* const>(kTable), std::span<const Verb* const>(kOtherOrder)}) {
    const auto run = [&](const std::vector<std::string>& words) {
      return parse_command_line(words, table);
    };
    const Result<Command> file = run({"verify", "run.bundle", "abcdef"});
    ASSERT_TRUE(file) << file.error().text();
    EXPECT_EQ(file->verb, &kVerify);
    EXPECT_EQ(file->arguments->text("FILE"), "run.bundle");
    EXPECT_EQ(file->arguments->text("ID"), "abcdef");
    const Result<Command> tiles = run({"verify", "tiles", "out", "--key", "k"});
    ASSERT_TRUE(tiles) << tiles.error().text();
    EXPECT_EQ(tiles->verb, &kVerifyTiles);
    EXPECT_EQ(tiles->arguments->text("DIR"), "out");
    EXPECT_EQ(run({"verify"}).error().message, "verify: FILE is required");
    EXPECT_EQ(run({"verify", "tiles"}).error().message, "verify tiles: DIR is required");
    EXPECT_EQ(run({"verify", "a", "b", "c"}).error().message, "verify: unexpected argument 'c'");
    EXPECT_EQ(run({"verify", "--help"})->verb, &kVerify);
    EXPECT_EQ(run({"verify", "tiles", "--help"})->verb, &kVerifyTiles);
  }
}

TEST(CommandLine, HelpIsHelpWhateverElseIsMissing) {
  EXPECT_EQ(parse({"history", "--help"})->verb, &kHistory);
  EXPECT_EQ(parse({"help", "key", "new"})->verb, &kKeyNew);
  EXPECT_EQ(parse({"key", "-h"})->group, "key");
  EXPECT_EQ(parse({"--help"})->what, Command::What::help);
  EXPECT_EQ(parse({"help"})->what, Command::What::help);
  EXPECT_EQ(parse({"--version"})->what, Command::What::version);
}

TEST(CommandLine, RefusalsNameTheWord) {
  EXPECT_EQ(refusal({}), "a verb is missing");
  EXPECT_EQ(refusal({"frobnicate"}), "there is no verb 'frobnicate'");
  EXPECT_EQ(refusal({"history"}), "history: ID is required");
  EXPECT_EQ(refusal({"history", "x", "--frob"}), "history: unexpected argument '--frob'");
  EXPECT_EQ(refusal({"key", "list", "x"}), "key list: unexpected argument 'x'");
  EXPECT_EQ(refusal({"history", "x", "--as-of"}), "history: --as-of needs a value");
  EXPECT_EQ(refusal({"history", "x", "--as-of", "1", "--as-of", "2"}),
            "history: --as-of is given twice");
  EXPECT_EQ(refusal({"history", "x", "--all=yes"}), "history: --all takes no value");
  EXPECT_EQ(refusal({"history", ""}), "ID must not be empty");
}

TEST(CommandLine, ValuesAreCheckedBeforeAnythingIsOpened) {
  for (const char* number : {"-1", "1.5", "1e3", "0x10", " 1", "18446744073709551616", "many"}) {
    EXPECT_THAT(refusal({"history", "x", std::string("--as-of=") + number}),
                HasSubstr("--as-of takes a whole number"))
        << number;
  }
  EXPECT_EQ(refusal({"history", "x", "--level", "best"}),
            "--level is one of none|reported, not 'best'");
  EXPECT_THAT(refusal({"history", "x", "--level", "none|reported"}), HasSubstr("is one of"));
}

TEST(CommandLine, AMistypedVerbIsRecognised) {
  const Result<Command> command = parse({"histroy"});
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().remedy, "Did you mean 'history'?");
  const std::vector<std::string> names = {"show", "log"};
  EXPECT_EQ(nearest_name("shwo", names), "show");
  EXPECT_EQ(nearest_name("xyz", names), "");
}

}  // namespace
}  // namespace kernelindex::tools
