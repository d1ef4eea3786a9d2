// SPDX-License-Identifier: Apache-2.0
#include "schema/runner_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

namespace kernelindex {
namespace {

// Two connected ends.
class RunnerChannel : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0);
  }
  void TearDown() override {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  void close_sender() {
    ::close(ends_[0]);
    ends_[0] = -1;
  }
  void send_raw(const std::string& bytes) {
    ASSERT_EQ(::write(ends_[0], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string code(std::uint64_t limit = kRunnerMessageBytes) {
    const auto got = receive_runner_message(ends_[1], limit);
    return got ? "" : got.error().code;
  }
  std::array<int, 2> ends_{-1, -1};
};

TEST_F(RunnerChannel, GivesBackWhatWasSaid) {
  ASSERT_TRUE(send_runner_message(ends_[0], RunnerMessageKind::job, "{}"));
  ASSERT_TRUE(send_runner_message(ends_[0], RunnerMessageKind::begin, ""));
  const auto job = receive_runner_message(ends_[1]);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, RunnerMessageKind::job);
  EXPECT_EQ(job->body, "{}");
  const auto begin = receive_runner_message(ends_[1]);
  ASSERT_TRUE(begin);
  EXPECT_EQ(begin->kind, RunnerMessageKind::begin);
}

TEST_F(RunnerChannel, TheEndBetweenMessagesIsToldFromTheEndInsideOne) {
  send_raw(std::string(7, '\1'));
  close_sender();
  EXPECT_EQ(code(), "BAD_RUNNER_MESSAGE");
  EXPECT_EQ(code(), "RUNNER_CHANNEL_CLOSED");
}

TEST_F(RunnerChannel, ABodyCutShortIsAnError) {
  std::string header(16, '\0');
  header[0] = 1;
  header[8] = 5;
  send_raw(header + "abc");
  close_sender();
  EXPECT_EQ(code(), "BAD_RUNNER_MESSAGE");
}

TEST_F(RunnerChannel, RefusesKindsThatAreNone) {
  std::string header(16, '\0');
  header[0] = 7;
  send_raw(header);
  EXPECT_EQ(code(), "BAD_RUNNER_MESSAGE");
}

TEST_F(RunnerChannel, RefusesABodyAboveTheLimitBeforeReadingIt) {
  ASSERT_TRUE(send_runner_message(ends_[0], RunnerMessageKind::progress, "12345"));
  EXPECT_EQ(code(4), "BAD_RUNNER_MESSAGE");
}

TEST_F(RunnerChannel, AHeaderThatClaimsMuchCostsNothing) {
  std::string header(16, '\0');
  header[0] = 17;
  header[8 + 3] = 15;  // 15 * 2^24 = 240 MiB
  send_raw(header);
  close_sender();
  EXPECT_EQ(code(), "BAD_RUNNER_MESSAGE");
}

TEST(NamedBody, RoundTripsAndRefusesNamesOfWrongLength) {
  const auto read = decode_named_body(encode_named_body("a/b.cu", std::string("x\0y", 3)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "a/b.cu");
  EXPECT_EQ(read->bytes, std::string("x\0y", 3));
  EXPECT_FALSE(decode_named_body(""));
  EXPECT_FALSE(decode_named_body(std::string("\0\0", 2)));
  EXPECT_FALSE(decode_named_body(std::string("\5\0abc", 5)));
}

}  // namespace
}  // namespace kernelindex
