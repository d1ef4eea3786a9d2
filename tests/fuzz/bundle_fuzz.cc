// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes as an evidence bundle, judged with a pinned ledger id, and as a reader
// policy. The seeds hold a good bundle of the golden ledger.
//
// Invariants:
// - a bundle that is read is written as the very bytes that were read;
// - a verdict has each line once; after the first arrow that breaks there is no level;
// - evidence that holds names the ledger that was pinned;
// - errors are of kind invalid and have a code.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "verify/bundle.h"
#include "verify/bundle_format.h"

namespace kernelindex {
namespace {

void check_error(const Error& error) {
  FUZZ_CHECK(error.kind == ErrorKind::invalid);
  FUZZ_CHECK(!error.code.empty() && !error.message.empty());
}

void check_bundle(std::string_view bytes) {
  const Result<Bundle> bundle = parse_bundle(bytes);
  if (!bundle) return check_error(bundle.error());
  const Result<std::string> written = bundle->encode();
  FUZZ_CHECK(written.has_value() && *written == bytes);
  VerifyOptions options;
  options.ledger_id = sha256("a ledger that nobody founded");
  const Result<BundleVerdict> verdict = verify_bundle(bytes, options);
  if (!verdict) return check_error(verdict.error());
  FUZZ_CHECK(!verdict->ok());
  FUZZ_CHECK(verdict->checks.size() == 20);
  FUZZ_CHECK(verdict->level == Level::none);
  FUZZ_CHECK(!verdict->json().empty());
  // As a reader who trusts the file's own founding would see it: deeper, and weaker.
  options.ledger_id.reset();
  options.log_key = log_verifier_key("example.org/tests", PublicKey());
  const Result<BundleVerdict> weaker = verify_bundle(bytes, options);
  FUZZ_CHECK(weaker.has_value() && !weaker->ok());
}

void check_policy(std::string_view bytes) {
  const Result<ReaderPolicy> policy = parse_reader_policy(bytes);
  if (!policy) return check_error(policy.error());
  FUZZ_CHECK(std::ranges::is_sorted(policy->keys) && std::ranges::is_sorted(policy->owners));
}

}  // namespace
}  // namespace kernelindex

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kernelindex::check_bundle(bytes);
  kernelindex::check_policy(bytes);
  return 0;
}
