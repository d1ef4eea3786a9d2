// SPDX-License-Identifier: Apache-2.0
#include "ledger/witness.h"

#include <gtest/gtest.h>

#include <limits>

#include "ledger/small_log.h"
#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

using test::SmallLog;

constexpr std::uint64_t kNow = 1'700'000'000;

class WitnessTest : public testing::Test {
 protected:
  WitnessResponse ask(const std::string& body, std::uint64_t now = kNow) {
    const std::vector keys = {log_.vkey()};
    return add_checkpoint(body, state_, keys, witness_, now).value();
  }
  WitnessResponse ask(std::uint64_t from, std::uint64_t to, std::uint64_t now = kNow) {
    return ask(request(from, to).encode(), now);
  }
  AddCheckpoint request(std::uint64_t from, std::uint64_t to) const {
    Proof proof;
    if (from > 0 && from < to) proof = log_.consistency(from, to);
    return {from, proof, log_.checkpoint(to)};
  }
  std::uint64_t stored() {
    const std::optional<WitnessRecord> record = state_.latest(log_.origin()).value();
    return record ? record->checkpoint.checkpoint.head.size : 0;
  }
  // The time of the cosignature that an answer holds, which must verify.
  std::uint64_t time_of(const WitnessResponse& response, std::uint64_t size) const {
    EXPECT_EQ(response.status, 200u) << response.body;
    SignedCheckpoint checkpoint = log_.checkpoint(size);
    const std::vector<NoteSignature> lines = parse_signature_lines(response.body).value();
    checkpoint.signatures.insert(checkpoint.signatures.end(), lines.begin(), lines.end());
    const std::vector logs = {log_.vkey()}, witnesses = {witness_.verifier()};
    const CheckpointVerdict verdict = verify_checkpoint(checkpoint, logs, witnesses);
    EXPECT_TRUE(verdict.ok()) << verdict.detail;
    EXPECT_EQ(verdict.cosignatures.size(), 1u);
    return verdict.cosignatures.empty() ? 0 : verdict.cosignatures[0].time;
  }

  const SmallLog log_{40};
  const SigningKey key_ = test::seeded('w');
  const WitnessIdentity witness_{"example.com/witness", key_};
  MemoryWitnessState state_;
};

TEST_F(WitnessTest, PublishedSequenceInItsOrder) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("witness/add_checkpoint_sequence.json");
  const std::vector keys = {parse_vkey(vectors.root.text("log_vkey")).value()};
  std::size_t steps = 0;
  for (const json::Value& step : vectors.cases("steps")) {
    const WitnessResponse response =
        add_checkpoint(step.text("request_body"), state_, keys, witness_, kNow).value();
    EXPECT_EQ(response.status, test::u64(*step.find("status"))) << step.text("name");
    EXPECT_NE(response.body.find(step.text("body_contains")), std::string::npos)
        << step.text("name") << ": " << response.body;
    if (response.status == 409) {
      EXPECT_EQ(response.body, step.text("body_contains"));
      EXPECT_EQ(response.content_type, "text/x.tlog.size");
    }
    ++steps;
  }
  EXPECT_EQ(steps, 11u);
}

TEST_F(WitnessTest, CosignsALogAsItGrows) {
  EXPECT_EQ(time_of(ask(0, 1, 100), 1), 100u);
  EXPECT_EQ(time_of(ask(1, 7, 200), 7), 200u);
  EXPECT_EQ(time_of(ask(7, 40, 300), 40), 300u);
  EXPECT_EQ(stored(), 40u);
}

TEST_F(WitnessTest, AsksForTheSizeThatItHas) {
  ask(0, 10);
  const WitnessResponse response = ask(0, 20);
  EXPECT_EQ(response.status, 409u);
  EXPECT_EQ(response.body, "10\n");
  EXPECT_EQ(response.content_type, "text/x.tlog.size");
  EXPECT_EQ(ask(5, 20).body, "10\n");
  EXPECT_EQ(ask(10, 20).status, 200u);
  EXPECT_EQ(ask(12, 11).status, 400u);
  EXPECT_EQ(ask(7, 7).status, 409u) << "an older checkpoint is no news";
  EXPECT_EQ(stored(), 20u);
}

TEST_F(WitnessTest, TheSameCheckpointMayBeCosignedAgain) {
  ask(0, 10, 100);
  EXPECT_EQ(time_of(ask(10, 10, 500), 10), 500u);
  AddCheckpoint with_proof = request(10, 10);
  with_proof.proof = {sha256("x")};
  EXPECT_EQ(ask(with_proof.encode()).status, 422u);
}

