// SPDX-License-Identifier: Apache-2.0
// The complete run of what bundle_tampering_test samples: each byte of two bundles of the small
// ledger, with and without a line by an unknown witness.
//
//   flip_every_bundle_byte [STRIDE]        exit 1 when a change goes unnoticed
//   flip_every_bundle_byte --write FILE    writes the first of them, for golden_bundle_test
#include <cstdio>
#include <cstdlib>

#include "tests/support/corpus.h"
#include "tests/verify/bundle_fixture.h"
#include "tests/verify/flip_bundle.h"

int main(int argc, char** argv) {
  using namespace kernelindex;
  using namespace kernelindex::test;
  if (argc == 3 && std::string_view(argv[1]) == "--write") {
    const BundleFixture fixture;
    write_file(argv[2], fixture.bundle());
    std::printf("%s\n", fixture.verify(fixture.bundle()).json().c_str());
    return 0;
  }
  const std::size_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const BundleFixture bundles;
  const SigningKey witness = *SigningKey::from_seed(sha256("an unknown witness").raw());
  SignedCheckpoint checkpoint = bundles.checkpoint();
  checkpoint.signatures.push_back(
      cosign_note(checkpoint.checkpoint.text(), "witness.example", 1, witness));
  const std::string plain = bundles.bundle();
  const std::string cosigned =
      bundles.edit(plain, [&](Bundle& bundle) { bundle.checkpoint = checkpoint.format(); });
  bool holes = false;
  for (const std::string& bundle : {plain, cosigned}) {
    const BundleFlips flips = flip_bundle(bundle, bundles.pinned(), 0, stride > 0 ? stride : 1);
    std::printf("%zu bytes: %zu changes, %zu refused, %zu change nothing, %zu HOLES\n",
                bundle.size(), flips.flips, flips.refused, flips.same, flips.holes.size());
    for (const std::string& hole : flips.holes) std::printf("  HOLE: %s\n", hole.c_str());
    holes |= !flips.holes.empty();
  }
  return holes ? 1 : 0;
}
