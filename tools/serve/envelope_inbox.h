// SPDX-License-Identifier: Apache-2.0
// Attestations that contributors hand in over HTTP. The server has neither a key nor a ledger open
// for writing: what passes the ledger's own rules is put into a folder, and whoever writes the
// ledger records it (`kernelindex attest --envelope FILE`), which judges it again.
//
//   POST /api/v1/attestations   202: it waits in the folder; 200: it is recorded already
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "schema/utc_time.h"
#include "tools/serve/rate_limit.h"
#include "tools/serve/router.h"

namespace kernelindex::serve {

inline constexpr std::size_t kInboxEnvelopeBytes = std::size_t{64} << 10u;

struct InboxOptions {
  std::filesystem::path folder;                        // made when it is not there
  std::size_t files_max = 1'000;                       // that wait; above it: 503
  RateLimitOptions by_client{20, 30'000'000, 10'000};  // whatever they send
  RateLimitOptions by_signer{10, 360'000'000, 10'000};
  std::function<UtcMicros()> clock;
};

class EnvelopeInbox {
 public:
  // Errors: those of making the folder.
  static Result<std::shared_ptr<EnvelopeInbox>> open(InboxOptions options);

  // Errors: those of parse_envelope(), parse_attestation() and AttestationRules; NOT_A_CONTRIBUTOR
  // (refused); those of writing. Too many is an answer: 429, 503.
  Result<Response> take(const Site& site, const Request& request);

 private:
  explicit EnvelopeInbox(InboxOptions options);

  const InboxOptions options_;
  RateLimit by_client_;
  RateLimit by_signer_;
  Mutex writing_;  // one file at a time, so that the cap holds
};

void register_inbox(Router& router, std::shared_ptr<EnvelopeInbox> inbox);

}  // namespace kernelindex::serve
