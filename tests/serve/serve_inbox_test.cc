// SPDX-License-Identifier: Apache-2.0
// Envelopes that come over HTTP: what is taken, what is refused and how, and that a flood fills
// neither the folder nor anybody else's allowance.
#include <algorithm>

#include "ledger/attest.h"
#include "ledger/dsse.h"
#include "ledger/key_file.h"
#include "schema/canonical_json.h"
#include "tests/acceptance/room.h"
#include "tests/ledger/seeded_key.h"
#include "tests/serve/server_fixture.h"
#include "tests/support/corpus.h"
#include "tools/serve/envelope_inbox.h"

namespace kernelindex::serve {
namespace {

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";
constexpr const char* kPath = "/api/v1/attestations";

class InboxTest : public ServerTest {
 public:
  InboxTest() {
    inbox_.folder = folder_ / "inbox";
    inbox_.clock = system_clock();
  }
  Status fill(Ledger& ledger) override {
    const auto imported =
        ingest::import_source(ledger, test::import_request("sol-execbench", test::sample_folder()));
    return imported ? Status() : fail(imported.error());
  }
  void add_routes(Router& router) override {
    register_inbox(router, test::must(EnvelopeInbox::open(inbox_)));
  }
  KeyFile key(Role role) const {
    return test::must(read_role_key(ledger_.directory / "keys", role, ""));
  }
  // What the contributor would sign.
  std::string payload(const std::string& text) const {
    CommunityNote note;
    note.type = CommunityNote::Type::reproduced;
    note.text = text;
    return test::must(unsigned_payload(follower_->state()->reader, inbox_.clock(),
                                       {Digest::parse(kRun).value(), note},
                                       key(Role::contributor).key.public_key().id()));
  }
  std::string envelope(const std::string& text) const {
    return test::must(sign_envelope(payload(text), key(Role::contributor).key)).encode();
  }
  std::vector<std::filesystem::path> waiting() const {
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(inbox_.folder)) {
      files.push_back(file.path());
    }
    return files;
  }
  void expect_problem(const std::string& answer, const std::string& status,
                      const std::string& code) {
    EXPECT_EQ(status_of(answer), status) << answer;
    EXPECT_EQ(field_of(answer, "Content-Type"), "application/problem+json") << answer;
    EXPECT_NE(body_of(answer).find("\"code\":\"" + code + "\""), std::string::npos) << answer;
  }

