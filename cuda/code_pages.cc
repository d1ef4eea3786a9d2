// SPDX-License-Identifier: Apache-2.0
#include "cuda/code_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <utility>

namespace kernelindex::runner {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

// The next word, and what is left behind it without spaces in front.
std::string_view next_word(std::string_view& line) {
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return word;
}

bool read_hex(std::string_view text, std::uint64_t& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

// "7f00-7f10 r-xp 00001000 08:01 42   /usr/lib/libcuda.so.1"
bool parse_line(std::string_view line, CodeMapping& mapping) {
  const std::string_view range = next_word(line);
  const std::string_view permissions = next_word(line);
  const std::string_view offset = next_word(line);
  next_word(line);  // device
  next_word(line);  // inode
  const std::size_t dash = range.find('-');
  if (dash == range.npos || permissions.size() < 3 || permissions[2] != 'x') return false;
  if (!line.starts_with('/')) return false;
  mapping.file = line;
  return read_hex(range.substr(0, dash), mapping.begin) &&
         read_hex(range.substr(dash + 1), mapping.end) && read_hex(offset, mapping.offset) &&
         mapping.begin < mapping.end;
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool open() const { return descriptor_ >= 0; }
  // How many of the bytes there are.
  std::size_t read(std::uint64_t at, std::string& into) const {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = ::pread(descriptor_, into.data() + done, into.size() - done,
                                  static_cast<off_t>(at + done));
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int descriptor_;
};

// Adds one mapping to the hash of its file; whether it could be read. Behind the end of the file
// memory holds zeros.
bool hash_mapping(const CodeMapping& mapping, const Descriptor& memory, const Descriptor& file,
                  Sha256& hash, bool& as_in_file) {
  for (std::uint64_t at = mapping.begin; at < mapping.end; at += kPieceBytes) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, mapping.end - at));
    std::string in_memory(size, '\0');
    std::string in_file(size, '\0');
    if (memory.read(at, in_memory) != size) return false;
    hash.update(in_memory);
    file.read(mapping.offset + (at - mapping.begin), in_file);
    as_in_file = as_in_file && in_memory == in_file;
  }
  return true;
}

std::unexpected<Error> unreadable(std::string what) {
  return fail(ErrorKind::system, "CODE_UNREADABLE", {},
              "the code of the child cannot be read: " + std::move(what));
}

}  // namespace

std::vector<CodeMapping> parse_code_mappings(std::string_view maps) {
  std::vector<CodeMapping> mappings;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    CodeMapping mapping;
    if (parse_line(maps.substr(0, end), mapping)) mappings.push_back(std::move(mapping));
    maps.remove_prefix(std::min(end + 1, maps.size()));
  }
  return mappings;
}

bool is_timing_code(std::string_view file, std::string_view program) {
  if (file == program) return true;
  const std::string_view name = file.substr(file.rfind('/') + 1);
  for (const std::string_view library :
       {"libcuda.so", "libcudart.so", "libcupti.so", "libc.so", "ld-linux"}) {
    if (name.starts_with(library)) return true;
  }
  return false;
}

Result<CodeImages> read_timing_code(pid_t process, std::string_view program) {
  const std::string folder = folder_of(process);
  std::ifstream in(folder + "/maps");
  const std::string maps{std::istreambuf_iterator<char>(in), {}};
  const Descriptor memory(folder + "/mem");
  if (maps.empty() || !memory.open()) return unreadable(folder);
  std::map<std::string, std::vector<CodeMapping>> by_file;
  for (CodeMapping& mapping : parse_code_mappings(maps)) {
    if (is_timing_code(mapping.file, program)) by_file[mapping.file].push_back(std::move(mapping));
  }
  CodeImages images;
  for (const auto& [name, mappings] : by_file) {
    const Descriptor file(folder + "/root" + name);
    CodeImage& image = images[name];
    image.as_in_file = file.open();
    Sha256 hash;
    for (const CodeMapping& mapping : mappings) {
      if (!hash_mapping(mapping, memory, file, hash, image.as_in_file)) return unreadable(name);
    }
    image.memory = hash.finish();
  }
  return images;
}

std::int64_t changed_code(const CodeImages& before, const CodeImages& after) {
  return std::count_if(before.begin(), before.end(), [&after](const auto& image) {
    const auto found = after.find(image.first);
    return found == after.end() || found->second.memory != image.second.memory;
  });
}

}  // namespace kernelindex::runner
