// SPDX-License-Identifier: Apache-2.0
#include "tools/log_keys.h"

namespace kernelindex::tools {

Result<std::vector<VerifierKey>> read_log_keys(const Arguments& arguments,
                                               std::string_view option) {
  std::vector<VerifierKey> keys;
  for (const std::string& text : arguments.list(option)) {
    const Result<VerifierKey> key = parse_vkey(text);
    if (!key) return fail_in(std::string(option), key.error());
    if (key->algorithm != NoteAlgorithm::ed25519) {
      return fail(ErrorKind::usage, "USAGE", std::string(option),
                  "this is the key of a witness, not of a log");
    }
    keys.push_back(*key);
  }
  return keys;
}

Result<std::vector<VerifierKey>> trusted_log_keys(const Arguments& arguments,
                                                  std::string_view verb) {
  Result<std::vector<VerifierKey>> keys = read_log_keys(arguments, "--key");
  if (!keys || !keys->empty()) return keys;
  return fail(ErrorKind::usage, "USAGE", "", std::string(verb) + ": --key is required",
              "Take the log's key from where you trust it, never from where the log lies");
}

}  // namespace kernelindex::tools
