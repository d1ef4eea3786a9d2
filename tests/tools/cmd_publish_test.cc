// SPDX-License-Identifier: Apache-2.0
// export tiles, verify tiles and cosign: what leaves the ledger, and what strangers make of it.
#include <gmock/gmock.h>

#include <filesystem>

#include "ledger/checkpoint.h"
#include "ledger/key_file.h"
#include "ledger/static_log.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CmdPublish : public Cli {
 protected:
  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  std::string vkey() { return std::string(document({"status"}).text("logKey")); }
  void add_project(const std::string& name) {
    write_file(folder_ / "p.json",
               R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","metadata":)"
               R"({"name":"v"},"spec":{"name":")" +
                   name + R"(","repository":"https://example.invalid/vector/)" + name + R"("}})");
    ok({"add", path("p.json")});
  }
  // A key file of a witness.
  std::string witness_key(char letter) {
    const std::string file = path(std::string("witness-") + letter + ".key");
    SigningKey key = SigningKey::from_seed(std::string(32, letter)).value();
    const KeyFile content{Role::contributor, std::string("witness-") + letter, std::move(key)};
    EXPECT_TRUE(create_key_file(file, content, "").has_value());
    return file;
  }
  std::vector<std::string> cosign(std::vector<std::string> more) {
    std::vector<std::string> words = {"cosign", "--log-key", vkey()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(CmdPublish, WhatIsExportedIsJudgedWholeByItsKeyAlone) {
  import_sample();
  const std::string key = vkey();
  const json::Value made = document({"export", "tiles", path("out")});
  const double size = made.find("size")->number();
  EXPECT_EQ(made.find({"written", "bundles"})->number(), 1);
  EXPECT_GT(made.find({"written", "objects"})->number(), size / 2);
  std::filesystem::remove_all(folder_ / "ledger");
  const json::Value judged = document({"verify", "tiles", path("out"), "--key", key});
  EXPECT_TRUE(judged.find("ok")->boolean());
  EXPECT_EQ(judged.find({"checked", "leaves"})->number(), size);
  EXPECT_EQ(judged.find("otherEntries")->number(), 0);
  EXPECT_EQ(judged.find("objectsAbsent")->number(), 0);
  EXPECT_THAT(ok({"verify", "tiles", path("out"), "--key", key}), EndsWith("OK\n"));
}

TEST_F(CmdPublish, AGrownLedgerAddsToItsExport) {
  import_sample();
  ok({"export", "tiles", path("out")});
  const std::string old = read_file(folder_ / "out/checkpoint");
  add_project("one");
  const json::Value again = document({"export", "tiles", path("out")});
  EXPECT_GT(again.find({"kept", "objects"})->number(), 10);
  EXPECT_LT(again.find({"written", "objects"})->number(), 5);
  const std::string key = vkey();
  ok({"verify", "tiles", path("out"), "--key", key});
  write_file(folder_ / "out/checkpoint", old);
  EXPECT_THAT(ok({"verify", "tiles", path("out"), "--key", key}), EndsWith("OK\n"));
}

// PITFALLS 50: one byte of every class of file; each is an exit 1 that names it.
TEST_F(CmdPublish, ASpoiltByteInAnyFileIsExitOneAndNamed) {
  import_sample();
  ok({"export", "tiles", path("out")});
  const std::string key = vkey();
  std::map<std::string, std::filesystem::path> classes;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder_ / "out")) {
    if (!file.is_regular_file()) continue;
    const std::string name = file.path().lexically_relative(folder_ / "out").generic_string();
    classes[name.substr(0, name.rfind('/'))] = file.path();
  }
  EXPECT_GT(classes.size(), 4u);
  for (const auto& [name, file] : classes) {
    const std::string whole = read_file(file);
    std::string bytes = whole;
    bytes[bytes.size() / 2] ^= 1;
    write_file(file, bytes);
    const Outcome outcome = run({"verify", "tiles", path("out"), "--key", key});
    if (name == "checkpoint") {
      EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(1, 3));  // no checkpoint, or a false one
    } else {
      EXPECT_EQ(outcome.exit_code, 1) << name << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr(name.substr(0, name.find('/'))));
    }
    write_file(file, whole);
  }
  EXPECT_EQ(run({"verify", "tiles", path("out"), "--key", key}).exit_code, 0);
}

TEST_F(CmdPublish, VerifyTilesNeedsAKeyAndAFolderOfALog) {
  found_ledger();
  ok({"export", "tiles", path("out")});
  const std::string key = vkey();
  EXPECT_EQ(run({"verify", "tiles", path("out")}).exit_code, 2);
  EXPECT_EQ(run({"verify"}).exit_code, 2);
  EXPECT_EQ(run({"verify", "tiles", path("out"), "--key", "nonsense"}).exit_code, 3);
  const Outcome missing = run({"verify", "tiles", path("none"), "--key", key});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr("NO_FILE"));
  write_file(folder_ / "out/checkpoint", "hello\n");
  EXPECT_EQ(run({"verify", "tiles", path("out"), "--key", key}).exit_code, 3);
}

TEST_F(CmdPublish, AStrangersKeyIsNotTheLogs) {
  found_ledger();
  ok({"export", "tiles", path("out")});
  const std::string origin = vkey().substr(0, vkey().find('+'));
  const SigningKey other = SigningKey::from_seed(std::string(32, 'o')).value();
  const Outcome outcome = run({"verify", "tiles", path("out"), "--key",
                               log_verifier_key(origin, other.public_key()).text()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("NOT_SIGNED"));
}

TEST_F(CmdPublish, ExportRefusesAFolderOfAnotherLedger) {
  found_ledger();
  ok({"export", "tiles", path("out")});
  std::filesystem::remove_all(folder_ / "ledger");
  std::filesystem::remove_all(folder_ / "state");
  found_ledger();
  const Outcome outcome = run({"export", "tiles", path("out")});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.err, HasSubstr("EXPORT_OF_ANOTHER_LOG"));
}