  InboxOptions inbox_;
};

TEST_F(InboxTest, AnEnrolledContributorsEnvelopeWaitsAsTheLedgerWouldKeepIt) {
  start();
  const std::string bytes = envelope("Same here.");
  const Envelope sent = parse_envelope(bytes).value();
  const std::string answer = ask(post(kPath, bytes));
  EXPECT_EQ(status_of(answer), "202");
  EXPECT_NE(body_of(answer).find(sent.id().text()), std::string::npos) << answer;
  EXPECT_NE(body_of(answer).find(R"("state":"waiting")"), std::string::npos) << answer;
  ASSERT_EQ(waiting().size(), 1u);
  EXPECT_EQ(waiting()[0].filename(), sent.id().hex() + ".dsse.json");
  const std::string kept = test::read_file(waiting()[0]);
  EXPECT_EQ(parse_envelope(kept).value().id(), sent.id());
  // Again, and with other spaces: it is the same one.
  EXPECT_EQ(status_of(ask(post(kPath, bytes))), "202");
  EXPECT_EQ(status_of(ask(post(kPath, bytes + "\n"))), "202");
  EXPECT_EQ(waiting().size(), 1u);
}

TEST_F(InboxTest, WhoIsNotEnrolledAsAContributorIsRefused) {
  start();
  const std::string ours = key(Role::contributor).key.public_key().id().hex();
  const auto signed_by = [&](const SigningKey& signer) {
    std::string text = payload("I am somebody else.");
    text.replace(text.find(ours), ours.size(), signer.public_key().id().hex());
    return test::must(sign_envelope(text, signer)).encode();
  };
  expect_problem(ask(post(kPath, signed_by(test::seeded('x')))), "403", "NOT_A_CONTRIBUTOR");
  // Enrolled, but such keys speak at the ledger itself.
  expect_problem(ask(post(kPath, signed_by(key(Role::root).key))), "403", "NOT_A_CONTRIBUTOR");
  EXPECT_TRUE(waiting().empty());
}

TEST_F(InboxTest, AStrangerCannotSpeakInAContributorsName) {
  start();
  const std::string forged =
      test::must(sign_envelope(payload("Not mine."), test::seeded('x'))).encode();
  expect_problem(ask(post(kPath, forged)), "400", "INVALID_SIGNATURE");
  EXPECT_TRUE(waiting().empty());
}

TEST_F(InboxTest, WhatIsMalformedOrTooLargeIsAProblemAndNoFile) {
  start();
  for (const std::string& body : {std::string("not json"), std::string("{}"), std::string("[]"),
                                  std::string(1, '\0'), std::string(60'000, '[')}) {
    const std::string answer = ask(post(kPath, body));
    EXPECT_EQ(status_of(answer), "400") << answer;
    EXPECT_EQ(field_of(answer, "Content-Type"), "application/problem+json") << answer;
  }
  expect_problem(ask("POST " + std::string(kPath) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                     std::to_string(kInboxEnvelopeBytes + 1) + "\r\n\r\n"),
                 "413", "BODY_TOO_LARGE");
  EXPECT_EQ(status_of(ask(get(kPath))), "405");
  EXPECT_TRUE(waiting().empty());
}

class FloodTest : public InboxTest {
 public:
  FloodTest() {
    // Time stands, so that nobody's allowance grows while the test runs.
    inbox_.clock = [now = system_clock()()] { return now; };
    inbox_.by_client = {8, 1'000'000, 100};
    inbox_.by_signer = {3, 1'000'000, 100};
  }
};

TEST_F(FloodTest, OneAddressIsToldToComeLater) {
  start();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(status_of(ask(post(kPath, "{}"))), "400") << i;
  const std::string answer = ask(post(kPath, "{}"));
  expect_problem(answer, "429", "TOO_MANY");
  EXPECT_EQ(field_of(answer, "Retry-After"), "60");
  EXPECT_EQ(status_of(ask(get("/api/v1/log"))), "200") << "reading is not rationed with it";
}

TEST_F(FloodTest, OneSignerIsToldToComeLaterAndForgeriesDoNotSpendHisAllowance) {
  start();
  const std::string forged = test::must(sign_envelope(payload("x"), test::seeded('x'))).encode();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status_of(ask(post(kPath, forged))), "400");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status_of(ask(post(kPath, envelope("Note " + std::to_string(i))))), "202") << i;
  }
  const std::string answer = ask(post(kPath, envelope("One more.")));
  expect_problem(answer, "429", "TOO_MANY");
  EXPECT_EQ(field_of(answer, "Retry-After"), "60");
  EXPECT_EQ(waiting().size(), 3u);
}

class FullTest : public InboxTest {
 public:
  FullTest() { inbox_.files_max = 2; }
};

TEST_F(FullTest, TheFolderHasACapAndRoomComesBackWhenFilesAreRecorded) {
  start();
  EXPECT_EQ(status_of(ask(post(kPath, envelope("One.")))), "202");
  EXPECT_EQ(status_of(ask(post(kPath, envelope("Two.")))), "202");
  const std::string answer = ask(post(kPath, envelope("Three.")));
  expect_problem(answer, "503", "INBOX_FULL");
  EXPECT_NE(field_of(answer, "Retry-After"), "");
  EXPECT_EQ(waiting().size(), 2u);
  std::filesystem::remove(waiting()[0]);
  EXPECT_EQ(status_of(ask(post(kPath, envelope("Three.")))), "202");
}

}  // namespace
}  // namespace kernelindex::serve
