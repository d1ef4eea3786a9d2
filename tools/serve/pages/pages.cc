// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/pages.h"

#include <memory>

#include "tools/serve/pages/assets.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/run_page.h"

namespace kernelindex::serve {
namespace {

using IndexPage = Result<Response> (*)(const Site&, const SiteIndex&);
using IndexListPage = Result<Response> (*)(const Site&, const SiteIndex&, const Request&);
using QueryPage = Result<Response> (*)(const Site&, const Request&);
using SubjectPage = Result<Response> (*)(const Site&, const Captures&);

// Binds pages to paths; those that need the index of the whole ledger share one.
class Binder {
 public:
  explicit Binder(Router& router) : router_(router) {}

  void index(std::string_view path, IndexPage page) {
    router_.get(path,
                [cache = cache_, page](const Site& site, const Request&,
                                       const Captures&) -> Result<Response> {
                  const Result<std::shared_ptr<const SiteIndex>> index = cache->of(site);
                  if (!index) return fail(index.error());
                  return page(site, **index);
                });
  }
  void list(std::string_view path, IndexListPage page) {
    router_.get(path,
                [cache = cache_, page](const Site& site, const Request& request,
                                       const Captures&) -> Result<Response> {
                  const Result<std::shared_ptr<const SiteIndex>> index = cache->of(site);
                  if (!index) return fail(index.error());
                  return page(site, **index, request);
                });
  }
  void source(std::string_view path) {
    router_.get(path,
                [cache = cache_](const Site& site, const Request&,
                                 const Captures& captures) -> Result<Response> {
                  const Result<std::shared_ptr<const SiteIndex>> index = cache->of(site);
                  if (!index) return fail(index.error());
                  return source_page(site, **index, captures);
                });
  }
  void query(std::string_view path, QueryPage page) {
    router_.get(path, [page](const Site& site, const Request& request, const Captures&) {
      return page(site, request);
    });
  }
  void subject(std::string_view path, SubjectPage page) {
    router_.get(path, [page](const Site& site, const Request&, const Captures& captures) {
      return page(site, captures);
    });
  }

 private:
  Router& router_;
  std::shared_ptr<SiteIndexCache> cache_ = std::make_shared<SiteIndexCache>();
};

Result<Response> asset(const Site&, const Request&, const Captures& captures) {
  const Asset* found = find_asset(captures.front());
  if (found == nullptr) {
    return fail(ErrorKind::not_found, "NO_SUCH_ASSET", std::string(captures.front()),
                "no page of this version loads this file");
  }
  return answer(std::string(found->bytes), found->content_type, CachePolicy::immutable);
}

}  // namespace

void register_pages(Router& router) {
  Binder binder(router);
  binder.index("/", home_page);
  binder.list("/runs", runs_page);
  router.get("/runs/{id...}", run_page);
  binder.subject("/groups/{key...}", group_page);
  binder.index("/operations", operations_page);
  binder.subject("/operations/{id...}", operation_page);
  binder.subject("/implementations/{id...}", implementation_page);
  binder.subject("/projects/{id...}", project_page);
  binder.subject("/manifests/{id...}", manifest_page);
  binder.list("/hardware", hardware_page);
  binder.index("/sources", sources_page);
  binder.source("/sources/{slug}");
  binder.list("/records", records_page);
  binder.index("/records.atom", records_feed);
  binder.query("/search", search_page);
  binder.query("/compare", compare_page);
  router.get("/log",
             [](const Site& site, const Request&, const Captures&) { return log_page(site); });
  router.get("/assets/{file}", asset);
  router.problem_page(problem_page);
}

}  // namespace kernelindex::serve