// Two logs of one origin and key: what a witness is there for.
TEST_F(WitnessTest, AForkIsRefused) {
  const SmallLog fork(40, log_.origin(), 3);
  ask(0, 10);
  EXPECT_EQ(ask(AddCheckpoint{10, {}, fork.checkpoint(10)}.encode()).status, 422u);
  EXPECT_EQ(ask(AddCheckpoint{10, fork.consistency(10, 20), fork.checkpoint(20)}.encode()).status,
            422u);
  EXPECT_EQ(ask(AddCheckpoint{10, log_.consistency(10, 20), fork.checkpoint(20)}.encode()).status,
            422u);
  EXPECT_EQ(stored(), 10u);
  EXPECT_EQ(ask(10, 20).status, 200u);
}

TEST_F(WitnessTest, EmptyTrees) {
  EXPECT_EQ(ask(0, 0).status, 200u);
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(ask(0, 0).status, 200u);
  AddCheckpoint grown = request(0, 5);
  grown.proof = {sha256("x")};
  EXPECT_EQ(ask(grown.encode()).status, 422u) << "from nothing there is nothing to prove";
  EXPECT_EQ(ask(0, 5).status, 200u);
  // An empty tree with a root of something: signed by the log, and refused by its own number.
  const Checkpoint odd{log_.origin(), {0, sha256("root")}};
  const SignedCheckpoint signed_odd{odd, {sign_note(odd.text(), log_.origin(), test::seeded('l'))}};
  EXPECT_EQ(ask(AddCheckpoint{0, {}, signed_odd}.encode()).status, 409u) << "5 is stored";
  MemoryWitnessState fresh;
  const std::vector keys = {log_.vkey()};
  EXPECT_EQ(add_checkpoint(AddCheckpoint{0, {}, signed_odd}.encode(), fresh, keys, witness_, kNow)
                .value()
                .status,
            422u);
}

// The order of the questions: an earlier one answers, whatever else is wrong.
TEST_F(WitnessTest, QuestionsAreAskedInTheirOrder) {
  ask(0, 10);
  AddCheckpoint all_wrong = request(9, 20);
  all_wrong.proof = {sha256("x")};
  all_wrong.checkpoint.signatures[0].bytes[0] ^= 1;
  EXPECT_EQ(ask(all_wrong.encode()).status, 403u) << "the signature before the size";
  AddCheckpoint unknown = all_wrong;
  unknown.checkpoint.checkpoint.origin = "example.org/unknown";
  EXPECT_EQ(ask(unknown.encode()).status, 404u) << "the origin before the signature";
  unknown.old_size = 21;
  EXPECT_EQ(ask(unknown.encode()).status, 400u) << "sense before the origin";
  AddCheckpoint conflict = request(9, 20);
  conflict.proof = {sha256("x")};
  EXPECT_EQ(ask(conflict.encode()).status, 409u) << "the size before the proof";
}

TEST_F(WitnessTest, ALineOfAKnownKeyThatFailsIsRefusedAndUnknownOnesAreIgnored) {
  AddCheckpoint stranger = request(0, 10);
  stranger.checkpoint.signatures.insert(
      stranger.checkpoint.signatures.begin(),
      sign_note(stranger.checkpoint.checkpoint.text(), "stranger.example", test::seeded('s')));
  EXPECT_EQ(ask(stranger.encode()).status, 200u);
  AddCheckpoint only_stranger = request(10, 20);
  only_stranger.checkpoint.signatures[0] =
      sign_note(only_stranger.checkpoint.checkpoint.text(), "stranger.example", test::seeded('s'));
  EXPECT_EQ(ask(only_stranger.encode()).status, 403u);
  AddCheckpoint twice = request(10, 20);
  twice.checkpoint.signatures.push_back(twice.checkpoint.signatures[0]);
  twice.checkpoint.signatures[1].bytes[0] ^= 1;
  EXPECT_EQ(ask(twice.encode()).status, 403u) << "a good line does not excuse a forged twin";
  EXPECT_EQ(stored(), 10u);
}

