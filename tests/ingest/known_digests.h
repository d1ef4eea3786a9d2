// SPDX-License-Identifier: Apache-2.0
// What others computed: the digests of expected*.jsonl and those of the published catalog.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "tests/ingest/collecting_sink.h"

namespace kernelindex::test {

// Digests by external id, of one kind of line of an expected*.jsonl. The path is relative to the
// corpora.
using DigestsById = std::map<std::string, std::set<std::string>>;
DigestsById expected_digests(std::string_view path, std::string_view kind,
                             std::string_view id_member = "externalId");

// Identities of the drafts of a kind, by external id without its source.
DigestsById found_digests(const CollectingSink& sink, ManifestKind kind);

// One object of the catalog, by its identity digest.
struct CatalogObject {
  std::string document;  // SHA-256 of the canonical manifest
  std::string key;       // comparison key or cohort key of a run
};
// Every object of the catalog export of the corpora, read once for a process.
const std::map<std::string, CatalogObject, std::less<>>& catalog_objects();

// The canonical lines of a table of the catalog, the value of "row" each.
std::vector<std::string> catalog_rows(std::string_view table);

// Comparison keys of the benchmark runs among the drafts, and cohort keys of the serving runs, by
// identity. Workloads and models must be among the drafts too.
std::map<std::string, std::string> keys_of_runs(const CollectingSink& sink);

}  // namespace kernelindex::test
