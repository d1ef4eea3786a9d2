// SPDX-License-Identifier: Apache-2.0
#include "tools/log_keys.h"

namespace kernelindex::tools {

Result<std::vector<VerifierKey>> trusted_log_keys(const Arguments& arguments,
                                                  std::string_view verb) {
  std::vector<VerifierKey> keys;
  for (const std::string& text : arguments.list("--key")) {
    const Result<VerifierKey> key = parse_vkey(text);
    if (!key) return fail_in("--key", key.error());
    if (key->algorithm != NoteAlgorithm::ed25519) {
      return fail(ErrorKind::usage, "USAGE", "--key", "this is the key of a witness, not of a log");
    }
    keys.push_back(*key);
  }
  if (!keys.empty()) return keys;
  return fail(ErrorKind::usage, "USAGE", "", std::string(verb) + ": --key is required",
              "Take the log's key from where you trust it, never from where the log lies");
}

}  // namespace kernelindex::tools
