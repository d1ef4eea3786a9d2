// SPDX-License-Identifier: Apache-2.0
#include "ledger/witness_policy.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include "ledger/text_lines.h"

namespace kernelindex {
namespace {

constexpr std::string_view kNone = "none";

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::invalid, "BAD_POLICY", {}, std::move(message));
}

bool is_allowed(char c) {
  const auto octet = static_cast<std::uint8_t>(c);
  return c == '\t' || (octet >= 0x20 && octet != 0x7f);
}

std::vector<std::string_view> items_of(std::string_view line) {
  std::vector<std::string_view> items;
  while (true) {
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return items;
    line.remove_prefix(start);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    items.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

}  // namespace

// Reads a policy line by line.
class PolicyParser {
 public:
  Result<WitnessPolicy> parse(std::string_view text) {
    if (text.size() > kPolicyBytes) {
      return fail(ErrorKind::invalid, "POLICY_TOO_LARGE", {},
                  "the policy has " + std::to_string(text.size()) +
                      " bytes, more than the limit of " + std::to_string(kPolicyBytes));
    }
    std::size_t number = 1;
    for (; const std::optional<std::string_view> line = take_line(text); ++number) {
      if (Status read = parse_line(*line); !read) {
        return fail_in("line " + std::to_string(number), read.error());
      }
    }
    if (!text.empty()) {
      return fail_in("line " + std::to_string(number), bad("no newline ends the line").error());
    }
    if (!quorum_given_) return bad("there is no quorum line");
    return std::move(policy_);
  }

 private:
  using Items = std::span<const std::string_view>;

  Status parse_line(std::string_view line) {
    if (!std::ranges::all_of(line, is_allowed)) return bad("it holds a control character");
    const std::vector<std::string_view> items = items_of(line);
    if (items.empty() || items.front().starts_with('#')) return {};
    const Items rest = Items(items).subspan(1);
    if (items.front() == "log") return log(rest);
    if (items.front() == "witness") return witness(rest);
    if (items.front() == "group") return group(rest);
    if (items.front() == "quorum") return quorum(rest);
    return bad("a line begins with log, witness, group, quorum or #");
  }

  Status log(Items items) {
    if (items.empty() || items.size() > 2) return bad("it is not log <vkey> [<url>]");
    if (Status room = room_for(policy_.logs_.size(), "logs"); !room) return room;
    const Result<VerifierKey> key = parse_vkey(items[0]);
    if (!key) return fail(key.error());
    if (key->algorithm != NoteAlgorithm::ed25519) {
      return bad("the key is one of a witness, of type 4, and not of a log");
    }
    if (!log_keys_.insert(key->public_key).second) return bad("the key of this log stands twice");
    const Result<std::string> url = url_of(items.subspan(1));
    if (!url) return fail(url.error());
    policy_.logs_.push_back({*key, *url});
    return {};
  }

  Status witness(Items items) {
    if (items.size() < 2 || items.size() > 3) {
      return bad("it is not witness <name> <vkey> [<url>]");
    }
    if (Status room = room_for(policy_.witnesses_.size(), "witnesses"); !room) return room;
    Result<VerifierKey> key = parse_vkey(items[1]);
    if (!key) return fail(key.error());
    key->algorithm = NoteAlgorithm::cosignature;
    if (!witness_keys_.insert(key->public_key).second) {
      return bad("the key of this witness stands twice: it could fill a quorum of two");
    }
    const Result<std::string> url = url_of(items.subspan(2));
    if (!url) return fail(url.error());
    if (Status named = name(items[0], {false, policy_.witnesses_.size()}); !named) return named;
    policy_.witnesses_.push_back({std::string(items[0]), std::move(*key), *url});
    return {};
  }

  Status group(Items items) {
    if (items.size() < 3) return bad("it is not group <name> all|any|<k> <member>...");
    if (Status room = room_for(policy_.groups_.size(), "groups"); !room) return room;
    WitnessPolicy::Group group;
    for (const std::string_view item : items.subspan(2)) {
      const Result<WitnessPolicy::Member> member = find(item);
      if (!member) return fail(member.error());
      if (!members_.insert(item).second) {
        return bad("'" + std::string(item) + "' is a member twice: it would count twice");
      }
      group.members.push_back(*member);
    }
    if (items[1] == "all") {
      group.threshold = group.members.size();
    } else if (items[1] != "any") {
      const std::optional<std::uint64_t> threshold = size_from_decimal(items[1]);
      if (!threshold || *threshold < 1 || *threshold > group.members.size()) {
        return bad("the threshold is all, any, or a number from 1 to that of the members");
      }
      group.threshold = static_cast<std::size_t>(*threshold);
    }
    if (Status named = name(items[0], {true, policy_.groups_.size()}); !named) return named;
    policy_.groups_.push_back(std::move(group));
    return {};
  }

  Status quorum(Items items) {
    if (items.size() != 1) return bad("it is not quorum <name>|none");
    if (std::exchange(quorum_given_, true)) return bad("it is the second quorum line");
    if (items[0] == kNone) return {};
    const Result<WitnessPolicy::Member> member = find(items[0]);
    if (!member) return fail(member.error());
    policy_.quorum_ = *member;
    return {};
  }

  static Status room_for(std::size_t count, const char* what) {
    if (count < kPolicyItems) return {};
    return fail(
        ErrorKind::invalid, "TOO_MANY_ITEMS", {},
        "the policy has more than the limit of " + std::to_string(kPolicyItems) + " " + what);
  }

  // An end-of-line comment would be taken for a URL.
  static Result<std::string> url_of(Items items) {
    if (items.empty()) return std::string();
    if (items[0].starts_with('#')) return bad("a comment needs a line of its own");
    return std::string(items[0]);
  }

  Status name(std::string_view name, WitnessPolicy::Member member) {
    if (name == kNone) return bad("the name 'none' is reserved");
    if (!names_.emplace(name, member).second) {
      return bad("the name '" + std::string(name) + "' is taken");
    }
    return {};
  }

  Result<WitnessPolicy::Member> find(std::string_view name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      return bad("no earlier line defines '" + std::string(name) + "'");
    }
    return found->second;
  }

  WitnessPolicy policy_;
  std::map<std::string_view, WitnessPolicy::Member> names_;  // views into the text
  std::set<std::string_view> members_;                       // of any group
  std::set<PublicKey> log_keys_;
  std::set<PublicKey> witness_keys_;
  bool quorum_given_ = false;
};

