// SPDX-License-Identifier: Apache-2.0
// key, init --root, and what the root says: through the command line, as people meet it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "ledger/checkpoint.h"
#include "ledger/key_file.h"
#include "ledger/role_keys.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::string_view kProject =
    R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","metadata":{"name":"v"},
        "spec":{"name":"Vector Project","repository":"https://example.invalid/vector/project"}})";
constexpr std::string_view kProjectDigest =
    "sha256:bea60af06f12216679b113d6624c5293d59bef2104ccc27cd33c992d124e039d";
constexpr std::string_view kRun = "sol-execbench:submission/15866";

class CmdKey : public Cli {
 protected:
  fs::path keys() const { return folder_ / "ledger" / "keys"; }
  std::string file(std::string_view name) const { return (folder_ / name).string(); }

  struct NewKey {
    std::string file;
    std::string public_key;
    std::string id;
  };
  NewKey new_key(std::vector<std::string> words) {
    words.insert(words.begin(), {"key", "new"});
    const json::Value made = document(std::move(words));
    return {std::string(made.text("file")), std::string(made.text("publicKey")),
            std::string(made.text("keyId"))};
  }
  // Expects an exit code and an error of that code, which says what to do.
  void refused(std::vector<std::string> words, int exit_code, const std::string& code) {
    const std::string name = words[0] + " " + words[1];
    const Outcome outcome = run(std::move(words));
    EXPECT_EQ(outcome.exit_code, exit_code) << name << ": " << outcome.err;
    // Of wrong usage people are told without a code.
    if (exit_code != 2) {
      EXPECT_THAT(outcome.err, HasSubstr("(" + code + ")")) << name;
    }
    EXPECT_EQ(outcome.out, "") << name;
  }
  void expect_sound() { EXPECT_THAT(ok({"audit"}), EndsWith("OK\n")); }
  std::string level() {
    return std::string(document({"provenance", std::string(kRun)}).text("level"));
  }
  std::string id_of(std::string_view role) {
    for (const json::Value& key : document({"key", "list"}).find("keys")->array()) {
      if (key.text("role") == role) return std::string(key.text("keyId"));
    }
    return {};
  }
  std::vector<VerifierKey> verifiers(const std::vector<std::string>& lines) {
    std::vector<VerifierKey> out;
    for (const std::string& line : lines) out.push_back(parse_vkey(line).value());
    return out;
  }
  std::string exported() {
    std::string text = ok({"key", "export", "--role", "log"});
    EXPECT_THAT(text, EndsWith("\n"));
    text.pop_back();
    return text;
  }
};

