// SPDX-License-Identifier: Apache-2.0
#include "cuda/safetensors.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelindex::runner {
namespace {

std::string file(std::string header, std::string data = {}) {
  std::string out(8, '\0');
  for (int i = 0; i < 8; ++i) {
    out[static_cast<std::size_t>(i)] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return out + header + data;
}

std::string code_of(const std::string& bytes) {
  const auto read = read_safetensors(bytes);
  return read ? "" : read.error().code;
}

TEST(Safetensors, ReadsTensorsByName) {
  const auto read = read_safetensors(
      file(R"({"__metadata__":{"format":"pt"},"kv_indptr":{"dtype":"I32","shape":[2],)"
           R"("data_offsets":[0,8]},"x":{"dtype":"BF16","shape":[1,2],"data_offsets":[8,12]}})",
           std::string("\0\0\0\0\5\0\0\0\x80\x3f\0\xc0", 12)));
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->at("kv_indptr").value(1), 5);
  EXPECT_EQ(read->at("x").value(0), 1);
  EXPECT_EQ(read->at("x").value(1), -2);
}

TEST(Safetensors, RefusesWhatDoesNotFit) {
  const std::string one = R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_EQ(code_of(file(one, "ab")), "");
  EXPECT_EQ(code_of(file(one, "a")), "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(one, "abc")), "BAD_SAFETENSORS");
  EXPECT_EQ(code_of("abc"), "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(std::string(8, '\xff')), "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(one).substr(0, 20)), "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(R"({"x":{"dtype":"I7","shape":[2],"data_offsets":[0,2]}})", "ab")),
            "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(R"({"x":{"dtype":"I8","shape":[3],"data_offsets":[0,2]}})", "ab")),
            "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(R"({"x":{"dtype":"I8","shape":[-2],"data_offsets":[0,2]}})", "ab")),
            "BAD_SAFETENSORS");
  EXPECT_EQ(
      code_of(file(R"({"x":{"dtype":"I8","shape":[4294967296,4294967296],"data_offsets":[0,2]}})",
                   "ab")),
      "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[2,0]}})", "ab")),
            "BAD_SAFETENSORS");
}

TEST(Safetensors, RefusesOverlapsAndHoles) {
  EXPECT_EQ(code_of(file(R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[0,2]},)"
                         R"("y":{"dtype":"I8","shape":[2],"data_offsets":[1,3]}})",
                         "abc")),
            "BAD_SAFETENSORS");
  EXPECT_EQ(code_of(file(R"({"x":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},)"
                         R"("y":{"dtype":"I8","shape":[1],"data_offsets":[2,3]}})",
                         "abc")),
            "BAD_SAFETENSORS");
}

TEST(Safetensors, HasALimitOnTensors) {
  std::string header = "{";
  for (std::size_t i = 0; i <= kSafetensorsTensors; ++i) {
    header += (i == 0 ? "\"t" : ",\"t") + std::to_string(i) +
              R"(":{"dtype":"I8","shape":[0],"data_offsets":[0,0]})";
  }
  EXPECT_EQ(code_of(file(header + "}")), "BAD_SAFETENSORS");
}

}  // namespace
}  // namespace kernelindex::runner
