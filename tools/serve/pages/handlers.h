// SPDX-License-Identifier: Apache-2.0
// One function for each kind of page. Those that ask something of the whole ledger take the index
// of its state; pages.cc binds them to paths.
#pragma once

#include "tools/serve/pages/site_index.h"
#include "tools/serve/router.h"

namespace kernelindex::serve {

// GET /
Result<Response> home_page(const Site& site, const SiteIndex& index);
// GET /runs?source=&operation=&hardware=&status=&level=&since=&until=&cursor=
Result<Response> runs_page(const Site& site, const SiteIndex& index, const Request& request);
// GET /groups/{key...}
Result<Response> group_page(const Site& site, const Captures& captures);
// GET /operations, /operations/{id...}
Result<Response> operations_page(const Site& site, const SiteIndex& index);
Result<Response> operation_page(const Site& site, const Captures& captures);
// GET /implementations/{id...}, /projects/{id...}, and all other kinds: /manifests/{id...}
Result<Response> implementation_page(const Site& site, const Captures& captures);
Result<Response> project_page(const Site& site, const Captures& captures);
Result<Response> manifest_page(const Site& site, const Captures& captures);
// GET /hardware?product=TEXT; without a product, the list
Result<Response> hardware_page(const Site& site, const SiteIndex& index, const Request& request);
// GET /sources, /sources/{slug}
Result<Response> sources_page(const Site& site, const SiteIndex& index);
Result<Response> source_page(const Site& site, const SiteIndex& index, const Captures& captures);
// GET /records?operation=&hardware=&source=&level=&since=&until=&page=
Result<Response> records_page(const Site& site, const SiteIndex& index, const Request& request);
// GET /records.atom
Result<Response> records_feed(const Site& site, const SiteIndex& index);
// GET /search?q=&kind=&page=
Result<Response> search_page(const Site& site, const Request& request);
// GET /compare?run=&run=&format=
Result<Response> compare_page(const Site& site, const Request& request);
// GET /log
Result<Response> log_page(const Site& site);

Response problem_page(const Site& site, const Request& request, const Problem& problem);

}  // namespace kernelindex::serve
