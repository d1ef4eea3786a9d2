// SPDX-License-Identifier: Apache-2.0
#include "ledger/tlog_proof.h"

#include <cassert>
#include <utility>

#include "ledger/text_lines.h"

namespace kernelindex {
namespace {

constexpr std::string_view kExtra = "extra ";
constexpr std::string_view kIndex = "index ";

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::invalid, "BAD_TLOG_PROOF", {}, std::move(message));
}

}  // namespace

std::string TlogProof::encode() const {
  assert(hashes.size() <= kProofLines);
  assert(index <= limits::kTreeSize);
  std::string out = std::string(kTlogProofHeader) + "\n";
  if (extra) out += std::string(kExtra) + to_base64(extra->bytes) + "\n";
  out += std::string(kIndex) + std::to_string(index) + "\n";
  return out + proof_lines(hashes) + checkpoint.format();
}

Result<TlogProof> parse_tlog_proof(std::string_view bytes) {
  if (bytes.size() > kTlogProofBytes) {
    return fail(ErrorKind::invalid, "PROOF_TOO_LARGE", {},
                "the proof has " + std::to_string(bytes.size()) +
                    " bytes, more than the limit of " + std::to_string(kTlogProofBytes));
  }
  if (take_line(bytes) != kTlogProofHeader) {
    return bad("the first line is not '" + std::string(kTlogProofHeader) + "'");
  }
  TlogProof proof;
  std::optional<std::string_view> line = take_line(bytes);
  if (line && line->starts_with(kExtra)) {
    std::optional<std::string> extra = from_base64(line->substr(kExtra.size()));
    if (!extra) return bad("the extra data are not canonical base64");
    proof.extra = UnauthenticatedBytes{std::move(*extra)};
    line = take_line(bytes);
  }
  if (!line || !line->starts_with(kIndex)) return bad("the line of the index is missing");
  const std::optional<std::uint64_t> index = size_from_decimal(line->substr(kIndex.size()));
  if (!index) return bad("the index must be a decimal of at most 2^63 - 1, without leading zeros");
  proof.index = *index;
  Result<Proof> hashes = take_proof_lines(bytes);
  if (!hashes) return fail(hashes.error());
  proof.hashes = std::move(*hashes);
  Result<SignedCheckpoint> checkpoint = parse_checkpoint(bytes);
  if (!checkpoint) return fail_in("checkpoint", checkpoint.error());
  proof.checkpoint = std::move(*checkpoint);
  return proof;
}

TlogProofVerdict verify_tlog_proof(const TlogProof& proof, std::string_view entry,
                                   const WitnessPolicy& policy) {
  TlogProofVerdict verdict;
  verdict.policy = policy.check(proof.checkpoint);
  if (!verdict.policy.ok()) {
    verdict.arrow = "checkpoint";
    verdict.code = verdict.policy.code;
    verdict.detail = verdict.policy.detail;
    return verdict;
  }
  const ProofVerdict inclusion = verify_inclusion(leaf_hash(entry), proof.index,
                                                  proof.checkpoint.checkpoint.head, proof.hashes);
  if (!inclusion.ok()) {
    verdict.arrow = "inclusion";
    verdict.code = inclusion.code;
    verdict.detail = inclusion.detail;
  }
  return verdict;
}

}  // namespace kernelindex
