// SPDX-License-Identifier: Apache-2.0
// What we write, read by others, and what others write, read by us: notes, checkpoints, tiles and
// proofs by Go's golang.org/x/mod/sumdb, envelopes by Node's crypto. Each runs as a child process
// on files made here; where it is not installed the test is skipped loudly.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ledger/dsse.h"
#include "ledger/failing_steps.h"
#include "ledger/note.h"
#include "ledger/small_log.h"
#include "ledger/tile_export.h"
#include "support/corpus.h"
#include "support/run_program.h"
#include "support/temp_dir.h"

namespace kernelindex {
namespace {

using test::Outcome;
using test::run_program;
using test::SmallLog;

const std::filesystem::path kFolder = test::source_root() / "tests/interop";

// ---- Go
// --------------------------------------------------------------------------------------------

// The checker, built once for all tests of this process from Debian's golang-go and
// golang-golang-x-mod-dev, without a network. Empty when those are not there.
const std::string& go_checker() {
  static const test::TempDir folder;
  static const std::string program = [] {
    const std::filesystem::path modules = "/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog";
    if (!std::filesystem::is_directory(modules)) return std::string();
    if (run_program({"/bin/sh", "-c", "command -v go"}).exit_code != 0) return std::string();
    test::RunOptions options;
    options.environment = {
        {"GO111MODULE", "off"}, {"GOPATH", "/usr/share/gocode"},   {"GOFLAGS", ""},
        {"GOPROXY", "off"},     {"GOCACHE", KERNELINDEX_GO_CACHE}, {"CGO_ENABLED", "0"}};
    options.timeout_seconds = 280;
    const std::string out = folder / "sumdb_check";
    const Outcome built =
        run_program({"go", "build", "-o", out, (kFolder / "sumdb_check.go").string()}, options);
    EXPECT_EQ(built.exit_code, 0) << built.err;
    return out;
  }();
  return program;
}

#define KERNELINDEX_REQUIRE_GO()                                                        \
  if (go_checker().empty())                                                             \
  GTEST_SKIP() << "NO GO: golang-go and golang-golang-x-mod-dev are not installed, so " \
                  "this test proves nothing"

Outcome go(std::vector<std::string> words) {
  words.insert(words.begin(), go_checker());
  return run_program(words);
}

class Sumdb : public testing::Test {
 protected:
  std::string file(std::string_view name, std::string_view bytes) {
    test::write_file(folder_ / name, bytes);
    return folder_ / name;
  }
  static std::vector<std::string> with(std::vector<std::string> words, const Proof& proof) {
    for (const std::string& hash : proof_texts(proof)) words.push_back(hash);
    return words;
  }

