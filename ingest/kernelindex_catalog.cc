// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelindex_catalog.h"

#include "ingest/catalog_import.h"
#include "ingest/catalog_side_tables.h"
#include "ingest/line_source.h"
#include "ingest/row_pipeline.h"
#include "ingest/zstd_source.h"

namespace kernelindex::ingest {

Status import_kernelindex_catalog(ByteSource& file, const std::string& locator,
                                  const CatalogOptions& options, DraftSink& sink) {
  ZstdSource bytes(file);
  CatalogSideTables side_tables;
  if (Status read = side_tables.read(bytes); !read) return fail_in(locator, read.error());
  if (Status rewound = bytes.rewind(); !rewound) return fail_in(locator, rewound.error());

  if (Status begun = sink.begin_file(0); !begun) return begun;
  CatalogImport import(side_tables, locator, sink);
  LineSource lines(bytes);
  Status done = for_each_row(lines, options.threads,
                             [&](CatalogRow&& row) { return import.take(std::move(row)); });
  if (!done) return done;
  import.finish();
  return {};
}

}  // namespace kernelindex::ingest
