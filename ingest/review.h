// SPDX-License-Identifier: Apache-2.0
// What an import would do, as a document that a person reads and that the import is held to
// afterwards. One shape for all sources.
//
// A review says all that the outcome depends on: the inputs by digest, the options, parser and
// version, and what the ledger makes of each claim. So an import does what was reviewed exactly
// when a review made again, just before it, is the same document but for `asOf`: entries that
// change nothing for this import may have come meanwhile.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/import.h"
#include "schema/json_value.h"

namespace kernelindex::ingest {

// One source of a review.
struct ReviewedImport {
  const SourceInfo* source = nullptr;
  ImportOptions options;
  std::vector<RecordedFile> files;  // with their digests
  ImportReport report;              // of a dry run
};

struct Review {
  Digest ledger_id;
  std::vector<std::string> paths;       // as they were given
  std::string named_source;             // the word that was given; empty: recognised
  std::vector<std::string> operations;  // of --operations
  std::vector<ReviewedImport> imports;
  std::vector<std::string> unclaimed;  // locators
};

// Canonical JSON. Of each import at most kProposalsListed proposals are listed; `proposalsDigest`
// covers all of them.
//
//   {"v":1,"ledger":…,"asOf":{"size","root"},"paths":[…],"sourceWord"?,"operations":[…],
//    "unclaimed":[…],"imports":[{"source","license","terms","attribution","title","url",
//     "parser","parserVersion","options":{…},"files":[{"locator","digest","acquired",
//     "fetchedAt"?}…],"selected","skipped":{…},"counted":{…},"claims":{…},
//     "proposed":{"insert":{kind:n…},"newClaim":{…},"exists":{…}},"proposals":[{"action","kind",
//     "identity","document","label","source","externalIds","locator","item"}…],
//     "proposalsDigest","wouldRecord":{…},"existing":{…},"quarantined":[…],"review":[…],
//     "drift":[…],"plan"}…]}
std::string review_json(const Review& review);

inline constexpr std::size_t kProposalsListed = 100'000;

// What an apply needs of a review.
struct ReviewRequest {
  std::vector<std::string> paths;
  std::string named_source;
  std::vector<std::string> operations;
  // Of the imports, which share them; nothing when there are none.
  ImportOptions options;
};
// Errors: REVIEW_MALFORMED (invalid).
Result<ReviewRequest> parse_review_request(std::string_view text);

// Where two reviews differ first, beside `asOf`: "imports/0/files/3/digest: A, now B"; empty when
// they do not. Errors: REVIEW_MALFORMED (invalid).
Result<std::string> review_difference(std::string_view reviewed, std::string_view now);

}  // namespace kernelindex::ingest
