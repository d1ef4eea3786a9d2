// SPDX-License-Identifier: Apache-2.0
#include "tests/verify/flip_bundle.h"

#include <set>

namespace kernelindex::test {

BundleFlips flip_bundle(std::string_view bundle, const VerifyOptions& options, std::size_t first,
                        std::size_t stride) {
  const std::string before = verify_bundle(bundle, options)->json();
  BundleFlips out;
  std::string changed(bundle);
  for (std::size_t at = first; at < bundle.size(); at += stride) {
    const char old = bundle[at];
    const std::set<char> others = {static_cast<char>(old ^ 1), static_cast<char>(old ^ 0x20), '"',
                                   '0', 'A'};
    for (const char other : others) {
      if (other == old) continue;
      changed[at] = other;
      ++out.flips;
      const Result<BundleVerdict> verdict = verify_bundle(changed, options);
      if (!verdict || !verdict->ok()) {
        ++out.refused;
      } else if (verdict->json() == before) {
        ++out.same;
      } else {
        out.holes.push_back("byte " + std::to_string(at) + ": '" + other + "' for '" + old +
                            "': " + verdict->json());
      }
    }
    changed[at] = old;
  }
  return out;
}

}  // namespace kernelindex::test
