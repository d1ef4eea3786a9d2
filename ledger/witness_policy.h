// SPDX-License-Identifier: Apache-2.0
// Whose signatures make a checkpoint valid (C2SP tlog-policy): any of the logs named, and a quorum
// of witnesses.
//
//   log <vkey> [<url>]
//   witness <name> <vkey> [<url>]
//   group <name> all|any|<k> <member>...
//   quorum <name>|none                        exactly once
//
// One line each, ended by LF, items separated by spaces and tabs; "#" begins a comment only where
// nothing stands before it. Members are defined on earlier lines, and each is a member of one group
// at most, so that nobody counts twice; nor does a public key under two names. Stricter than the
// specification: at most 256 KiB, 256 logs, 256 witnesses and 256 groups, no URL that begins with
// "#". A witness may be given by its key of type 0x01: its cosignature key, of type 0x04, is the
// same key and name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/note.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kPolicyBytes = 256 * limits::kKiB;
inline constexpr std::size_t kPolicyItems = 256;  // of each: logs, witnesses, groups

// What a check of a checkpoint against a policy found; not an error.
struct [[nodiscard]] PolicyVerdict {
  // Empty when the checkpoint is valid. UNKNOWN_LOG (the policy names no log of this origin),
  // QUORUM_NOT_MET, else as CheckpointVerdict::code.
  std::string_view code;
  std::string detail;

  // A witness whose cosignature verified.
  struct Cosigned {
    std::size_t witness = 0;  // index into WitnessPolicy::witnesses()
    std::uint64_t time = 0;   // POSIX seconds
  };
  std::vector<Cosigned> cosigned;  // set also when the quorum is not met
  // The newest time at which a quorum says that it saw the checkpoint: those who signed then or
  // later are one by themselves. POSIX seconds; nothing when the quorum is `none` or not met. The
  // only source of a checkpoint's age.
  std::optional<std::uint64_t> quorum_time;

  bool ok() const { return code.empty(); }
};

// Immutable; for any thread.
class WitnessPolicy {
 public:
  struct Log {
    VerifierKey key;  // its name is the origin of the log
    std::string url;  // empty when none is given
  };
  struct Witness {
    std::string name;  // in this policy only; opaque bytes
    VerifierKey key;   // of type 0x04
    std::string url;
  };

  // Errors (kind invalid), with the line as their place: BAD_POLICY, TOO_MANY_ITEMS, BAD_VKEY,
  // UNKNOWN_KEY_TYPE, BAD_PUBLIC_KEY; POLICY_TOO_LARGE.
  static Result<WitnessPolicy> parse(std::string_view text);
  // Any of the keys, and no witness: `quorum none`. Requires: keys of type 0x01.
  static WitnessPolicy of_logs(std::span<const VerifierKey> log_keys);
  // The same witnesses and quorum for logs that are known from elsewhere; those that the text names
  // are replaced. Requires: as above.
  WitnessPolicy with_logs(std::span<const VerifierKey> log_keys) const;

  // That a log of the policy signed, that no line of a key it names fails, and that the quorum
  // cosigned.
  PolicyVerdict check(const SignedCheckpoint& checkpoint) const;

  const std::vector<Log>& logs() const { return logs_; }
  const std::vector<Witness>& witnesses() const { return witnesses_; }
  // Whether any cosignature is asked for: without a quorum a split view is not excluded.
  bool needs_witnesses() const { return quorum_.has_value(); }

 private:
  friend class PolicyParser;
  // A witness or a group, by its index.
  struct Member {
    bool group = false;
    std::size_t index = 0;
  };
  struct Group {
    std::size_t threshold = 1;  // 1..members.size()
    std::vector<Member> members;
  };

  // Whether the member witnessed, when exactly these witnesses signed. Groups are evaluated in
  // their order, which is one in which members come first.
  bool met(const Member& member, const std::vector<bool>& signed_by) const;

  std::vector<Log> logs_;
  std::vector<Witness> witnesses_;
  std::vector<Group> groups_;
  std::optional<Member> quorum_;  // nothing: none is asked for
};

}  // namespace kernelindex
