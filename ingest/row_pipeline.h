// SPDX-License-Identifier: Apache-2.0
// Lines of a catalog read to rows by several threads and handed out in the order of the file, with
// a bounded number of lines in flight.
#pragma once

#include <functional>

#include "ingest/catalog_row.h"
#include "ingest/line_source.h"

namespace kernelindex::ingest {

// Calls `take` for each row, from the calling thread. Ends at the first error of the source or of
// `take`. threads: 0 for one for each processor.
Status for_each_row(LineSource& lines, unsigned threads,
                    const std::function<Status(CatalogRow&&)>& take);

}  // namespace kernelindex::ingest
