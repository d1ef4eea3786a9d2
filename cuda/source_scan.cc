// SPDX-License-Identifier: Apache-2.0
#include "cuda/source_scan.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace kernelindex::runner {
namespace {

constexpr std::size_t kNotes = 64;

struct Word {
  std::string_view code;
  std::string_view start;  // of an identifier
};
constexpr std::array kWords = {
    Word{"SCAN_ENVIRONMENT", "getenv"},
    Word{"SCAN_ENVIRONMENT", "secure_getenv"},
    Word{"SCAN_ENVIRONMENT", "environ"},
    Word{"SCAN_STREAM", "cudaStreamCreate"},
    Word{"SCAN_STREAM", "cuStreamCreate"},
    Word{"SCAN_TIMER", "cudaEventElapsedTime"},
    Word{"SCAN_TIMER", "cuEventElapsedTime"},
    Word{"SCAN_TIMER", "globaltimer"},
    Word{"SCAN_PROCESS", "fork"},
    Word{"SCAN_PROCESS", "execve"},
    Word{"SCAN_PROCESS", "system"},
    Word{"SCAN_PROCESS", "popen"},
    Word{"SCAN_PROCESS", "ptrace"},
    Word{"SCAN_PROCESS", "prctl"},
    Word{"SCAN_PROCESS", "syscall"},
    Word{"SCAN_THREAD", "pthread_create"},
    Word{"SCAN_THREAD", "thread"},
    Word{"SCAN_THREAD", "async"},
    Word{"SCAN_NETWORK", "socket"},
    Word{"SCAN_LOADER", "dlopen"},
    Word{"SCAN_LOADER", "dlsym"},
    Word{"SCAN_MEMORY", "mprotect"},
    Word{"SCAN_L2_PERSIST", "cudaLimitPersistingL2CacheSize"},
    Word{"SCAN_L2_PERSIST", "cudaStreamSetAttribute"},
    Word{"SCAN_L2_PERSIST", "accessPolicyWindow"},
    Word{"SCAN_GRAPH", "cudaGraphLaunch"},
    Word{"SCAN_GRAPH", "cudaStreamBeginCapture"},
    Word{"SCAN_STATE", "static"},
};

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

// Tokens of C++ as far as this needs them: names, single other characters; comments are skipped and
// literals are one token without content.
struct Token {
  std::string_view text;  // empty for a literal
  std::size_t line = 1;
  bool name = false;
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  bool next(Token& token) {
    for (;;) {
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        const std::size_t stop = end == text_.npos ? text_.size() : end + 2;
        line_ += static_cast<std::size_t>(
            std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                       text_.begin() + static_cast<std::ptrdiff_t>(stop), '\n'));
        at_ = stop;
      } else {
        break;
      }
    }
    token = {text_.substr(at_, 1), line_, false};
    if (text_[at_] == '"' || text_[at_] == '\'') {
      const char quote = text_[at_++];
      while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
        at_ += text_[at_] == '\\' ? 2 : 1;
      }
      at_ = std::min(at_ + 1, text_.size());
      token.text = {};
      return true;
    }
    if (is_name(text_[at_])) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_name(text_[at_])) ++at_;
      token.text = text_.substr(begin, at_ - begin);
      token.name = is_name_start(token.text.front());
      return true;
    }
    ++at_;
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<ScanNote> scan_source(std::string_view path, std::string_view text) {
  std::vector<ScanNote> notes;
  Tokens tokens(text);
  Token token;
  std::string_view previous;
  while (notes.size() < kNotes && tokens.next(token)) {
    if (token.text == "#" && previous == "#") {
      notes.push_back({"SCAN_TOKEN_PASTE", std::string(path), token.line, "##"});
    }
    previous = token.text;
    if (!token.name) continue;
    for (const Word& word : kWords) {
      // A stem of a family of functions, or the word itself.
      const bool family = word.start.size() > 10 && token.text.starts_with(word.start);
      if (family || token.text == word.start) {
        notes.push_back({std::string(word.code), std::string(path), token.line,
                         std::string(token.text.substr(0, 100))});
        break;
      }
    }
  }
  return notes;
}

Digest normalised_token_digest(std::string_view text) {
  std::map<std::string_view, std::size_t> names;
  std::string out;
  Tokens tokens(text);
  Token token;
  while (tokens.next(token)) {
    if (token.name) {
      const std::size_t number = names.emplace(token.text, names.size()).first->second;
      out += "n" + std::to_string(number);
    } else if (token.text.empty()) {
      out += "s";
    } else {
      out += token.text;
    }
    out += ' ';
  }
  return sha256(out);
}

}  // namespace kernelindex::runner
