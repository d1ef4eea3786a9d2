// SPDX-License-Identifier: Apache-2.0
// check_catalog CATALOG.jsonl [--schema] [--threads N]: see catalog_check.h. Exit 1 when something
// differs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/bench/catalog_check.h"

namespace {

// At once and without clearing the memory first: reading is part of what is measured.
bool read_whole(const char* path, std::string& text) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream in(path, std::ios::binary);
  if (error || !in) return false;
  text.resize_and_overwrite(size, [&](char* bytes, std::size_t count) {
    in.read(bytes, static_cast<std::streamsize>(count));
    return static_cast<std::size_t>(in.gcount());
  });
  return text.size() == size;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned threads = 2;
  bool schema = false;
  const char* file = nullptr;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--schema") {
      schema = true;
    } else if (word == "--threads" && i + 1 < argc) {
      threads = static_cast<unsigned>(std::max(1, std::atoi(argv[++i])));
    } else {
      file = argv[i];
    }
  }
  if (file == nullptr) {
    std::fputs("usage: check_catalog CATALOG.jsonl [--schema] [--threads N]\n", stderr);
    return 2;
  }
  std::string text;
  if (!read_whole(file, text)) {
    std::fprintf(stderr, "%s: cannot be read\n", file);
    return 6;
  }
  const kernelindex::Result<kernelindex::bench::CatalogCounts> counts =
      kernelindex::bench::check_catalog(text, threads, schema);
  if (!counts) {
    std::fprintf(stderr, "%s\n", counts.error().text().c_str());
    return 3;
  }
  std::printf("%s\n", counts->json().c_str());
  return counts->all_equal() ? 0 : 1;
}
