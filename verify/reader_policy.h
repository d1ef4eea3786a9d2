// SPDX-License-Identifier: Apache-2.0
// Whose runners a reader counts: the file of `verify --policy`. DESIGN sections 7 and 10.
//
//   {"v": 1,
//    "keys": [key id, 64 hex digits ...],
//    "owners": [{"ledger": ledger id, "owner": slug} ...],
//    "allow": [codes of the switches of loosened measurements that this reader accepts ...]}
//
// All but `v` may be absent, which names nobody. Members are a closed set; nothing may stand twice.
// Without a policy no runner counts. A policy can only take away: retractions, disputes and
// revocations always apply, and no policy lifts a level above what the evidence gives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kReaderPolicyBytes = 256 * limits::kKiB;
inline constexpr std::size_t kReaderPolicyItems = 1024;  // of each list

struct ReaderPolicy {
  struct Owner {
    Digest ledger;  // ledger id
    std::string owner;

    auto operator<=>(const Owner&) const = default;
  };

  std::vector<Digest> keys;        // key ids, sorted
  std::vector<Owner> owners;       // sorted
  std::vector<std::string> allow;  // codes as `allowed` of an acceptance has them, sorted
  Digest digest;                   // SHA-256 of the file

  // Whether a runner of this key and owner, enrolled in this ledger, counts.
  bool counts(const Digest& key_id, const Digest& ledger, std::string_view owner) const;
  // What output calls it: "policy sha256:...".
  std::string name() const { return "policy " + digest.text(); }
};

// Errors (kind invalid): those of json::parse, UNSUPPORTED_FORMAT (another `v`), UNKNOWN_MEMBER,
// MISSING_MEMBER, BAD_MEMBER, BAD_DIGEST. Each names its place ("owners[0].owner").
Result<ReaderPolicy> parse_reader_policy(std::string_view bytes);

}  // namespace kernelindex
