// SPDX-License-Identifier: Apache-2.0
// `mirror --cosign` over HTTP: a witness of what it followed, and of nothing that it did not check.
#include "ledger/attest.h"
#include "ledger/key_file.h"
#include "ledger/static_log.h"
#include "ledger/witness_state_file.h"
#include "tests/ledger/seeded_key.h"
#include "tests/serve/served_program.h"
#include "tests/support/corpus.h"
#include "tests/support/test_server.h"

namespace kernelindex::serve {
namespace {

namespace fs = std::filesystem;

// The files of a folder, to whoever asks.
void serve_folder(const fs::path& folder, test::TestServer::Peer& peer) {
  for (std::string asked = peer.read_request(); !asked.empty(); asked = peer.read_request()) {
    const std::size_t begin = asked.find('/') + 1;
    const fs::path file = folder / asked.substr(begin, asked.find(' ', begin) - begin);
    const bool found = fs::is_regular_file(file);
    const std::string body = found ? test::read_file(file) : "";
    peer.send("HTTP/1.1 " + std::string(found ? "200 OK" : "404 Not Found") +
              "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  }
}

class MirrorCosignTest : public ::testing::Test {
 public:
  MirrorCosignTest() {
    test::must(create_key_file(room_.folder() / "witness.key",
                               {Role::contributor, "witness", test::seeded('w')}, ""));
    vkey_ = room_.run({"key", "export", "--role", "log"}).out;
    vkey_.erase(vkey_.find('\n'));
  }
  std::string path(std::string_view name) const { return (room_.folder() / name).string(); }
  // Mirrors what lies at a port into a folder of ours, as a witness.
  test::Outcome mirror(std::uint16_t port, const std::string& folder,
                       std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"mirror",
                                      "http://127.0.0.1:" + std::to_string(port),
                                      path(folder),
                                      "--key",
                                      vkey_,
                                      "--allow-host",
                                      "127.0.0.1",
                                      "--cosign",
                                      path("witness.key"),
                                      "--name",
                                      "example.com/witness",
                                      "--state",
                                      path("memory")};
    words.insert(words.end(), more.begin(), more.end());
    return room_.run(words);
  }
  // One entry more, and a checkpoint of it.
  static void grow(test::Room& room, const std::string& what) {
    const auto appender = test::must(room.ledger().append_attestations());
    test::must(appender->artifact(what, "text/plain"));
    test::must(appender->finish(std::nullopt));
    test::must(room.ledger().checkpoint());
    room.close();
  }
  // Of a mirror's checkpoint, which the log signed: how many cosignatures of ours it has.
  std::size_t cosignatures(const std::string& folder, std::uint64_t& size) const {
    const SignedCheckpoint checkpoint =
        test::must(parse_checkpoint(test::read_file(room_.folder() / folder / kCheckpointPath)));
    const std::vector logs = {parse_vkey(vkey_).value()};
    const std::vector witnesses = {own_};
    const CheckpointVerdict verdict = verify_checkpoint(checkpoint, logs, witnesses);
    EXPECT_TRUE(verdict.ok()) << verdict.detail;
    size = checkpoint.checkpoint.head.size;
    return verdict.cosignatures.size();
  }
  // The size that the witness remembers; 0: it never saw the log.
  std::uint64_t remembered() const {
    if (!fs::exists(path("memory"))) return 0;
    WitnessStateFile state = test::must(WitnessStateFile::open(path("memory"), own_));
    const auto record = test::must(state.latest(parse_vkey(vkey_).value().name));
    return record ? record->checkpoint.checkpoint.head.size : 0;
  }

  test::Room room_ = sample_room();
  std::string vkey_;
  const VerifierKey own_{"example.com/witness", NoteAlgorithm::cosignature,
                         test::seeded('w').public_key()};
};

TEST_F(MirrorCosignTest, CosignsWhatItFollowedAsTheLogGrows) {
  std::uint64_t first = 0;
  {
    const Served served(room_, {});
    const test::Outcome outcome = mirror(served.port(), "copy");
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("cosigned as example.com/witness"), std::string::npos)
        << outcome.out;
    EXPECT_EQ(cosignatures("copy", first), 1u);
    EXPECT_EQ(remembered(), first);
    // The same once more: said anew, one line.
    EXPECT_EQ(mirror(served.port(), "copy").exit_code, 0);
    EXPECT_EQ(cosignatures("copy", first), 1u);
  }
  for (int i = 0; i < 3; ++i) grow(room_, "more " + std::to_string(i));
  const Served served(room_, {});
  const test::Outcome outcome = mirror(served.port(), "copy", {"--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(R"("cosignature":{)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(R"("ok":true)"), std::string::npos) << outcome.out;
  std::uint64_t second = 0;
  EXPECT_EQ(cosignatures("copy", second), 1u);
  EXPECT_GT(second, first);
  EXPECT_EQ(remembered(), second);
  EXPECT_EQ(room_.run({"verify", "tiles", path("copy"), "--key", vkey_}).exit_code, 0);
}

TEST_F(MirrorCosignTest, AForgedByteIsNotCosigned) {
  ASSERT_EQ(room_.run({"export", "tiles", path("public")}).exit_code, 0);
  fs::path object;
  for (const auto& file : fs::recursive_directory_iterator(path("public/object"))) {
    if (file.is_regular_file() && file.file_size() > 0) object = file.path();
  }
  const std::string whole = test::read_file(object);
  test::write_file(object, whole.substr(1) + whole.substr(0, 1) + "x");
  const test::TestServer server(
      {}, [&](test::TestServer::Peer& peer) { serve_folder(path("public"), peer); });
  const test::Outcome forged = mirror(server.port(), "copy");
  EXPECT_EQ(forged.exit_code, 4) << forged.err;
  EXPECT_EQ(forged.out.find("cosigned"), std::string::npos) << forged.out;
  EXPECT_FALSE(fs::exists(path("copy/checkpoint")));
  EXPECT_EQ(remembered(), 0u) << "a witness that remembers has signed";
  // The same server, with the right byte.
  test::write_file(object, whole);
  EXPECT_EQ(mirror(server.port(), "copy").exit_code, 0);
  EXPECT_GT(remembered(), 0u);
}

// What a witness is there for: each of both histories is whole and signed.
TEST_F(MirrorCosignTest, AnotherHistoryAndAnOlderTreeAreNotCosigned) {
  const test::Room before = room_.copy();
  test::Room fork = room_.copy();
  grow(room_, "what we saw");
  grow(fork, "what others are shown");
  std::uint64_t size = 0;
  {
    const Served served(room_, {});
    ASSERT_EQ(mirror(served.port(), "ours").exit_code, 0);
  }
  const std::uint64_t seen = remembered();
  const Served forked(fork, {});
  const test::Outcome refused = mirror(forked.port(), "forked");
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_NE(refused.out.find("NOT cosigned"), std::string::npos) << refused.out;
  EXPECT_EQ(cosignatures("forked", size), 0u);
  const Served older(before, {});
  const test::Outcome behind = mirror(older.port(), "older", {"--json"});
  EXPECT_EQ(behind.exit_code, 1) << behind.err;
  EXPECT_NE(behind.out.find(R"("storedSize":)" + std::to_string(seen)), std::string::npos)
      << behind.out;
  EXPECT_EQ(cosignatures("older", size), 0u);
  EXPECT_LT(size, seen);
  EXPECT_EQ(remembered(), seen);
}

TEST_F(MirrorCosignTest, WhatIsWrongWithTheWitnessIsSaidBeforeAnythingIsFetched) {
  const std::vector<std::string> words = {"mirror", "https://example.invalid", path("copy"),
                                          "--key", vkey_};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return room_.run(more).exit_code;
  };
  EXPECT_EQ(run({"--cosign", path("witness.key")}), 2) << "no state";
  EXPECT_EQ(run({"--state", path("memory")}), 2) << "no key";
  EXPECT_EQ(run({"--name", "x"}), 2) << "no key";
  EXPECT_EQ(run({"--cosign", path("witness.key"), "--state", path("memory"), "--name", "a b"}), 2);
  EXPECT_EQ(run({"--cosign", path("ledger/keys/log.key"), "--state", path("memory")}), 5)
      << "a log is not its own witness";
  EXPECT_FALSE(fs::exists(path("copy")));
}

}  // namespace
}  // namespace kernelindex::serve