  test::TempDir folder_;
};

TEST_F(Sumdb, OpensOurCheckpoints) {
  KERNELINDEX_REQUIRE_GO();
  const SmallLog log(10);
  for (const std::uint64_t size : {0u, 1u, 10u}) {
    SignedCheckpoint checkpoint = log.checkpoint(size);
    checkpoint.signatures.push_back(  // an unknown one, which Go must ignore as we do
        cosign_note(checkpoint.checkpoint.text(), "w.example", 5, test::seeded('w')));
    const Outcome outcome = go({"open", file("note", checkpoint.format()), log.vkey().text()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const NoteKeyId id = log.vkey().key_id();
    EXPECT_EQ(outcome.out, log.origin() + " " +
                               to_hex({reinterpret_cast<const char*>(id.data()), id.size()}) +
                               "\n" + checkpoint.checkpoint.text());
  }
  SignedCheckpoint forged = log.checkpoint(10);
  forged.signatures[0].bytes[0] ^= 1;
  EXPECT_EQ(go({"open", file("note", forged.format()), log.vkey().text()}).exit_code, 1);
}

TEST_F(Sumdb, WeOpenItsNotes) {
  KERNELINDEX_REQUIRE_GO();
  const SmallLog log(10);
  const std::string text = log.checkpoint(10).checkpoint.text();
  const Outcome outcome = go({"sign", log.origin(), file("text", text)});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t end = outcome.out.find('\n');
  const std::vector keys = {parse_vkey(outcome.out.substr(0, end)).value()};
  const SignedCheckpoint checkpoint = parse_checkpoint(outcome.out.substr(end + 1)).value();
  EXPECT_EQ(checkpoint.checkpoint.head, log.head(10));
  EXPECT_TRUE(verify_checkpoint(checkpoint, keys).ok());
  EXPECT_EQ(checkpoint.format(), outcome.out.substr(end + 1));
}

TEST_F(Sumdb, ReadsEveryRecordOfOurExports) {
  KERNELINDEX_REQUIRE_GO();
  const SmallLog log(66'000);
  for (const std::uint64_t size : {1u, 255u, 256u, 257u, 700u, 65'536u, 65'537u, 66'000u}) {
    const std::string out = folder_ / std::to_string(size);
    test::FailingSteps quick;
    ASSERT_TRUE(export_tiles(log.at(size), out, quick).has_value());
    const Outcome outcome = go({"tiles", out, log.vkey().text()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out,
              std::to_string(size) + " " + to_base64(log.head(size).root.raw()) + "\n");
  }
}

TEST_F(Sumdb, SeesAForgedEntryInAnExport) {
  KERNELINDEX_REQUIRE_GO();
  const SmallLog log(300);
  ASSERT_TRUE(export_tiles(log.at(300), folder_ / "out").has_value());
  const std::filesystem::path bundle = folder_ / "out/tile/entries/000";
  std::string bytes = test::read_file(bundle);
  bytes.back() ^= 1;
  test::write_file(bundle, bytes);
  EXPECT_EQ(go({"tiles", folder_ / "out", log.vkey().text()}).exit_code, 1);
}

TEST_F(Sumdb, AcceptsOurProofsAndNoOthers) {
  KERNELINDEX_REQUIRE_GO();
  const SmallLog log(600);
  const auto root = [&](std::uint64_t size) { return to_base64(log.head(size).root.raw()); };
  for (const auto& [index, size] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {0, 1}, {0, 2}, {6, 7}, {5, 9}, {255, 256}, {256, 257}, {3, 600}, {599, 600}}) {
    const std::string record = file("record", log.leaves()[index]);
    std::vector<std::string> words = {"record", std::to_string(size), std::to_string(index),
                                      root(size), record};
    EXPECT_EQ(go(with(words, log.inclusion(index, size))).exit_code, 0) << index << "/" << size;
    words[4] = file("other", "another record");
    EXPECT_EQ(go(with(words, log.inclusion(index, size))).exit_code, 1) << index << "/" << size;
  }
  for (const auto& [older, newer] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {1, 2}, {3, 7}, {4, 8}, {255, 256}, {256, 257}, {300, 600}, {599, 600}}) {
    std::vector<std::string> words = {"tree", std::to_string(newer), std::to_string(older),
                                      root(newer), root(older)};
    EXPECT_EQ(go(with(words, log.consistency(older, newer))).exit_code, 0) << older << newer;
    words[4] = root(newer);
    EXPECT_EQ(go(with(words, log.consistency(older, newer))).exit_code, 1) << older << newer;
  }
}

// ---- Node
// ------------------------------------------------------------------------------------------

#define KERNELINDEX_REQUIRE_NODE()                                      \
  if (run_program({"/bin/sh", "-c", "command -v node"}).exit_code != 0) \
  GTEST_SKIP() << "NO NODE: nodejs is not installed, so this test proves nothing"

const std::string kStatement = R"({"_type":"https://in-toto.io/Statement/v1","text":"caf)"
                               "\xc3\xa9"
                               R"( ??>>~~"})";

Outcome node(std::vector<std::string> words) {
  words.insert(words.begin(), {"node", (kFolder / "dsse_check.js").string()});
  return run_program(words);
}

TEST(Node, VerifiesOurEnvelopes) {
  KERNELINDEX_REQUIRE_NODE();
  const test::TempDir folder;
  const SigningKey key = test::seeded('k');
  const Envelope envelope = sign_envelope(kStatement, key).value();
  test::write_file(folder / "envelope", envelope.encode());
  const std::string public_hex = to_hex(key.public_key().raw());
  const Outcome outcome = node({"verify", folder / "envelope", public_hex});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, kStatement);
  EXPECT_EQ(
      node({"verify", folder / "envelope", to_hex(test::seeded('x').public_key().raw())}).exit_code,
      1);
  Envelope forged = envelope;
  forged.payload.back() = ' ';
  test::write_file(folder / "forged", forged.encode());
  EXPECT_EQ(node({"verify", folder / "forged", public_hex}).exit_code, 1);
}

TEST(Node, WeVerifyItsEnvelopes) {
  KERNELINDEX_REQUIRE_NODE();
  const test::TempDir folder;
  test::write_file(folder / "statement", kStatement);
  const Outcome outcome = node({"sign", folder / "statement"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t end = outcome.out.find('\n');
  const PublicKey key = PublicKey::from_raw(from_hex(outcome.out.substr(0, end)).value()).value();
  const Envelope envelope = parse_envelope(outcome.out.substr(end + 1)).value();
  EXPECT_EQ(envelope.payload, kStatement);
  EXPECT_TRUE(envelope.verify(key));
  EXPECT_FALSE(envelope.verify(test::seeded('x').public_key()));
}

}  // namespace
}  // namespace kernelindex
