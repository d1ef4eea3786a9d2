// SPDX-License-Identifier: Apache-2.0
// write_longer_catalog CATALOG.jsonl COPIES OUT.jsonl: see longer_catalog.h.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>

#include "tests/bench/longer_catalog.h"
#include "tests/support/corpus.h"

namespace kernelindex::bench {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

int write_catalog(const char* from, const char* copies_text, const char* to) {
  unsigned copies = 0;
  const char* end = copies_text + std::strlen(copies_text);
  const auto read = std::from_chars(copies_text, end, copies);
  if (read.ec != std::errc() || read.ptr != end || copies < 1 || copies > kCopiesMax) {
    std::fprintf(stderr, "copies: a number from 1 to %u\n", kCopiesMax);
    return 2;
  }
  const std::unique_ptr<std::FILE, CloseFile> out(std::fopen(to, "wb"));
  const auto failed = [to] {
    return fail(ErrorKind::system, "IO", to,
                std::string("cannot be written: ") + std::strerror(errno));
  };
  Status written = failed();
  if (out != nullptr) {
    written =
        write_longer_catalog(test::read_file(from), copies, [&](std::string_view line) -> Status {
          if (std::fwrite(line.data(), 1, line.size(), out.get()) != line.size()) return failed();
          return {};
        });
    if (written && std::fflush(out.get()) != 0) written = failed();
  }
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.error().text().c_str());
  return 6;
}

}  // namespace
}  // namespace kernelindex::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: write_longer_catalog CATALOG.jsonl COPIES OUT.jsonl\n", stderr);
    return 2;
  }
  try {
    return kernelindex::bench::write_catalog(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 6;
  }
}
