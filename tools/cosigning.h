// SPDX-License-Identifier: Apache-2.0
// What the verbs that cosign somebody's log have in common: cosign, mirror, serve.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ledger/signing_key.h"
#include "ledger/witness.h"
#include "schema/result.h"
#include "tools/json_output.h"
#include "tools/session.h"

namespace kernelindex::tools {

struct WitnessKey {
  std::string name;  // of the cosignatures
  SigningKey key;

  // Lends this.
  WitnessIdentity identity() const { return {name, key}; }
};

// The key file at the value of option `key_option`, and the name that `name_option` was given, by
// default the owner of the key. Errors: those of read_key_file(); USAGE (usage) for a name that
// cannot stand in a note; COSIGN_OWN_LOG (refused) when it is one of `log_keys`.
Result<WitnessKey> read_witness_key(const Session& session, const Arguments& arguments,
                                    std::string_view key_option, std::string_view name_option,
                                    std::span<const VerifierKey> log_keys);

// Now, as witnesses sign it: POSIX seconds, above 0.
std::uint64_t witness_time(UtcMicros now);

// That it can have another line. Error TOO_MANY_SIGNATURES (invalid).
Status check_room(const SignedCheckpoint& checkpoint);
// The checkpoint with all its lines but those in our name, and ours: other witnesses' stay.
std::string cosigned_note(const SignedCheckpoint& checkpoint, const NoteSignature& ours);

// "NOT cosigned: ... (CODE)" and a line end, for people.
std::string refusal_text(const Terminal& terminal, const CosignDecision& decision);
// The same for programs: {"ok":false,"code":…,"detail":…,"storedSize":…}.
json::Value refusal_document(const JsonOutput& json, const CosignDecision& decision);

}  // namespace kernelindex::tools
