// SPDX-License-Identifier: Apache-2.0
#include "tools/key_names.h"

#include <algorithm>
#include <vector>

namespace kernelindex::tools {
namespace {

constexpr std::size_t kShortestPrefix = 6;
constexpr std::size_t kHexDigits = 64;

std::string state_text(const std::optional<std::uint64_t>& revoked_at,
                       const std::optional<std::uint64_t>& void_from) {
  if (!revoked_at) return "valid";
  std::string text = "revoked at " + std::to_string(*revoked_at);
  if (void_from) text += ", void from " + std::to_string(*void_from);
  return text;
}

}  // namespace

Result<Digest> find_in_key_book(const KeyBook& keys, std::string_view text) {
  std::string_view hex = text;
  if (hex.starts_with("sha256:")) hex.remove_prefix(7);
  const bool digits = std::ranges::all_of(
      hex, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!digits || hex.size() < kShortestPrefix || hex.size() > kHexDigits) {
    return fail(ErrorKind::invalid, "BAD_ID", std::string(text),
                "a key id or digest is 6 to 64 lower-case hex digits",
                "`kernelindex key list` shows them");
  }
  std::vector<Digest> found;
  for (const auto& [id, record] : keys.all()) {
    if (id.hex().starts_with(hex)) found.push_back(id);
  }
  for (const auto& [digest, records] : keys.approvals()) {
    if (digest.hex().starts_with(hex)) found.push_back(digest);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(ErrorKind::not_found, "NO_SUCH_KEY", std::string(text),
                "the ledger knows no key and no approved digest of that name",
                "`kernelindex key list` shows them");
  }
  std::string list;
  for (const Digest& digest : found) list += (list.empty() ? "" : ", ") + digest.hex();
  return fail(ErrorKind::ambiguous, "AMBIGUOUS_ID", std::string(text), "it may be any of " + list,
              "give more digits");
}

Result<PublicKey> public_key_argument(const Arguments& arguments, std::string_view name) {
  Result<PublicKey> key = PublicKey::parse(arguments.text(name));
  if (key) return key;
  Error error = key.error();
  error.place = std::string(name);
  if (error.remedy.empty()) error.remedy = "give the public key that `kernelindex key new` prints";
  return fail(std::move(error));
}

std::string key_state(const KeyRecord& key) { return state_text(key.revoked_at, key.void_from); }

std::string approval_state(const ApprovalRecord& approval) {
  return state_text(approval.revoked_at, approval.void_from);
}

std::string_view approval_kind_name(DigestApproval::Kind kind) {
  return kind == DigestApproval::Kind::protocol ? "protocol" : "harness";
}

json::Value key_document(const JsonOutput& json, const Digest& id, const KeyRecord& key) {
  std::vector<std::string> protocols;
  for (const Digest& protocol : key.protocols) protocols.push_back(protocol.text());
  return json.object()
      .add("role", role_name(key.role))
      .add("keyId", json.text(id.hex()))
      .add("publicKey", json.text(key.key.base64()))
      .add("owner", key.owner)
      .add("enrolledAt", json.count(key.enrolled_at))
      .add("revokedAt", json.count(key.revoked_at))
      .add("voidFrom", json.count(key.void_from))
      .add("hardware", json.texts(key.hardware))
      .add("protocols", json.texts(protocols))
      .finish();
}

json::Value approval_document(const JsonOutput& json, const Digest& digest,
                              const ApprovalRecord& approval) {
  return json.object()
      .add("digest", json.digest(digest))
      .add("kind", approval_kind_name(approval.kind))
      .add("approvedAt", json.count(approval.approved_at))
      .add("revokedAt", json.count(approval.revoked_at))
      .add("voidFrom", json.count(approval.void_from))
      .finish();
}

}  // namespace kernelindex::tools
