// SPDX-License-Identifier: Apache-2.0
// Where the real corpora and the public test vectors lie, and how a test reads them.
//
// They are not part of this repository: $KERNELINDEX_CORPUS names their folder, by default `shared`
// beside the checkout. A test that needs them says so first, and is skipped loudly without them:
//
//   TEST(Catalog, EveryDigestRecomputes) {
//     KERNELINDEX_REQUIRE_CORPUS();
//     const std::string text = test::read_file(test::corpus_path("vectors/jcs/input/weird.json"));
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace kernelindex::test {

// The folder of the corpora; it need not exist.
std::filesystem::path corpus_root();
// A file or folder in it, "vectors/jcs" for example.
std::filesystem::path corpus_path(std::string_view relative);
bool have_corpus();

// The root of this source tree.
std::filesystem::path source_root();

// All bytes of a file. Throws std::runtime_error when it cannot be read: a test's own input is
// there, or the test is wrong.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace kernelindex::test

// First statement of a test, or of SetUp(), that needs the corpora.
#define KERNELINDEX_REQUIRE_CORPUS()                                  \
  if (!::kernelindex::test::have_corpus())                            \
  GTEST_SKIP() << "NO CORPUS: " << ::kernelindex::test::corpus_root() \
               << " is missing, so this test proves nothing. Set KERNELINDEX_CORPUS."
