// SPDX-License-Identifier: Apache-2.0
// What verbs that sign something share: which key file, which subject, and saying what was
// recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ledger/attest.h"
#include "ledger/key_file.h"
#include "schema/result.h"
#include "tools/json_output.h"
#include "tools/session.h"

namespace kernelindex::tools {

inline constexpr OptionSpec kKeyOption = {
    .name = "--key",
    .value = "FILE",
    .help = "the key file that signs; by default the one of the role in the folder of keys",
    .kind = ValueKind::file};
inline constexpr OptionSpec kReasonOption = {
    .name = "--reason", .value = "TEXT", .help = "why; kept and shown with it"};

// The key of --key, else of the role in the folder of keys. Requires: the verb has kKeyOption. Its
// role is for the ledger to judge. Errors: those of read_key_file().
Result<KeyFile> signing_key(const Session& session, const Arguments& arguments, Role role);

// The reason, which must be given (usage).
Result<std::string> required_reason(const Arguments& arguments);

// What is named as the subject of an attestation: a manifest or another attestation.
Result<Digest> identify_subject(const Reader& reader, const std::string& text);

// "founding.json" -> "founding.dsse.json": where a signed statement lies by default.
std::string signed_file_name(const std::string& path);

// What a statement says, in a line, for who is asked to sign it.
std::string saying_text(const Attestation& said);

// Says what was recorded; `what` reads "retraction of".
void print_attested(Session& session, std::string_view what, const Digest& subject,
                    const std::vector<Attested>& attested);

}  // namespace kernelindex::tools
