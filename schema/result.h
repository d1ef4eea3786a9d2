// SPDX-License-Identifier: Apache-2.0
// Errors as values: what went wrong, where, and what to do about it.
//
// Three things are kept apart. An Error means that the world did not co-operate (a file is missing,
// bytes are malformed, the disk is full). A verdict (verify/) means that a check did its work and
// the evidence is false. A bug in our own code is an assertion and stops the program.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace kernelindex {

// What a caller should do about an error. The command line maps each kind to one exit code.
enum class ErrorKind {
  usage,      // the request makes no sense as asked: correct the call (exit 2)
  invalid,    // outside bytes are malformed or beyond a limit: correct the input (exit 3)
  not_found,  // nothing by that name: check the id or the path (exit 3)
  ambiguous,  // several things by that name: give a longer id (exit 3)
  corrupt,    // stored bytes or derived data disagree: run `audit`, then `reindex` (exit 4)
  refused,    // a policy forbids it: role, cap, read-only after a restore (exit 5)
  system,     // I/O, disk full, permission, lock held, network, time (exit 6)
};

struct Error {
  ErrorKind kind = ErrorKind::invalid;
  std::string code;     // stable, UPPER_SNAKE_CASE, for programs: "DUPLICATE_KEY"
  std::string place;    // file, line:column or byte, field path; empty when the message says it
  std::string message;  // one sentence for people, without a final period
  std::string remedy;   // what to do; empty when the message leaves no doubt

  // "place: message (CODE). remedy"
  std::string text() const;
};

inline std::string Error::text() const {
  std::string out;
  if (!place.empty()) out += place + ": ";
  out += message;
  if (!code.empty()) out += " (" + code + ")";
  if (!remedy.empty()) out += ". " + remedy;
  return out;
}

// A value or an Error. libstdc++ 12's std::expected is not [[nodiscard]]; this one is.
template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

using Status = Result<void>;

// `return fail(...)` from a function that returns a Result.
inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

inline std::unexpected<Error> fail(ErrorKind kind, std::string code, std::string place,
                                   std::string message, std::string remedy = {}) {
  return std::unexpected<Error>(
      Error{kind, std::move(code), std::move(place), std::move(message), std::move(remedy)});
}

// Puts `prefix` in front of the place of an error on its way up.
inline std::unexpected<Error> fail_in(const std::string& prefix, Error error) {
  error.place = error.place.empty() ? prefix : prefix + ": " + error.place;
  return std::unexpected<Error>(std::move(error));
}

}  // namespace kernelindex
