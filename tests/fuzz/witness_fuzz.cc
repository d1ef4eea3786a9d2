// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes as a .tlog-proof file, a request to a witness, a witness policy, and an entry
// bundle: what strangers send beside notes. The seeds hold checkpoints signed by the key whose seed
// is 32 times 'k'.
//
// Invariants:
// - proofs and requests that are read print as the very bytes that were read;
// - no more hashes than the protocols allow are ever held;
// - a witness that has seen nothing cosigns only checkpoints that the key signed, and answers with
// a
//   status of the protocol;
// - errors are of kind invalid and have a code; those of a policy name a line or the whole.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "ledger/tile.h"
#include "ledger/tlog_proof.h"
#include "ledger/witness.h"
#include "ledger/witness_policy.h"

namespace kernelindex {
namespace {

const SigningKey& key() {
  static const SigningKey fixed = SigningKey::from_seed(std::string(32, 'k')).value();
  return fixed;
}

const std::vector<VerifierKey>& log_keys() {
  static const std::vector keys = {log_verifier_key("example.org/ledger", key().public_key())};
  return keys;
}

void check_error(const Error& error) {
  FUZZ_CHECK(error.kind == ErrorKind::invalid);
  FUZZ_CHECK(!error.code.empty() && !error.message.empty());
}

void check_proof(std::string_view bytes) {
  const Result<TlogProof> proof = parse_tlog_proof(bytes);
  if (!proof) return check_error(proof.error());
  FUZZ_CHECK(proof->encode() == bytes);
  FUZZ_CHECK(proof->hashes.size() <= kProofLines);
  const TlogProofVerdict verdict =
      verify_tlog_proof(*proof, "entry", WitnessPolicy::of_logs(log_keys()));
  FUZZ_CHECK(verdict.ok() == verdict.code.empty());
}

void check_request(std::string_view bytes) {
  const Result<AddCheckpoint> request = parse_add_checkpoint(bytes);
  if (!request) {
    check_error(request.error());
  } else {
    FUZZ_CHECK(request->encode() == bytes);
    FUZZ_CHECK(request->proof.size() <= kProofLines);
  }
  static const SigningKey own = SigningKey::from_seed(std::string(32, 'w')).value();
  MemoryWitnessState state;
  const WitnessResponse response =
      add_checkpoint(bytes, state, log_keys(), {"witness.example", own}, 1).value();
  if (response.status != 200) {
    constexpr std::array kStatuses = {400u, 403u, 404u, 409u, 422u};
    FUZZ_CHECK(std::ranges::find(kStatuses, response.status) != kStatuses.end());
    return;
  }
  FUZZ_CHECK(request.has_value());
  FUZZ_CHECK(verify_checkpoint(request->checkpoint, log_keys()).ok());
  FUZZ_CHECK(parse_signature_lines(response.body).value().size() == 1);
}

void check_policy(std::string_view bytes) {
  const Result<WitnessPolicy> policy = WitnessPolicy::parse(bytes);
  if (!policy) return check_error(policy.error());
  FUZZ_CHECK(policy->logs().size() <= kPolicyItems);
  FUZZ_CHECK(policy->witnesses().size() <= kPolicyItems);
}

void check_bundle(std::string_view bytes) {
  for (const unsigned width : {1u, 2u, kTileWidth}) {
    const Result<std::vector<std::string_view>> entries = decode_bundle(bytes, width);
    if (!entries) continue;
    FUZZ_CHECK(encode_bundle(*entries).value() == bytes);
  }
}

}  // namespace
}  // namespace kernelindex

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kernelindex::check_proof(bytes);
  kernelindex::check_request(bytes);
  kernelindex::check_policy(bytes);
  kernelindex::check_bundle(bytes);
  return 0;
}
