// SPDX-License-Identifier: Apache-2.0
// The search index of one state, made when somebody first asks for it.
#pragma once

#include <memory>

#include "schema/mutex.h"
#include "schema/result.h"

namespace kernelindex {
class Reader;
class SearchIndex;
}  // namespace kernelindex

namespace kernelindex::serve {

// Safe to use from several threads: who comes while it is made waits for it.
class ManifestIndex {
 public:
  // Lends the reader.
  explicit ManifestIndex(const Reader& reader);
  ~ManifestIndex();

  // Never null. Errors: those of SearchIndex::build().
  Result<const SearchIndex*> get() const;

 private:
  const Reader& reader_;
  mutable Mutex mutex_;
  mutable std::unique_ptr<const SearchIndex> index_ GUARDED_BY(mutex_);
};

}  // namespace kernelindex::serve