// PITFALLS 35: a line in our name that somebody else put there.
TEST_F(WitnessTest, AForgedLineInItsOwnNameIsNeverCopied) {
  AddCheckpoint forged = request(0, 10);
  NoteSignature line = cosign_note(forged.checkpoint.checkpoint.text(), witness_.name, 1, key_);
  line.bytes.back() ^= 1;
  forged.checkpoint.signatures.push_back(line);
  const NoteSignature other =
      cosign_note(forged.checkpoint.checkpoint.text(), "other.example", 1, test::seeded('o'));
  forged.checkpoint.signatures.push_back(other);
  const WitnessResponse response = ask(forged.encode());
  EXPECT_EQ(response.status, 200u) << response.body;
  EXPECT_EQ(parse_signature_lines(response.body).value().size(), 1u);
  EXPECT_NE(response.body, line.line());
  const WitnessRecord kept = *state_.latest(log_.origin()).value();
  ASSERT_EQ(kept.checkpoint.signatures.size(), 2u) << "the log's line and ours";
  const std::vector logs = {log_.vkey()}, witnesses = {witness_.verifier()};
  EXPECT_TRUE(verify_checkpoint(kept.checkpoint, logs, witnesses).ok());
}

TEST_F(WitnessTest, TimesOfGrowingTreesGrowWhateverTheClockSays) {
  EXPECT_EQ(time_of(ask(0, 10, 1000), 10), 1000u);
  EXPECT_EQ(time_of(ask(10, 20, 1000), 20), 1001u) << "in the same second";
  EXPECT_EQ(time_of(ask(20, 30, 400), 30), 1002u) << "the clock went back";
  for (int again = 0; again < 5; ++again) {
    EXPECT_EQ(time_of(ask(30, 30, 400), 30), 1002u) << "asking again does not push it ahead";
  }
  EXPECT_EQ(time_of(ask(30, 30, 2000), 30), 2000u);
}

TEST_F(WitnessTest, TimesEndWithInt64) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ask(0, 10, kLast + 1).status, 422u);
  EXPECT_EQ(time_of(ask(0, 10, kLast), 10), kLast);
  EXPECT_EQ(ask(10, 20, 5).status, 422u);
  EXPECT_EQ(stored(), 10u);
}

TEST_F(WitnessTest, MalformedRequestsAreRefusedBeforeAnythingElse) {
  const std::string checkpoint = log_.checkpoint(5).format();
  const std::string hash = to_base64(std::string(32, 'h')) + "\n";
  std::string many = "old 1\n";
  for (int i = 0; i < 64; ++i) many += hash;
  for (const std::string& body : std::vector<std::string>{
           "",
           "old 0\n",
           "old 0\n\n",
           "old\n\n" + checkpoint,
           "old \n\n" + checkpoint,
           "old 00\n\n" + checkpoint,
           "old -1\n\n" + checkpoint,
           "old 0 \n\n" + checkpoint,
           "old 9223372036854775808\n\n" + checkpoint,
           "new 0\n\n" + checkpoint,
           "old 0\r\n\n" + checkpoint,
           "old 1\n" + hash + checkpoint.substr(checkpoint.find('\n')),
           "old 1\nAAAA\n\n" + checkpoint,
           "old 1\n" + hash.substr(0, 43) + "\n\n" + checkpoint,
           many + "\n" + checkpoint,
           "old 0\n\n" + checkpoint + "x",
           "old 0\n\n" + checkpoint.substr(0, checkpoint.size() - 1),
           std::string(kAddCheckpointBytes + 1, 'x'),
       }) {
    const WitnessResponse response = ask(body);
    EXPECT_EQ(response.status, 400u) << body.substr(0, 200);
    EXPECT_LT(response.body.size(), 1000u);
  }
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(ask("old 0\n\n" + checkpoint).status, 200u);
}

TEST_F(WitnessTest, RequestsRoundTrip) {
  const AddCheckpoint made = request(7, 40);
  const AddCheckpoint read = parse_add_checkpoint(made.encode()).value();
  EXPECT_EQ(read.old_size, 7u);
  EXPECT_EQ(read.proof, made.proof);
  EXPECT_EQ(read.checkpoint.checkpoint, made.checkpoint.checkpoint);
  EXPECT_EQ(read.encode(), made.encode());
}

// A memory in which another request always comes between.
class RestlessState final : public WitnessState {
 public:
  Result<std::optional<WitnessRecord>> latest(std::string_view) override { return std::nullopt; }
  Result<bool> advance(std::string_view, const std::optional<TreeHead>&,
                       const WitnessRecord&) override {
    ++attempts;
    return false;
  }
  int attempts = 0;
};

TEST_F(WitnessTest, AttemptsAreBounded) {
  RestlessState state;
  const std::vector keys = {log_.vkey()};
  const Result<WitnessResponse> response =
      add_checkpoint(request(0, 10).encode(), state, keys, witness_, kNow);
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, "TOO_MANY_CHANGES");
  EXPECT_EQ(state.attempts, 16);
}

}  // namespace
}  // namespace kernelindex
