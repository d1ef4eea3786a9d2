// SPDX-License-Identifier: Apache-2.0
#include "ledger/witness.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ledger/text_lines.h"

namespace kernelindex {
namespace {

constexpr std::string_view kOld = "old ";
constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kSizeText = "text/x.tlog.size";
constexpr std::uint64_t kLastTime = 0x7fff'ffff'ffff'ffff;
constexpr int kAttempts = 16;

std::unexpected<Error> bad_request(std::string message) {
  return fail(ErrorKind::invalid, "BAD_REQUEST", {}, std::move(message));
}

// As parse_checkpoint(), but the root of an empty tree is judged later.
Result<SignedCheckpoint> parse_any_checkpoint(std::string_view bytes) {
  Result<Note> note = parse_note(bytes);
  if (!note) return fail(note.error());
  Result<Checkpoint> checkpoint = parse_checkpoint_lines(note->text);
  if (!checkpoint) return fail(checkpoint.error());
  return SignedCheckpoint{std::move(*checkpoint), std::move(note->signatures)};
}

CosignDecision refused(CosignDecision decision, std::string_view code, std::string detail) {
  decision.code = code;
  decision.detail = std::move(detail);
  return decision;
}

// The time to sign: never before what was signed, and later for another tree.
std::optional<std::uint64_t> time_to_sign(const std::optional<WitnessRecord>& stored,
                                          const TreeHead& head, std::uint64_t now) {
  if (!stored || now > stored->time) {
    return now <= kLastTime ? std::optional(now) : std::nullopt;
  }
  // Asking again for the same tree must not push the time ahead of the clock.
  if (stored->checkpoint.checkpoint.head == head) return stored->time;
  return stored->time < kLastTime ? std::optional(stored->time + 1) : std::nullopt;
}

// The lines of the request that are by keys of the log, all of which verified.
std::vector<NoteSignature> log_lines(const SignedCheckpoint& checkpoint,
                                     std::span<const VerifierKey> keys) {
  std::vector<NoteSignature> lines;
  for (const NoteSignature& line : checkpoint.signatures) {
    if (std::ranges::any_of(keys, [&](const VerifierKey& key) {
          return key.name == line.name && key.key_id() == line.key_id;
        })) {
      lines.push_back(line);
    }
  }
  return lines;
}

// Whether the tree continues the stored one, as a code and its reason.
void judge_growth(const AddCheckpoint& request, const std::optional<WitnessRecord>& stored,
                  CosignDecision& decision) {
  const TreeHead& head = request.checkpoint.checkpoint.head;
  const auto refuse = [&](std::string_view code, std::string detail) {
    decision.code = code;
    decision.detail = std::move(detail);
  };
  if (head.size == 0 && head.root != empty_root()) {
    return refuse("EMPTY_ROOT_MISMATCH", "the empty tree has one root, and this is another");
  }
  if (request.old_size == 0 || request.old_size == head.size) {
    if (!request.proof.empty()) {
      return refuse("PROOF_NOT_EMPTY",
                    "between these sizes a consistency proof has no hashes, and this one has " +
                        std::to_string(request.proof.size()));
    }
    // A log that was seen empty is known by its root alone: there is nothing to compare.
    if (stored && head.size == request.old_size &&
        stored->checkpoint.checkpoint.head.root != head.root) {
      return refuse("ROOT_DIFFERS", "a checkpoint of this size with another root was cosigned");
    }
    return;
  }
  assert(stored.has_value());  // its size is the old size, which is not 0
  const ProofVerdict proof =
      verify_consistency(stored->checkpoint.checkpoint.head, head, request.proof);
  if (!proof.ok()) refuse(proof.code, "the consistency proof does not hold: " + proof.detail);
}

struct Answer {
  unsigned status;
  std::string_view lead;  // of the body
};

Answer answer_of(std::string_view code) {
  if (code == "OLD_SIZE_ABOVE") return {400, "invalid input"};
  if (code == "UNKNOWN_LOG") return {404, "unknown log"};
  if (code == "OLD_SIZE_DIFFERS") return {409, ""};
  if (code == "NOT_SIGNED" || code == "INVALID_SIGNATURE" || code == "REPEATED_SIGNATURE" ||
      code == "AMBIGUOUS_KEY") {
    return {403, "invalid signature"};
  }
  return {422, "invalid consistency proof"};
}

WitnessResponse text_answer(unsigned status, std::string_view lead, const std::string& detail) {
  return {status, std::string(kPlainText), std::string(lead) + ": " + detail + "\n"};
}

}  // namespace

// ---- Requests
// --------------------------------------------------------------------------------------

std::string AddCheckpoint::encode() const {
  assert(proof.size() <= kProofLines);
  return std::string(kOld) + std::to_string(old_size) + "\n" + proof_lines(proof) +
         checkpoint.format();
}

Result<AddCheckpoint> parse_add_checkpoint(std::string_view body) {
  if (body.size() > kAddCheckpointBytes) {
    return fail(ErrorKind::invalid, "REQUEST_TOO_LARGE", {},
                "the request has " + std::to_string(body.size()) +
                    " bytes, more than the limit of " + std::to_string(kAddCheckpointBytes));
  }
  const std::optional<std::string_view> line = take_line(body);
  if (!line || !line->starts_with(kOld)) return bad_request("the first line is not 'old <size>'");
  const std::optional<std::uint64_t> old_size = size_from_decimal(line->substr(kOld.size()));
  if (!old_size) {
    return bad_request("the old size must be a decimal of at most 2^63 - 1, without leading zeros");
  }
  Result<Proof> proof = take_proof_lines(body);
  if (!proof) return fail(proof.error());
  Result<SignedCheckpoint> checkpoint = parse_any_checkpoint(body);
  if (!checkpoint) return fail_in("checkpoint", checkpoint.error());
  return AddCheckpoint{*old_size, std::move(*proof), std::move(*checkpoint)};
}

// ---- Decisions
// -------------------------------------------------------------------------------------

CosignDecision decide_cosignature(const AddCheckpoint& request,
                                  const std::optional<WitnessRecord>& stored,
                                  std::span<const VerifierKey> log_keys,
                                  const WitnessIdentity& witness, std::uint64_t now) {
  assert(now > 0);
  const Checkpoint& checkpoint = request.checkpoint.checkpoint;
  assert(!stored || stored->checkpoint.checkpoint.origin == checkpoint.origin);
  CosignDecision decision;
  decision.stored_size = stored ? stored->checkpoint.checkpoint.head.size : 0;
  if (request.old_size > checkpoint.head.size) {
    return refused(std::move(decision), "OLD_SIZE_ABOVE",
                   "the old size is above that of the checkpoint");
  }
  std::vector<VerifierKey> keys;
  for (const VerifierKey& key : log_keys) {
    if (key.name == checkpoint.origin) keys.push_back(key);
  }
  if (keys.empty()) {
    return refused(std::move(decision), "UNKNOWN_LOG",
                   "no key is trusted for the origin " + checkpoint.origin);
  }
  const CheckpointVerdict signatures = verify_checkpoint(request.checkpoint, keys);
  if (!signatures.ok()) return refused(std::move(decision), signatures.code, signatures.detail);
  if (request.old_size != decision.stored_size) {
    return refused(
        std::move(decision), "OLD_SIZE_DIFFERS",
        "the newest checkpoint that was cosigned has size " + std::to_string(decision.stored_size));
  }
  judge_growth(request, stored, decision);
  if (!decision.ok()) return decision;
  const std::optional<std::uint64_t> time = time_to_sign(stored, checkpoint.head, now);
  if (!time) {
    return refused(std::move(decision), "NO_TIME_LEFT", "no time after the last one can be signed");
  }
  decision.signature = cosign_note(checkpoint.text(), witness.name, *time, witness.key);
  decision.next = WitnessRecord{{checkpoint, log_lines(request.checkpoint, keys)}, *time};
  decision.next->checkpoint.signatures.push_back(*decision.signature);
  return decision;
}

Result<std::optional<WitnessRecord>> MemoryWitnessState::latest(std::string_view origin) {
  const MutexLock lock(mutex_);
  const auto found = records_.find(origin);
  if (found == records_.end()) return std::nullopt;
  return std::optional(found->second);
}

Result<bool> MemoryWitnessState::advance(std::string_view origin,
                                         const std::optional<TreeHead>& expected,
                                         const WitnessRecord& next) {
  const MutexLock lock(mutex_);
  const auto found = records_.find(origin);
  const bool same = found == records_.end()
                        ? !expected
                        : expected && found->second.checkpoint.checkpoint.head == *expected;
  if (same) records_.insert_or_assign(std::string(origin), next);
  return same;
}

Result<CosignDecision> cosign_checkpoint(const AddCheckpoint& request, WitnessState& state,
                                         std::span<const VerifierKey> log_keys,
                                         const WitnessIdentity& witness, std::uint64_t now) {
  const std::string& origin = request.checkpoint.checkpoint.origin;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Result<std::optional<WitnessRecord>> stored = state.latest(origin);
    if (!stored) return fail(stored.error());
    CosignDecision decision = decide_cosignature(request, *stored, log_keys, witness, now);
    if (!decision.ok()) return decision;
    std::optional<TreeHead> expected;
    if (*stored) expected = (*stored)->checkpoint.checkpoint.head;
    const Result<bool> kept = state.advance(origin, expected, *decision.next);
    if (!kept) return fail(kept.error());
    if (*kept) return decision;
  }
  return fail(ErrorKind::system, "TOO_MANY_CHANGES", origin,
              "other requests for this log came between, each time");
}

Result<WitnessResponse> add_checkpoint(std::string_view body, WitnessState& state,
                                       std::span<const VerifierKey> log_keys,
                                       const WitnessIdentity& witness, std::uint64_t now) {
  const Result<AddCheckpoint> request = parse_add_checkpoint(body);
  if (!request) {
    const std::string& code = request.error().code;
    // A signature that cannot even be decoded is an invalid one: the published sequence says 403.
    if (code == "NOTE_BASE64") return text_answer(403, "invalid signature", request.error().text());
    return text_answer(400, code == "BAD_CHECKPOINT" ? "invalid checkpoint" : "invalid input",
                       request.error().text());
  }
  const Result<CosignDecision> decision =
      cosign_checkpoint(*request, state, log_keys, witness, now);
  if (!decision) return fail(decision.error());
  if (decision->ok()) {
    return WitnessResponse{200, std::string(kPlainText), decision->signature->line()};
  }
  const Answer answer = answer_of(decision->code);
  if (answer.status == 409) {
    return WitnessResponse{409, std::string(kSizeText),
                           std::to_string(decision->stored_size) + "\n"};
  }
  return text_answer(answer.status, answer.lead, decision->detail);
}

}  // namespace kernelindex
