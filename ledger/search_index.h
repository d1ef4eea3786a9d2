// SPDX-License-Identifier: Apache-2.0
// The words of all manifests of one state, held in memory: a search reads no rows and takes
// milliseconds. About half a KiB a manifest.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/query.h"

namespace kernelindex {

// Made once from a reader, then never changed: safe to use from several threads.
class SearchIndex {
 public:
  // Errors: those of reading rows (DAMAGED_ROW).
  static Result<SearchIndex> build(const Reader& reader);

  // Manifests whose names, slugs, aliases, tags, ids or digests contain every word, without regard
  // to the case of ASCII letters, best first: the name itself, its beginning, within it, elsewhere;
  // then in the order of the log. At most `limit`, 0 for all. Error EMPTY_SEARCH (usage).
  Result<std::vector<const SearchHit*>> find(std::string_view text, std::size_t limit) const;

  // All manifests, in the order of the log.
  const std::vector<SearchHit>& manifests() const { return hits_; }
  // Everyone who claims one of them.
  const std::set<std::string, std::less<>>& sources() const { return sources_; }

 private:
  std::vector<SearchHit> hits_;
  std::set<std::string, std::less<>> sources_;
  // One a manifest, folded, with separators that no word contains.
  std::vector<std::string> words_;
};

}  // namespace kernelindex
