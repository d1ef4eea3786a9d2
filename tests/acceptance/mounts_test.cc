// SPDX-License-Identifier: Apache-2.0
// Real file systems that refuse: a full one and a read-only one, in a mount namespace of their own.
// Skipped where none can be had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/acceptance/answers.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

// Runs a shell script as root of a mount namespace; $PROGRAM is the program, $ROOM the folder of
// the room, whose ledger the environment names.
Outcome in_namespace(const Room& room, const std::string& script) {
  RunOptions options;
  options.environment = room.environment();
  options.environment["PROGRAM"] = KERNELINDEX_PROGRAM;
  options.environment["ROOM"] = room.folder().string();
  options.environment["CATALOG"] = catalog_file().string();
  options.environment["SAMPLE"] = sample_folder().string();
  return run_program(
      {"unshare", "--mount", "--map-root-user", "--propagation", "private", "sh", "-ec", script},
      options);
}

bool have_namespaces() {
  try {
    return run_program({"unshare", "--mount", "--map-root-user", "--propagation", "private", "sh",
                        "-ec", "mount -t tmpfs none /mnt"})
               .exit_code == 0;
  } catch (const std::runtime_error&) {
    return false;
  }
}

#define REQUIRE_NAMESPACES() \
  if (!have_namespaces())    \
  GTEST_SKIP() << "NO MOUNT NAMESPACE: this test proves nothing here; run it where unshare works"

TEST(Mounts, AFullTmpfsIsSaidAndWithMoreSpaceTheImportIsFinished) {
  KERNELINDEX_REQUIRE_CORPUS();
  REQUIRE_NAMESPACES();
  Room room;
  room.close();
  Room whole = room.copy();
  const ingest::ImportReport expected = whole.import_catalog();
  const Outcome outcome = in_namespace(room, R"sh(
      mkdir "$ROOM/small"
      mount -t tmpfs -o size=16m none "$ROOM/small"
      cp -r "$ROOM/ledger" "$ROOM/small/"
      export KERNELINDEX_LEDGER="$ROOM/small/ledger"
      try() {
        code=0
        "$PROGRAM" "$@" >> "$ROOM/out" 2>> "$ROOM/err" || code=$?
        echo "$1 $code"
      }
      try import kernelindex-catalog "$CATALOG"
      try import kernelindex-catalog "$CATALOG"
      try log
      try runs --limit 1
      mount -o remount,size=512m "$ROOM/small"
      try audit
      try import kernelindex-catalog "$CATALOG"
      try audit
      "$PROGRAM" status --json > "$ROOM/status"
  )sh");
  const std::string err = read_file(room.folder() / "err");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err << err;
  EXPECT_EQ(outcome.out, "import 6\nimport 6\nlog 0\nruns 0\naudit 0\nimport 0\naudit 0\n") << err;
  EXPECT_THAT(err, HasSubstr("DISK_FULL"));
  const Document status(read_file(room.folder() / "status"));
  EXPECT_EQ(status->text("root"), expected.head.root.text());
}

TEST(Mounts, AReadOnlyDirectoryCanBeReadAndNotWritten) {
  REQUIRE_NAMESPACES();
  Room room;
  room.import_sample();
  room.close();
  const Outcome outcome = in_namespace(room, R"sh(
      mount --bind "$ROOM/ledger" "$ROOM/ledger"
      mount -o remount,bind,ro "$ROOM/ledger"
      try() {
        code=0
        "$PROGRAM" "$@" > /dev/null 2>> "$ROOM/err" || code=$?
        echo "$1 $code"
      }
      for verb in log runs records status audit; do try $verb; done
      try import sol-execbench "$SAMPLE"
      try reindex
      try init --ledger "$ROOM/ledger/other"
  )sh");
  const std::string err = read_file(room.folder() / "err");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "log 0\nruns 0\nrecords 0\nstatus 0\naudit 0\nimport 6\nreindex 6\ninit 6\n")
      << err;
  EXPECT_THAT(err, HasSubstr("PERMISSION"));
}

}  // namespace
}  // namespace kernelindex::test