TEST_F(CmdKey, ANewKeyIsAFileOfItsOwnerAlone) {
  const NewKey key = new_key({"runner", "--owner", "lab", "-o", "runner.key"});
  struct stat info {};
  ASSERT_EQ(stat(file("runner.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const Result<KeyFile> read = read_key_file(folder_ / "runner.key", {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->role, Role::runner);
  EXPECT_EQ(read->owner, "lab");
  EXPECT_EQ(read->key.public_key().base64(), key.public_key);
  EXPECT_EQ(read->key.public_key().id().hex(), key.id);
  refused({"key", "new", "runner", "-o", "runner.key"}, 5, "KEY_FILE_EXISTS");
  refused({"key", "new", "runner"}, 3, "NO_KEY_FOLDER");
  refused({"key", "new", "runner", "--owner", "No Slug", "-o", "x.key"}, 2, "BAD_OWNER");
  EXPECT_EQ(run({"key", "new", "king", "-o", "x.key"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder_ / "x.key"));
}

TEST_F(CmdKey, APassphraseEncryptsANewKey) {
  write_file(folder_ / "phrase", "correct horse\n");
  new_key({"root", "-o", "root.key", "--passphrase-file", "phrase"});
  EXPECT_EQ(read_key_file(folder_ / "root.key", {}).error().code, "PASSPHRASE_NEEDED");
  EXPECT_TRUE(read_key_file(folder_ / "root.key", "correct horse"));
  EXPECT_THAT(read_file(folder_ / "root.key"), Not(HasSubstr("\"secret\"")));
}

TEST_F(CmdKey, AKeySignsFromItsEnrolmentToItsRevocation) {
  import_sample();
  const NewKey alice = new_key({"contributor", "--owner", "alice", "-o", "alice.key"});
  const std::vector<std::string> note = {"attest", std::string(kRun), "--type", "reproduced",
                                         "--text", "same here",       "--key",  "alice.key"};
  refused(note, 5, "KEY_NOT_ENROLLED");
  EXPECT_THAT(ok({"key", "enrol", "contributor", alice.public_key, "--owner", "alice"}),
              HasSubstr("enrolment of sha256:" + alice.id));
  ok(note);
  const std::string shown = ok({"key", "show", alice.id.substr(0, 8)});
  EXPECT_THAT(shown, AllOf(HasSubstr("alice"), HasSubstr(alice.public_key), HasSubstr("valid")));
  ok({"key", "revoke", alice.id.substr(0, 12), "--reason", "left the project"});
  refused(note, 5, "KEY_REVOKED");
  EXPECT_THAT(ok({"key", "show", alice.id}),
              AllOf(HasSubstr("revoked at 74"), HasSubstr("left the project")));
  expect_sound();
}

TEST_F(CmdKey, WhatTheRootMayNotSayIsRefused) {
  found_ledger();
  const NewKey key = new_key({"runner", "--owner", "lab", "-o", "runner.key"});
  ok({"key", "enrol", "runner", key.public_key, "--owner", "lab", "--hardware", "NVIDIA B200"});
  const std::string size = ok({"status", "--json"});
  // A second enrolment, in the same or another role.
  refused({"key", "enrol", "runner", key.public_key, "--owner", "lab"}, 5, "ALREADY_ENROLLED");
  refused({"key", "enrol", "importer", key.public_key, "--owner", "lab"}, 5, "ALREADY_ENROLLED");
  // Points of small order, and what is no point at all.
  for (const std::string point : {"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                                  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
                                  "7P///////////////////////////////////////38=",
                                  "x0WQHqSs4VgxUbbWB4FLSDLuxrG4NlKbBn9SJbR9DQo=", "bm90IGEga2V5"}) {
    refused({"key", "enrol", "importer", point, "--owner", "lab"}, 3, "BAD_PUBLIC_KEY");
  }
  const NewKey other = new_key({"importer", "-o", "other.key"});
  refused({"key", "enrol", "importer", other.public_key, "--owner", "No Slug"}, 2, "BAD_OWNER");
  refused({"key", "enrol", "importer", other.public_key, "--owner", "x", "--hardware", "y"}, 2,
          "USAGE");
  EXPECT_EQ(run({"key", "enrol", "root", other.public_key, "--owner", "lab"}).exit_code, 2);
  refused({"key", "revoke", id_of("root"), "--reason", "why"}, 5, "ROOT_REVOKED");
  refused({"key", "revoke", id_of("log"), "--reason", "why"}, 5, "LAST_LOG_KEY");
  refused({"key", "revoke", id_of("importer"), "--reason", "why", "--void-from", "4711"}, 5,
          "VOID_IN_FUTURE");
  refused({"key", "revoke", std::string(64, 'a'), "--reason", "why"}, 3, "NO_SUCH_KEY");
  refused({"key", "revoke", "xyz", "--reason", "why"}, 3, "BAD_ID");
  refused({"key", "revoke", id_of("importer")}, 2, "USAGE");
  // Only the root says such things.
  refused({"key", "enrol", "importer", other.public_key, "--owner", "lab", "--key",
           (keys() / "maintainer.key").string()},
          5, "WRONG_ROLE");
  EXPECT_EQ(ok({"status", "--json"}), size) << "nothing was recorded";
  expect_sound();
}

TEST_F(CmdKey, FilesOpenToOthersAreRefused) {
  found_ledger();
  const NewKey key = new_key({"runner", "-o", "runner.key"});
  for (const fs::perms mode : {fs::perms::group_read, fs::perms::others_read}) {
    fs::permissions(keys() / "root.key", fs::perms::owner_read | mode);
    refused({"key", "enrol", "runner", key.public_key, "--owner", "lab"}, 5, "KEY_FILE_UNSAFE");
    refused({"key", "sign", "runner.key", "--key", (keys() / "root.key").string()}, 5,
            "KEY_FILE_UNSAFE");
  }
}

TEST_F(CmdKey, ARotatedLogKeyHandsOverInOneCheckpoint) {
  import_sample();
  const std::string old_key = exported();
  write_file(folder_ / "old.txt", ok({"checkpoint"}));
  const std::string old_id = id_of("log");
  ok({"key", "rotate", "--role", "log", "--reason", "yearly"});
  const std::string new_key = exported();
  EXPECT_NE(new_key, old_key);
  EXPECT_TRUE(fs::exists(keys() / ("log-" + old_id.substr(0, 8) + ".key")));
  const SignedCheckpoint first = parse_checkpoint(ok({"checkpoint"})).value();
  EXPECT_THAT(first.signatures, SizeIs(2));
  // Who knows either key follows.
  EXPECT_TRUE(verify_checkpoint(first, verifiers({old_key})).ok());
  EXPECT_TRUE(verify_checkpoint(first, verifiers({new_key})).ok());
  EXPECT_EQ(verify_checkpoint(first, verifiers({old_key, new_key})).log_signatures, 2u);
  EXPECT_THAT(ok({"checkpoint", "--since", "old.txt"}), HasSubstr("is a prefix"));
  EXPECT_THAT(ok({"audit", "--since", "old.txt"}), EndsWith("OK\n"));
  ok({"attest", std::string(kRun), "--type", "reproduced", "--text", "again"});
  const SignedCheckpoint second = parse_checkpoint(ok({"checkpoint"})).value();
  EXPECT_THAT(second.signatures, SizeIs(1));
  EXPECT_TRUE(verify_checkpoint(second, verifiers({new_key})).ok());
  EXPECT_FALSE(verify_checkpoint(second, verifiers({old_key})).ok());
  expect_sound();
}

TEST_F(CmdKey, EveryOtherRoleIsRotatedAndGoesOn) {
  import_sample();
  for (const std::string role : {"importer", "contributor", "controller", "maintainer", "status"}) {
    ok({"key", "rotate", "--role", role, "--reason", "yearly"});
  }
  refused({"key", "rotate", "--role", "runner", "--reason", "none"}, 3, "NO_KEY_TO_ROTATE");
  EXPECT_EQ(run({"key", "rotate", "--role", "root", "--reason", "no"}).exit_code, 2);
  write_file(folder_ / "project.json", kProject);
  ok({"add", "project.json"});
  ok({"attest", std::string(kRun), "--type", "reproduced", "--text", "again"});
  ok({"retract", std::string(kProjectDigest), "--reason", "wrong"});
  EXPECT_EQ(level(), "reported");
  expect_sound();
}

TEST_F(CmdKey, ALostLogKeyIsReplacedByTheRoot) {
  import_sample();
  fs::remove(keys() / "log.key");
  refused({"attest", std::string(kRun), "--type", "reproduced", "--text", "x"}, 3, "NO_KEY_FILE");
  ok({"key", "rotate", "--role", "log", "--reason", "disk died"});
  const SignedCheckpoint first = parse_checkpoint(ok({"checkpoint"})).value();
  EXPECT_THAT(first.signatures, SizeIs(1)) << "the old key is not at hand";
  ok({"attest", std::string(kRun), "--type", "reproduced", "--text", "x"});
  expect_sound();
}

TEST_F(CmdKey, ARotationThatWasCutOffBeforeTheRenamingGoesOn) {
  import_sample();
  ok({"key", "rotate", "--role", "importer", "--reason", "yearly"});
  const std::string old_file = "importer-" + id_of("importer").substr(0, 8) + ".key";
  // The files as they lay before step 3 of ledger/key_rotation.h.
  std::string revoked;
  for (const auto& item : fs::directory_iterator(keys())) {
    const std::string name = item.path().filename().string();
    if (name.starts_with("importer-")) revoked = name;
  }
  fs::rename(keys() / "importer.key", keys() / "importer-00000000.key");
  fs::rename(keys() / revoked, keys() / "importer.key");
  write_file(folder_ / "project.json", kProject);
  ok({"add", "project.json"});
  ok({"key", "rotate", "--role", "importer", "--reason", "again"});
  EXPECT_TRUE(fs::exists(keys() / "importer.key"));
  EXPECT_TRUE(fs::exists(keys() / revoked)) << "its own name again";
  expect_sound();
}

TEST_F(CmdKey, ApprovalsComeAndGo) {
  found_ledger();
  const std::string harness = sha256("harness").text();
  ok({"key", "approve", "harness", harness, "--reason", "reviewed"});
  refused({"key", "approve", "harness", harness}, 5, "ALREADY_APPROVED");
  EXPECT_THAT(ok({"key", "list"}), AllOf(HasSubstr("harness"), HasSubstr(harness)));
  EXPECT_THAT(ok({"key", "show", harness}), HasSubstr("reviewed"));
  ok({"key", "revoke", harness, "--reason", "flawed"});
  const json::Value list = document({"key", "list"});
  EXPECT_EQ(list.find("approvals")->array()[0].find("revokedAt")->number(), 8);
  ok({"key", "approve", "harness", harness});
  refused({"key", "approve", "protocol", "nonsense"}, 3, "BAD_ID");
  expect_sound();
}

// A key that was stolen: what it signed since never counted, and what rests on it has no level.
TEST_F(CmdKey, ACompromisedImporterTakesItsLevelsAlong) {
  import_sample();
  EXPECT_EQ(level(), "reported");
  ok({"key", "revoke", id_of("importer"), "--reason", "left"});
  EXPECT_EQ(level(), "reported") << "what it said before stands";
  ok({"key", "revoke", id_of("importer"), "--reason", "stolen", "--void-from", "7"});
  EXPECT_EQ(level(), "none");
  ok({"reindex"});
  EXPECT_EQ(level(), "none");
  expect_sound();
}

// ---- a root that is kept elsewhere ----

class RootElsewhere : public CmdKey {
 protected:
  // A folder that stands for the other machine.
  std::string safe(std::string_view name) const { return (folder_ / "safe" / name).string(); }
  std::string make_root() {
    fs::create_directory(folder_ / "safe");
    return new_key({"root", "--owner", "example", "-o", safe("root.key")}).public_key;
  }
  std::vector<std::string> waiting() {
    std::vector<std::string> out;
    for (const auto& item : fs::directory_iterator(folder_ / "ledger" / "founding")) {
      out.push_back(item.path().string());
    }
    return out;
  }
  void found_with_root_elsewhere() {
    ok({"init", "--root", make_root(), "--owner", "example", "--quiet"});
    std::vector<std::string> words = {"key", "sign", "--key", safe("root.key")};
    for (const std::string& path : waiting()) words.push_back(path);
    ok(words);
    ok({"init", "--resume", "--quiet"});
  }
};

TEST_F(RootElsewhere, ALedgerIsFoundedWithoutTheRootKeyEverBeingHere) {
  const std::string root = make_root();
  const json::Value prepared = document({"init", "--root", root, "--owner", "example"});
  const std::string ledger_id(prepared.text("ledgerId"));
  EXPECT_EQ(prepared.find("toSign")->array().size(), 7u);
  refused({"init", "--root", root}, 5, "FOUNDING_WAITS");
  refused({"init", "--resume"}, 3, "NOT_SIGNED");
  refused({"init", "--resume", "--owner", "x"}, 2, "USAGE");
  refused({"status", "--json"}, 3, "NO_LEDGER");
  std::vector<std::string> words = {"key", "sign", "--key", safe("root.key")};
  for (const std::string& path : waiting()) words.push_back(path);
  EXPECT_THAT(ok(words), AllOf(HasSubstr("founds the ledger kernelindex.local/"),
                               HasSubstr("enrols the log key")));
  const json::Value founded = document({"init", "--resume"});
  EXPECT_EQ(founded.text("ledgerId"), ledger_id);
  EXPECT_EQ(founded.find("size")->number(), 7);
  EXPECT_FALSE(fs::exists(folder_ / "ledger" / "founding"));
  EXPECT_FALSE(fs::exists(keys() / "root.key"));
  write_file(folder_ / "project.json", kProject);
  ok({"add", "project.json"});
  expect_sound();
}

TEST_F(RootElsewhere, AFoundingIsTakenOnlyAsItWasPrepared) {
  ok({"init", "--root", make_root(), "--quiet"});
  const std::vector<std::string> files = waiting();
  // Another key does not sign it.
  new_key({"root", "-o", safe("other.key")});
  refused({"key", "sign", files[0], "--key", safe("other.key")}, 5, "SIGNER_MISMATCH");
  std::vector<std::string> words = {"key", "sign", "--key", safe("root.key")};
  words.insert(words.end(), files.begin(), files.end());
  ok(words);
  const fs::path folder = folder_ / "ledger" / "founding";
  const auto swap = [&](const char* a, const char* b) {
    fs::rename(folder / a, folder / "x");
    fs::rename(folder / b, folder / a);
    fs::rename(folder / "x", folder / b);
  };
  swap("1-log.dsse.json", "2-importer.dsse.json");
  refused({"init", "--resume"}, 3, "BAD_FOUNDING");
  swap("1-log.dsse.json", "2-importer.dsse.json");
  // A signature that is not the root's.
  const std::string good = read_file(folder / "3-contributor.dsse.json");
  std::string bad = good;
  const std::size_t sig = bad.find("\"sig\":\"") + 7;
  bad[sig] = bad[sig] == 'A' ? 'B' : 'A';
  write_file(folder / "3-contributor.dsse.json", bad);
  refused({"init", "--resume"}, 3, "INVALID_SIGNATURE");
  write_file(folder / "3-contributor.dsse.json", good);
  // The log key of another founding.
  fs::rename(keys() / "log.key", folder_ / "log.key");
  new_key({"log", "-o", (keys() / "log.key").string()});
  refused({"init", "--resume"}, 5, "KEY_DIFFERS");
  fs::remove(keys() / "log.key");
  fs::rename(folder_ / "log.key", keys() / "log.key");
  EXPECT_FALSE(fs::exists(folder_ / "ledger" / "db"));
  ok({"init", "--resume", "--quiet"});
  expect_sound();
}

TEST_F(RootElsewhere, WhatTheRootSaysIsWrittenSignedAndRecorded) {
  found_with_root_elsewhere();
  const NewKey alice = new_key({"contributor", "--owner", "alice", "-o", "alice.key"});
  refused({"key", "enrol", "contributor", alice.public_key, "--owner", "alice"}, 3, "NO_KEY_FILE");
  ok({"key", "enrol", "contributor", alice.public_key, "--owner", "alice", "--unsigned",
      "enrol.json"});
  // The log goes on while the statement is away.
  write_file(folder_ / "project.json", kProject);
  ok({"add", "project.json"});
  EXPECT_THAT(ok({"key", "sign", "enrol.json", "--key", safe("root.key"), "-o", "enrol.dsse"}),
              AllOf(HasSubstr("enrols the contributor key " + alice.id), HasSubstr("alice")));
  ok({"attest", "--envelope", "enrol.dsse"});
  EXPECT_THAT(ok({"attest", "--envelope", "enrol.dsse"}), HasSubstr("recorded before"));
  ok({"attest", std::string(kProjectDigest), "--type", "environment_note", "--text", "seen",
      "--key", "alice.key"});
  // What would be refused is refused before it travels.
  refused({"key", "enrol", "runner", alice.public_key, "--owner", "alice", "--unsigned", "x.json"},
          5, "ALREADY_ENROLLED");
  EXPECT_FALSE(fs::exists(folder_ / "x.json"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"key", "revoke", alice.id, "--reason", "left", "--unsigned", "s.json"},
           {"key", "approve", "harness", sha256("h").text(), "--unsigned", "s.json"}}) {
    ok(words);
    ok({"key", "sign", "s.json", "--key", safe("root.key")});
    ok({"attest", "--envelope", "s.dsse.json"});
  }
  refused({"key", "approve", "harness", sha256("i").text(), "--unsigned", "a", "--key", "b"}, 2,
          "USAGE");
  refused({"key", "rotate", "--role", "log", "--reason", "yearly"}, 3, "NO_KEY_FILE");
  expect_sound();
}

TEST_F(RootElsewhere, WithheldBytesAreGoneAsSoonAsTheEnvelopeIsRecorded) {
  found_with_root_elsewhere();
  write_file(folder_ / "kernel.cu", "a kernel under licence");
  const std::string digest = sha256("a kernel under licence").text();
  ok({"add", "--artifact", "kernel.cu"});
  ok({"withhold", digest, "--reason", "licence", "--unsigned", "w.json"});
  EXPECT_EQ(ok({"cat", digest}), "a kernel under licence");
  EXPECT_THAT(ok({"key", "sign", "w.json", "--key", safe("root.key")}),
              HasSubstr("withholds the bytes of " + digest));
  ok({"attest", "--envelope", "w.dsse.json"});
  for (const auto& item : fs::recursive_directory_iterator(folder_ / "ledger" / "db")) {
    if (!item.is_regular_file()) continue;
    EXPECT_THAT(read_file(item.path()), Not(HasSubstr("a kernel under licence"))) << item.path();
  }
  EXPECT_NE(run({"cat", digest}).exit_code, 0);
  expect_sound();
}

TEST_F(RootElsewhere, OnlyStatementsAreSigned) {
  make_root();
  write_file(folder_ / "x.json", "{\"pay\":\"me\"}");
  const Outcome outcome = run({"key", "sign", "x.json", "--key", safe("root.key")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("x.json"));
  EXPECT_FALSE(fs::exists(folder_ / "x.dsse.json"));
  refused({"key", "sign", "x.json"}, 2, "USAGE");
}

// ---- secrets ----

class Secrets : public RootElsewhere {
 protected:
  // Runs a command, and looks for secrets in all that it says.
  void say(std::vector<std::string> words) {
    const Outcome outcome = run(words);
    said_ += outcome.out + outcome.err;
  }
  std::string said_;
};

TEST_F(Secrets, AreNeverPrintedLoggedOrRecorded) {
  write_file(folder_ / "phrase", "correct horse battery\n");
  say({"init"});
  say({"import", "sol-execbench", (source_root() / "tools/sample").string()});
  for (const std::string form : {"--json", "--quiet"}) {
    say({"key", "new", "contributor", "-o", "c" + form + ".key", form});
    say({"key", "new", "runner", "-o", "r" + form + ".key", "--passphrase-file", "phrase", form});
    say({"key", "rotate", "--role", "log", "--reason", "why", form});
    say({"key", "list", form});
    say({"key", "export", "--role", "importer", "--all", form});
    say({"status", form});
    say({"audit", form});
    say({"log", form});
  }
  // Errors do not tell either.
  write_file(folder_ / "bad.key", read_file(keys() / "root.key") + "x");
  fs::permissions(folder_ / "bad.key", fs::perms::owner_read | fs::perms::owner_write);
  say({"key", "sign", "bad.key", "--key", "bad.key"});
  say({"key", "sign", (keys() / "root.key").string(), "--key", (keys() / "root.key").string()});
  say({"add", (keys() / "root.key").string()});
  say({"manifest", "validate", (keys() / "root.key").string()});
  say({"attest", "--envelope", (keys() / "root.key").string()});
  std::size_t found = 0;
  for (const auto& item : fs::recursive_directory_iterator(folder_.path())) {
    if (item.path().extension() != ".key" || item.path().filename() == "bad.key") continue;
    ++found;
    Result<KeyFile> key = read_key_file(item.path(), {});
    if (!key) key = read_key_file(item.path(), "correct horse battery");
    ASSERT_TRUE(key) << item.path();
    const SecretBytes seed = key->key.seed();
    for (const std::string& spelt : {to_base64(seed.view()), to_hex(seed.view())}) {
      EXPECT_EQ(said_.find(spelt), std::string::npos) << item.path();
      for (const auto& stored : fs::recursive_directory_iterator(folder_ / "ledger" / "db")) {
        if (!stored.is_regular_file()) continue;
        EXPECT_EQ(read_file(stored.path()).find(spelt), std::string::npos) << stored.path();
      }
    }
  }
  EXPECT_GT(found, 8u);
  EXPECT_EQ(said_.find("correct horse"), std::string::npos);
}

}  // namespace
}  // namespace kernelindex::test
