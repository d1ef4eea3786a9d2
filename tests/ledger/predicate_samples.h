// SPDX-License-Identifier: Apache-2.0
// Valid attestations of every predicate: fixed ones with all members and with the fewest, and
// random ones.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "ledger/predicates.h"
#include "ledger/seeded_key.h"

namespace kernelindex::test {

// Keys (those of seeded_key.h) and the binding that the samples use.
PublicKey public_key(char letter);
Binding binding(const PublicKey& signer);

// With every optional member.
Attestation founding();
Attestation enrolment();
Attestation approval();
Attestation revocation();
Attestation import();
Attestation note();
Attestation retraction();
Attestation supersession();
Attestation dispute();
Attestation resolution();
Attestation withdrawal();
Attestation withholding();
Attestation status();
Attestation job();
Attestation controlled_run();
Attestation acceptance();
Attestation calibration();

// All of the above.
std::vector<Attestation> full_samples();
// Each of the above again, without what may be left out.
std::vector<Attestation> least_samples();

// A valid attestation of the type in that row of predicate_types().
Attestation random_attestation(std::size_t row, std::mt19937_64& random);

}  // namespace kernelindex::test
