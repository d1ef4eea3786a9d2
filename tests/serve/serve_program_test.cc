// SPDX-License-Identifier: Apache-2.0
// The program as an operator starts it: its switches, its signals and its exit status.
#include "ledger/appender.h"
#include "ledger/attest.h"
#include "ledger/dsse.h"
#include "ledger/key_file.h"
#include "ledger/witness.h"
#include "tests/ledger/seeded_key.h"
#include "tests/ledger/vectors.h"
#include "tests/serve/served_program.h"
#include "tests/support/corpus.h"

namespace kernelindex::serve {
namespace {

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";

// ---- witness ----

class WitnessTest : public ::testing::Test {
 public:
  WitnessTest() {
    room_.close();
    test::must(create_key_file(room_.folder() / "witness.key",
                               {Role::contributor, "witness", test::seeded('w')}, ""));
  }
  std::vector<std::string> words(const std::string& log_key) const {
    return {"--witness-key",   (room_.folder() / "witness.key").string(),
            "--witness-name",  "example.com/witness",
            "--witness-log",   log_key,
            "--witness-state", (room_.folder() / "memory").string()};
  }

  test::Room room_;
  const SigningKey key_ = test::seeded('w');
  const WitnessIdentity witness_{"example.com/witness", key_};
};

TEST_F(WitnessTest, ThePublishedSequenceIsAnsweredInItsOrderOverHttp) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("witness/add_checkpoint_sequence.json");
  const std::string log_key(vectors.root.text("log_vkey"));
  const std::vector logs = {parse_vkey(log_key).value()};
  const std::vector witnesses = {witness_.verifier()};
  Served served(room_, words(log_key));
  std::size_t cosigned = 0;
  std::string last_body;
  for (const json::Value& step : vectors.cases("steps")) {
    const std::string body(step.text("request_body"));
    const std::string answer = served.ask(post("/add-checkpoint", body));
    EXPECT_EQ(status_of(answer), std::to_string(test::u64(*step.find("status"))))
        << step.text("name") << "\n"
        << answer;
    EXPECT_NE(body_of(answer).find(step.text("body_contains")), std::string::npos)
        << step.text("name") << "\n"
        << answer;
    if (status_of(answer) == "409") {
      EXPECT_EQ(body_of(answer), step.text("body_contains"));
      EXPECT_EQ(field_of(answer, "Content-Type"), "text/x.tlog.size");
    }
    if (status_of(answer) != "200") continue;
    // What came over the wire is a cosignature of this very checkpoint.
    SignedCheckpoint checkpoint = parse_add_checkpoint(body).value().checkpoint;
    const auto lines = parse_signature_lines(body_of(answer)).value();
    checkpoint.signatures.insert(checkpoint.signatures.end(), lines.begin(), lines.end());
    EXPECT_EQ(verify_checkpoint(checkpoint, logs, witnesses).cosignatures.size(), 1u);
    last_body = body;
    ++cosigned;
  }
  EXPECT_EQ(cosigned, 3u);
  // The newest one is published, with both lines.
  const std::string published =
      body_of(served.ask(get("/" + sha256(logs[0].name).hex() + "/checkpoint")));
  const SignedCheckpoint newest = parse_checkpoint(published).value();
  EXPECT_EQ(newest.checkpoint.head.size, 5u);
  const CheckpointVerdict verdict = verify_checkpoint(newest, logs, witnesses);
  EXPECT_TRUE(verdict.ok()) << verdict.detail;
  EXPECT_EQ(verdict.cosignatures.size(), 1u);
  served.terminate();
  EXPECT_EQ(served.wait(), 0);
  // A witness that is started again has not forgotten.
  Served again(room_, words(log_key));
  const std::string answer = again.ask(post("/add-checkpoint", last_body));
  EXPECT_EQ(status_of(answer), "409");
  EXPECT_EQ(body_of(answer), "5\n");
}

TEST_F(WitnessTest, WhatIsTooLargeIsRefusedBeforeItIsRead) {
  Served served(room_,
                words(log_verifier_key("example.org/log", test::seeded('l').public_key()).text()));
  EXPECT_EQ(status_of(served.ask("POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                                 std::to_string(kAddCheckpointBytes + 1) + "\r\n\r\n")),
            "413");
}

// ---- envelopes ----

TEST(ServeProgram, AnEnvelopeThatWaitsIsRecordedByTheWriterAndShownByTheServer) {
  test::Room room = sample_room();
  const KeyFile key = test::must(read_role_key(room.directory() / "keys", Role::contributor, ""));
  CommunityNote note;
  note.type = CommunityNote::Type::reproduced;
  note.text = "Sixty microseconds here as well.";
  const std::string payload =
      test::must(unsigned_payload(room.read(), test::fixed_now(),
                                  {Digest::parse(kRun).value(), note}, key.key.public_key().id()));
  room.close();
  const Envelope envelope = test::must(sign_envelope(payload, key.key));
  const std::filesystem::path folder = room.folder() / "inbox";
  Served served(room, {"--accept-envelopes", folder.string()});
  EXPECT_EQ(status_of(served.ask(post("/api/v1/attestations", envelope.encode()))), "202");
  const std::filesystem::path file = folder / (envelope.id().hex() + ".dsse.json");
  ASSERT_TRUE(std::filesystem::exists(file));
  const test::Outcome recorded = room.run({"attest", "--envelope", file.string()});
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  served.terminate();
  EXPECT_EQ(served.wait(), 0);
  Served after(room, {"--accept-envelopes", folder.string()});
  const std::string again = after.ask(post("/api/v1/attestations", envelope.encode()));
  EXPECT_EQ(status_of(again), "200") << again;
  EXPECT_NE(body_of(again).find(R"("state":"recorded")"), std::string::npos) << again;
  const std::string page = after.ask(get("/runs/" + std::string(kRun), "Accept: text/html\r\n"));
  EXPECT_NE(page.find(note.text), std::string::npos);
}

TEST(ServeProgram, WithoutTheSwitchNoEnvelopeIsTaken) {
  const test::Room room = sample_room();
  Served served(room, {});
  EXPECT_EQ(status_of(served.ask(post("/api/v1/attestations", "{}"))), "404");
}

// ---- the status key ----

class StatusKeyTest : public ::testing::Test {
 public:
  // Judges the bundle of the first seed as the server gives it: exit status of `verify`.
  int verify(const Served& served, const std::string& status) {
    const std::string answer = served.ask(get("/api/v1/runs/" + std::string(kRun) + "/bundle"));
    EXPECT_EQ(status_of(answer), "200") << answer;
    EXPECT_EQ(field_of(answer, "KernelIndex-Status"), status);
    test::write_file(room_.folder() / "bundle.json", body_of(answer));
    return room_
        .run({"verify", (room_.folder() / "bundle.json").string(), std::string(kRun), "--ledger-id",
              id_})
        .exit_code;
  }

  test::Room room_ = sample_room();
  const std::string id_ = [this] {
    const std::string id = room_.read().state().format.ledger_id.text();
    room_.close();
    return id;
  }();
};

TEST_F(StatusKeyTest, BundlesSayThatNothingWasLeftOut) {
  Served served(room_, {"--status-key", (room_.directory() / "keys/status.key").string()});
  EXPECT_EQ(verify(served, "signed"), 0);
}

TEST_F(StatusKeyTest, WithoutItBundlesSayThatNobodySaysSo) {
  Served served(room_, {});
  EXPECT_EQ(verify(served, "none"), 1) << "currency unknown";
}

TEST_F(StatusKeyTest, NoOtherKeyIsTaken) {
  for (const char* role : {"root", "log", "importer"}) {
    const test::Outcome outcome =
        room_.run({"serve", "--listen", "127.0.0.1:0", "--status-key",
                   (room_.directory() / "keys" / (std::string(role) + ".key")).string()},
                  {.timeout_seconds = 30});
    EXPECT_EQ(outcome.exit_code, 5) << role << ": " << outcome.err;
    EXPECT_NE(outcome.err.find("WRONG_ROLE"), std::string::npos) << outcome.err;
  }
}

// ---- the end ----

TEST(ServeProgram, AtSigtermAnAnswerOnItsWayArrivesWholeAndTheExitIsZero) {
  // More than the system's buffers take, so that most of it is still to be sent.
  std::string bytes;
  for (std::size_t i = 0; bytes.size() < (std::size_t{24} << 20u); ++i) {
    bytes += std::to_string(i) + "\n";
  }
  test::Room room;
  {
    const auto appender = test::must(room.ledger().append_attestations());
    test::must(appender->artifact(bytes, "text/plain"));
    test::must(appender->finish(std::nullopt));
  }
  test::must(room.ledger().checkpoint());
  room.close();
  const std::string log = (room.folder() / "access.log").string();
  Served served(room, {"--access-log", log});
  const std::string hex = sha256(bytes).hex();
  LoopbackClient idle(served.port());
  idle.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.some();
  LoopbackClient client(served.port());
  client.send("GET /object/" + hex.substr(0, 2) + "/" + hex.substr(2) +
              " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  std::string answer = client.some();
  served.terminate();
  idle.all();  // ends when the server has begun to stop
  answer += client.all();
  EXPECT_EQ(status_of(answer), "200");
  EXPECT_EQ(body_of(answer).size(), bytes.size());
  EXPECT_EQ(sha256(body_of(answer)).hex(), hex);
  EXPECT_EQ(served.wait(), 0);
  const std::string lines = test::read_file(log);
  EXPECT_NE(lines.find("\"bytes\":" + std::to_string(bytes.size())), std::string::npos) << lines;
  EXPECT_EQ(lines.find("fault"), std::string::npos) << lines;
}

TEST(ServeProgram, AWrongPairOfCertificateAndKeyIsSaidAtTheStart) {
  const test::Room room = sample_room();
  const std::string nonsense = (room.folder() / "nonsense.pem").string();
  test::write_file(nonsense, "nonsense");
  const test::Outcome outcome =
      room.run({"serve", "--listen", "127.0.0.1:0", "--tls-cert", nonsense, "--tls-key", nonsense},
               {.timeout_seconds = 30});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_NE(outcome.err.find("TLS_CERTIFICATE"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("nonsense.pem"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace kernelindex::serve
