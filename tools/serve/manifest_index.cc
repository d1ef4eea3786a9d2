// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/manifest_index.h"

#include "ledger/search_index.h"

namespace kernelindex::serve {

ManifestIndex::ManifestIndex(const Reader& reader) : reader_(reader) {}
ManifestIndex::~ManifestIndex() = default;

Result<const SearchIndex*> ManifestIndex::get() const {
  const MutexLock lock(mutex_);
  if (!index_) {
    Result<SearchIndex> index = SearchIndex::build(reader_);
    if (!index) return fail(index.error());
    index_ = std::make_unique<const SearchIndex>(std::move(*index));
  }
  return index_.get();
}

}  // namespace kernelindex::serve
