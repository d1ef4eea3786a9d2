// SPDX-License-Identifier: Apache-2.0
#include "tests/structure/include_rules.h"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

namespace kernelindex::test {
namespace {

// A room may include itself and these. Nothing includes tests; nobody but cuda includes cuda.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"schema", {}},
    {"ledger", {"schema"}},
    {"ingest", {"schema", "ledger"}},
    {"verify", {"schema", "ledger"}},
    {"tools", {"schema", "ledger", "ingest", "verify"}},
    {"cuda", {"schema"}},
};

// One foreign library, one door. The header of a door shows none of the library's types, so every
// door is a source file; where two are named, they share the work of one.
struct Door {
  std::string library;
  std::regex header;
  std::regex door;
};
const std::vector<Door>& doors() {
  static const std::vector<Door> all = {
      {"RocksDB", std::regex("rocksdb/.*"), std::regex("ledger/store(_[a-z_]+)?\\.(cc)")},
      {"libsodium", std::regex("sodium\\.h|sodium/.*"), std::regex("ledger/signing_key\\.cc")},
      {"OpenSSL", std::regex("openssl/.*"), std::regex("schema/digest\\.cc")},
      {"Boost", std::regex("boost/.*"),
       std::regex("tools/http/http_connection\\.cc|tools/serve/(server|connection)\\.cc|"
                  "tools/serve/connection\\.h")},
      {"zlib", std::regex("zlib\\.h"), std::regex("tools/http/gzip_decoder\\.cc")},
      {"simdjson", std::regex("simdjson\\.h|simdjson/.*"), std::regex("schema/json_reader\\.cc")},
      {"FlatBuffers", std::regex("flatbuffers/.*|.*_generated\\.h"),
       std::regex("ledger/rows(_[a-z_]+)?\\.cc")},
      {"libfyaml", std::regex("libfyaml\\.h"), std::regex("schema/yaml_reader\\.cc")},
      {"zstd", std::regex("zstd(_[a-z]+)?\\.h"), std::regex("ingest/zstd_[a-z_]+\\.cc")},
      {"CLI11", std::regex("CLI/.*"), std::regex("tools/[a-z_]+\\.(cc|h)")},
      {"dlopen", std::regex("dlfcn\\.h"),
       std::regex("cuda/(dynamic_library\\.h|measuring_child\\.cc)")},
      {"CUDA", std::regex("(cuda|nvrtc|nvml|cupti)[a-z_]*\\.h"), std::regex("cuda/.*")},
  };
  return all;
}

struct Include {
  std::string file;
  std::size_t line = 0;
  std::string header;
  bool quoted = false;
};

std::string room_of(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

std::vector<Include> includes_of(const std::string& file, const std::string& text) {
  static const std::regex directive(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, directive)) {
      found.push_back({file, number, match[2], match[1] == "\""});
    }
  }
  return found;
}

std::string place(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + ": ";
}

void check_arrow(const Include& include, std::vector<std::string>& faults) {
  const std::string from = room_of(include.file);
  const std::string to = room_of(include.header);
  const auto rule = kArrows.find(from);
  if (rule == kArrows.end()) {
    faults.push_back(place(include) + "no rule for the room " + from);
    return;
  }
  const bool ours = kArrows.contains(to) || to == "tests";
  if (!include.quoted) {
    if (ours && include.header.find('/') != std::string::npos) {
      faults.push_back(place(include) + "our own header " + include.header + " in angle brackets");
    }
    return;
  }
  const bool generated = include.header.ends_with("_generated.h");
  if (!ours) {
    if (!generated) {
      faults.push_back(place(include) + include.header +
                       " is not spelled from the root of the tree");
    }
  } else if (to != from && !rule->second.contains(to)) {
    faults.push_back(place(include) + from + " may not include " + to + " (" + include.header +
                     ")");
  }
}

void check_door(const Include& include, std::vector<std::string>& faults) {
  for (const Door& door : doors()) {
    if (std::regex_match(include.header, door.header) &&
        !std::regex_match(include.file, door.door)) {
      faults.push_back(place(include) + include.header + " enters " + include.file + ", but " +
                       door.library + " has another door");
    }
  }
}

// Depth-first over the files; a file met again while it is still open closes a loop.
class LoopFinder {
 public:
  LoopFinder(const std::map<std::string, std::vector<std::string>>& edges,
             std::vector<std::string>& faults)
      : edges_(edges), faults_(faults) {}

  void visit(const std::string& file) {
    if (done_.contains(file)) return;
    const auto open = std::find(path_.begin(), path_.end(), file);
    if (open != path_.end()) {
      std::string loop;
      for (auto step = open; step != path_.end(); ++step) loop += *step + " -> ";
      faults_.push_back(loop + file + ": a loop of files");
      return;
    }
    path_.push_back(file);
    if (const auto next = edges_.find(file); next != edges_.end()) {
      for (const std::string& header : next->second) visit(header);
    }
    path_.pop_back();
    done_.insert(file);
  }

 private:
  const std::map<std::string, std::vector<std::string>>& edges_;
  std::vector<std::string>& faults_;
  std::vector<std::string> path_;
  std::set<std::string> done_;
};

}  // namespace

std::vector<std::string> broken_include_rules(const SourceTree& tree) {
  std::vector<std::string> faults;
  std::map<std::string, std::vector<std::string>> edges;
  for (const auto& [file, text] : tree) {
    for (const Include& include : includes_of(file, text)) {
      check_arrow(include, faults);
      check_door(include, faults);
      if (include.quoted) edges[file].push_back(include.header);
    }
  }
  LoopFinder finder(edges, faults);
  for (const auto& [file, headers] : edges) finder.visit(file);
  return faults;
}

}  // namespace kernelindex::test