// The whole way round: a checkpoint, its growth proved, cosigned by two witnesses.
TEST_F(CmdPublish, CosignsALogAsItGrows) {
  found_ledger();
  const std::string key = witness_key('w');
  write_file(folder_ / "first", ok({"checkpoint"}));
  ok(cosign({"--checkpoint", path("first"), "--state", path("memory"), "--key", key, "-o",
             path("first.cosigned")}));
  add_project("one");
  write_file(folder_ / "second", ok({"checkpoint"}));
  write_file(folder_ / "proof", ok({"checkpoint", "--since", path("first"), "--json"}));

  const Outcome unproved =
      run(cosign({"--checkpoint", path("second"), "--state", path("memory"), "--key", key}));
  EXPECT_EQ(unproved.exit_code, 1);
  EXPECT_THAT(unproved.out, HasSubstr("NOT cosigned"));
  // By memory, and by the file that was written last.
  const std::string by_memory =
      ok(cosign({"--checkpoint", path("second"), "--state", path("memory"), "--proof",
                 path("proof"), "--key", key}));
  ok(cosign({"--checkpoint", path("second"), "--old", path("first.cosigned"), "--proof",
             path("proof"), "--key", key, "-o", path("second.cosigned")}));
  // A second witness adds its line, and the first one's stays.
  const std::string both = ok(cosign({"--checkpoint", path("second.cosigned"), "--old", "0",
                                      "--key", witness_key('x'), "--name", "x.example"}));
  const SignedCheckpoint checkpoint = parse_checkpoint(both).value();
  const std::vector logs = {parse_vkey(vkey()).value()};
  const std::vector witnesses = {
      VerifierKey{"witness-w", NoteAlgorithm::cosignature,
                  SigningKey::from_seed(std::string(32, 'w')).value().public_key()},
      VerifierKey{"x.example", NoteAlgorithm::cosignature,
                  SigningKey::from_seed(std::string(32, 'x')).value().public_key()}};
  const CheckpointVerdict verdict = verify_checkpoint(checkpoint, logs, witnesses);
  EXPECT_TRUE(verdict.ok()) << verdict.detail;
  EXPECT_EQ(verdict.cosignatures.size(), 2u);
  EXPECT_THAT(by_memory, HasSubstr("witness-w"));
  // The older one again: the memory has moved on.
  EXPECT_EQ(run(cosign({"--checkpoint", path("first"), "--state", path("memory"), "--key", key}))
                .exit_code,
            1);
}

TEST_F(CmdPublish, CosignSaysWhyNot) {
  found_ledger();
  const std::string key = witness_key('w');
  write_file(folder_ / "note", ok({"checkpoint"}));
  const SigningKey other = SigningKey::from_seed(std::string(32, 'o')).value();
  const std::string origin = vkey().substr(0, vkey().find('+'));
  const Outcome unsigned_ =
      run({"cosign", "--log-key", log_verifier_key(origin, other.public_key()).text(),
           "--checkpoint", path("note"), "--old", "0", "--key", key, "--json"});
  EXPECT_EQ(unsigned_.exit_code, 1);
  EXPECT_THAT(unsigned_.out, AllOf(HasSubstr("\"ok\":false"), HasSubstr("NOT_SIGNED")));
  const Outcome unknown =
      run({"cosign", "--log-key", log_verifier_key("example.org/x", other.public_key()).text(),
           "--checkpoint", path("note"), "--old", "0", "--key", key});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.out, HasSubstr("UNKNOWN_LOG"));
  // Not a checkpoint of ours, as the last one.
  EXPECT_EQ(
      run(cosign({"--checkpoint", path("note"), "--old", path("note"), "--key", key})).exit_code,
      3);
  // The log is not its own witness.
  const Outcome own = run(
      cosign({"--checkpoint", path("note"), "--old", "0", "--key", path("ledger/keys/log.key")}));
  EXPECT_EQ(own.exit_code, 5);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--checkpoint", path("note"), "--key", key},
           {"--old", "0", "--key", key},
           {"--checkpoint", path("note"), "--old", "0"},
           {"--checkpoint", path("note"), "--old", "0", "--state", path("m"), "--key", key},
           {"--checkpoint", path("note"), "--old", "0", "--key", key, "--name", "a b"}}) {
    const Outcome outcome = run(cosign(words));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(CmdPublish, AFalseProofIsNotCosigned) {
  found_ledger();
  const std::string key = witness_key('w');
  write_file(folder_ / "first", ok({"checkpoint"}));
  ok(cosign({"--checkpoint", path("first"), "--old", "0", "--key", key, "-o", path("cosigned")}));
  add_project("one");
  write_file(folder_ / "second", ok({"checkpoint"}));
  const std::string hash = to_base64(std::string(32, 'h')) + "\n";
  for (const auto& [proof, code] :
       std::vector<std::pair<std::string, int>>{{"", 1},
                                                {"\n", 1},
                                                {hash, 1},
                                                {hash + hash + hash + hash + "\n", 1},
                                                {hash.substr(1), 3},
                                                {hash + "\n" + hash, 3},
                                                {"{}", 3},
                                                {"{\"proof\":[1]}", 3},
                                                {"{\"proof\":[]}", 1}}) {
    write_file(folder_ / "proof", proof);
    const Outcome outcome = run(cosign({"--checkpoint", path("second"), "--old", path("cosigned"),
                                        "--proof", path("proof"), "--key", key}));
    EXPECT_EQ(outcome.exit_code, code) << proof << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace kernelindex::test
