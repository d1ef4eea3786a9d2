// SPDX-License-Identifier: Apache-2.0
// What is typed to name a key or an approved digest, and how both are shown.
#pragma once

#include <string>
#include <string_view>

#include "ledger/key_book.h"
#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"
#include "tools/json_output.h"
#include "tools/verb.h"

namespace kernelindex::tools {

// The choices of an option that takes a role.
inline constexpr std::string_view kRoleChoices =
    "root|log|importer|contributor|controller|runner|maintainer|status";

// The key or approved digest that a text names: its digits or a beginning of at least 6, with or
// without "sha256:". Errors: BAD_ID (invalid), NO_SUCH_KEY (not_found), AMBIGUOUS_ID (ambiguous).
Result<Digest> find_in_key_book(const KeyBook& keys, std::string_view text);

// A public key as it is printed: base64 of 32 bytes. Errors: BAD_PUBLIC_KEY (invalid), also for
// small-order points, which verify what nobody signed.
Result<PublicKey> public_key_argument(const Arguments& arguments, std::string_view name);

// "valid", "revoked at 12", "revoked at 12, void from 9".
std::string key_state(const KeyRecord& key);
std::string approval_state(const ApprovalRecord& approval);
std::string_view approval_kind_name(DigestApproval::Kind kind);

json::Value key_document(const JsonOutput& json, const Digest& id, const KeyRecord& key);
json::Value approval_document(const JsonOutput& json, const Digest& digest,
                              const ApprovalRecord& approval);

}  // namespace kernelindex::tools
