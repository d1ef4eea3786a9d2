// SPDX-License-Identifier: Apache-2.0
#include "cuda/source_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> codes(std::string_view text) {
  std::vector<std::string> found;
  for (const ScanNote& note : scan_source("a.cu", text)) found.push_back(note.code);
  return found;
}

// HACKS rows 10, 1, 2, 31, 30, 32, 33.
TEST(SourceScan, NotesWhatAReviewerShouldSee) {
  EXPECT_THAT(codes("if (getenv(\"POPCORN_SEED\")) {}"), ElementsAre("SCAN_ENVIRONMENT"));
  EXPECT_THAT(codes("cudaStreamCreateWithFlags(&s, 1);"), ElementsAre("SCAN_STREAM"));
  EXPECT_THAT(codes("cudaEventElapsedTime(&t, a, b);"), ElementsAre("SCAN_TIMER"));
  EXPECT_THAT(codes("pthread_create(&t, 0, f, 0);"), ElementsAre("SCAN_THREAD"));
  EXPECT_THAT(codes("cudaGraphLaunch(g, s);"), ElementsAre("SCAN_GRAPH"));
  EXPECT_THAT(codes("#define R(x) cudaEvent##x"), ElementsAre("SCAN_TOKEN_PASTE"));
  EXPECT_THAT(codes("if (fork() == 0) {}"), ElementsAre("SCAN_PROCESS"));
}

TEST(SourceScan, SaysWhere) {
  const auto notes = scan_source("k/a.cu", "int a;\n/* getenv\n */ int b = getenv(0);\n");
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].line, 3u);
  EXPECT_EQ(notes[0].path, "k/a.cu");
  EXPECT_EQ(notes[0].word, "getenv");
}

TEST(SourceScan, CommentsAndStringsSayNothing) {
  EXPECT_THAT(codes("// fork\n/* getenv */ const char* s = \"fork\";"), IsEmpty());
  EXPECT_THAT(codes("int forked; int my_fork;"), IsEmpty());
}

TEST(SourceScan, StopsAtItsLimit) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "fork();\n";
  EXPECT_EQ(codes(text).size(), 64u);
  EXPECT_THAT(codes("\"never closed"), IsEmpty());
  EXPECT_THAT(codes("/* never closed"), IsEmpty());
}

// HACKS row 37.
TEST(SourceScan, ClonesUnderNewNamesHaveOneDigest) {
  EXPECT_EQ(normalised_token_digest("int add(int a, int b) { return a + b; }"),
            normalised_token_digest("int sum ( int x,int y ){ // clone\n return x+y ; }"));
  EXPECT_NE(normalised_token_digest("int add(int a, int b) { return a + b; }"),
            normalised_token_digest("int add(int a, int b) { return a - b; }"));
  EXPECT_NE(normalised_token_digest("int add(int a, int b) { return a + b; }"),
            normalised_token_digest("int add(int a, int b) { return b + a; }"));
}

}  // namespace
}  // namespace kernelindex::runner