Result<WitnessPolicy> WitnessPolicy::parse(std::string_view text) {
  return PolicyParser().parse(text);
}

WitnessPolicy WitnessPolicy::of_logs(std::span<const VerifierKey> log_keys) {
  return WitnessPolicy().with_logs(log_keys);
}

WitnessPolicy WitnessPolicy::with_logs(std::span<const VerifierKey> log_keys) const {
  WitnessPolicy policy = *this;
  policy.logs_.clear();
  for (const VerifierKey& key : log_keys) {
    assert(key.algorithm == NoteAlgorithm::ed25519);
    policy.logs_.push_back({key, {}});
  }
  return policy;
}

bool WitnessPolicy::met(const Member& member, const std::vector<bool>& signed_by) const {
  std::vector<bool> groups;
  groups.reserve(groups_.size());
  const auto witnessed = [&](const Member& one) {
    return one.group ? groups[one.index] : signed_by[one.index];
  };
  for (const Group& group : groups_) {
    const auto count = static_cast<std::size_t>(std::ranges::count_if(group.members, witnessed));
    groups.push_back(count >= group.threshold);
  }
  return witnessed(member);
}

PolicyVerdict WitnessPolicy::check(const SignedCheckpoint& checkpoint) const {
  PolicyVerdict verdict;
  std::vector<VerifierKey> log_keys;
  for (const Log& log : logs_) {
    if (log.key.name == checkpoint.checkpoint.origin) log_keys.push_back(log.key);
  }
  if (log_keys.empty()) {
    verdict.code = "UNKNOWN_LOG";
    verdict.detail = "no log is known by the origin " + checkpoint.checkpoint.origin;
    return verdict;
  }
  std::vector<VerifierKey> witness_keys;
  for (const Witness& witness : witnesses_) witness_keys.push_back(witness.key);
  const CheckpointVerdict signatures = verify_checkpoint(checkpoint, log_keys, witness_keys);
  if (!signatures.ok()) {
    verdict.code = signatures.code;
    verdict.detail = signatures.detail;
    return verdict;
  }
  for (const CheckpointVerdict::Cosignature& line : signatures.cosignatures) {
    verdict.cosigned.push_back({line.witness, line.time});
  }
  if (!quorum_) return verdict;

  // From the newest on, one witness more each time, until they are a quorum.
  std::vector<PolicyVerdict::Cosigned> newest_first = verdict.cosigned;
  std::ranges::stable_sort(newest_first, std::ranges::greater{}, &PolicyVerdict::Cosigned::time);
  std::vector<bool> signed_by(witnesses_.size());
  for (const PolicyVerdict::Cosigned& line : newest_first) {
    signed_by[line.witness] = true;
    if (!met(*quorum_, signed_by)) continue;
    verdict.quorum_time = line.time;
    return verdict;
  }
  verdict.code = "QUORUM_NOT_MET";
  verdict.detail = std::to_string(verdict.cosigned.size()) + " of " +
                   std::to_string(witnesses_.size()) +
                   " witnesses cosigned, and that is no quorum of the policy";
  return verdict;
}

}  // namespace kernelindex
