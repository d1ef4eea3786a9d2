// SPDX-License-Identifier: Apache-2.0
#include "tests/support/corpus.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kernelindex::test {

std::filesystem::path source_root() { return KERNELINDEX_SOURCE_DIR; }

std::filesystem::path corpus_root() {
  const char* named = std::getenv("KERNELINDEX_CORPUS");
  if (named != nullptr && *named != '\0') return named;
  return source_root().parent_path() / "shared";
}

std::filesystem::path corpus_path(std::string_view relative) { return corpus_root() / relative; }

bool have_corpus() {
  return std::filesystem::is_directory(corpus_path("vectors")) &&
         std::filesystem::is_directory(corpus_path("data"));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace kernelindex::test
