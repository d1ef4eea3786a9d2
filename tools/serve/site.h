// SPDX-License-Identifier: Apache-2.0
// What routes answer from: one state of a ledger, and how it is to be judged. An answer is a pure
// function of the request and of this.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ledger/query.h"
#include "ledger/reader.h"
#include "schema/utc_time.h"
#include "tools/serve/manifest_index.h"

namespace kernelindex {
struct SignedCheckpoint;
}

namespace kernelindex::serve {

// What the pages and the API say of themselves; the same for the life of the server.
struct SiteOptions {
  std::string name;      // of the ledger, for titles; its origin by default
  std::string base_url;  // "https://example.org/prefix", without a slash at its end; empty: not
                         // known, and links that must be absolute begin with "/"
  RankingPolicy ranking = RankingPolicy::v1;
};

// One state. Lends everything; a server keeps it alive while requests are answered from it. Safe to
// use from several threads.
struct Site {
  const SiteOptions& options;
  const Reader& reader;            // of one size: two reads of one request see the same log
  const ManifestIndex& manifests;  // of this reader: for searches and lists of manifests
  // The newest checkpoint that was released, of this size or a smaller one; null when there is
  // none.
  const SignedCheckpoint* checkpoint = nullptr;
  // When this state was opened: not the time of the request, so that an answer can be kept.
  UtcMicros opened_at = 0;

  ReadPolicy policy() const { return {options.ranking, std::nullopt}; }
};

}  // namespace kernelindex::serve
