// SPDX-License-Identifier: Apache-2.0
// Code that somebody changes in memory is found from outside. HACKS row 3; PROTOCOL section 13.
#include "cuda/code_pages.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CodeMappings, AreTheExecutableOnesOfFiles) {
  const auto mappings = parse_code_mappings(
      "7f0000000000-7f0000001000 r--p 00000000 08:01 42    /usr/lib/libcuda.so.1\n"
      "7f0000001000-7f0000003000 r-xp 00001000 08:01 42    /usr/lib/libcuda.so.1\n"
      "7f0000004000-7f0000005000 rwxp 00000000 00:00 0 \n"
      "7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0     [vdso]\n"
      "7f0000006000-7f0000007000 r-xp 00000000 08:01 43    /elsewhere/with space (deleted)\n"
      "nonsense\n");
  EXPECT_THAT(
      mappings,
      ElementsAre(
          CodeMapping{0x7f0000001000, 0x7f0000003000, 0x1000, "/usr/lib/libcuda.so.1"},
          CodeMapping{0x7f0000006000, 0x7f0000007000, 0, "/elsewhere/with space (deleted)"}));
  EXPECT_THAT(parse_code_mappings(""), IsEmpty());
}

TEST(TimingCode, IsWhatATimeGoesThrough) {
  for (const char* file : {"/usr/lib/libcuda.so.580.1", "/x/libcudart.so.13", "/x/libcupti.so.13",
                           "/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/runner"}) {
    EXPECT_TRUE(is_timing_code(file, "/runner")) << file;
  }
  for (const char* file : {"/x/libcublas.so.13", "/x/artifact", "/libcuda.so.1/other"}) {
    EXPECT_FALSE(is_timing_code(file, "/runner")) << file;
  }
}

class LoadedCode : public ::testing::Test {
 protected:
  LoadedCode() : handle_(::dlopen(KERNELINDEX_CODE_LIBRARY, RTLD_NOW)) {
    function_ = handle_ == nullptr ? nullptr : ::dlsym(handle_, "kernelindex_test_answer");
  }
  ~LoadedCode() override {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  CodeImages read() const {
    const Result<CodeImages> images = read_timing_code(::getpid(), KERNELINDEX_CODE_LIBRARY);
    EXPECT_TRUE(images) << images.error().text();
    return images ? *images : CodeImages{};
  }
  // Turns one bit of the function over.
  void hook() const {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    auto* at = reinterpret_cast<unsigned char*>(function_);
    auto* begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page);
    ASSERT_EQ(::mprotect(begin, page, PROT_READ | PROT_WRITE), 0);
    at[0] ^= 1;
    ASSERT_EQ(::mprotect(begin, page, PROT_READ | PROT_EXEC), 0);
  }
  void* handle_;
  void* function_;
};

TEST_F(LoadedCode, IsThatOfItsFileUntilSomebodyChangesIt) {
  ASSERT_NE(function_, nullptr);
  const CodeImages before = read();
  ASSERT_TRUE(before.contains(KERNELINDEX_CODE_LIBRARY));
  EXPECT_TRUE(before.at(KERNELINDEX_CODE_LIBRARY).as_in_file);
  EXPECT_EQ(changed_code(before, read()), 0);
  hook();
  const CodeImages hooked = read();
  hook();  // back again
  EXPECT_EQ(changed_code(before, hooked), 1);
  EXPECT_FALSE(hooked.at(KERNELINDEX_CODE_LIBRARY).as_in_file);
  EXPECT_EQ(changed_code(before, read()), 0);
}

TEST_F(LoadedCode, ThatIsGoneIsChanged) {
  const CodeImages before = read();
  EXPECT_EQ(changed_code(before, {}), static_cast<std::int64_t>(before.size()));
  EXPECT_EQ(changed_code({}, before), 0);  // loaded later, like the runtime of an artifact
}

TEST(CodeOfNobody, IsAnError) {
  const Result<CodeImages> images = read_timing_code(0, "/runner");
  ASSERT_FALSE(images);
  EXPECT_EQ(images.error().code, "CODE_UNREADABLE");
}

}  // namespace
}  // namespace kernelindex::runner
