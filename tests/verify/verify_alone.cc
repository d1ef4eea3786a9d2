// SPDX-License-Identifier: Apache-2.0
// A program that verifies bundles and has no database: it links kernelindex::verify and nothing
// else of ours. A test looks at the libraries that it needs.
//
//   verify_alone BUNDLE LEDGER_ID      prints the verdict as JSON; exit 1 when the evidence is
//   false
#include <cstdio>
#include <fstream>
#include <iterator>

#include "verify/bundle.h"

int main(int argc, char** argv) {
  using namespace kernelindex;
  if (argc != 3) {
    std::fprintf(stderr, "usage: verify_alone BUNDLE LEDGER_ID\n");
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  VerifyOptions options;
  const Result<Digest> ledger = Digest::parse(argv[2]);
  if (!ledger) {
    std::fprintf(stderr, "%s\n", ledger.error().text().c_str());
    return 2;
  }
  options.ledger_id = *ledger;
  const Result<BundleVerdict> verdict = verify_bundle(bytes, options);
  if (!verdict) {
    std::fprintf(stderr, "%s\n", verdict.error().text().c_str());
    return 3;
  }
  std::printf("%s\n", verdict->json().c_str());
  return verdict->ok() ? 0 : 1;
}
