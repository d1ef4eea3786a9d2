// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"

namespace kernelindex::serve {

Response problem_page(const Site& site, const Request&, const Problem& problem) {
  const std::string title(problem.title);
  Response response = page_response(site, {title, Part::none, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("p", {{"class", "eyebrow"}}, std::to_string(problem.status) + " " + problem.code);
      html.add("h1", title);
      const Html::Element lead = html.in("p", {{"class", "lead"}});
      html.name(problem.detail);
    }
    const Html::Element line = html.in("p", {{"class", "section head-links"}});
    html.link(Link("/search"), "Search");
    html.link(Link("/records"), "Records");
    html.link(Link("/operations"), "Operations");
    html.link(Link("/"), "Home");
  });
  response.status = problem.status;
  response.cache = CachePolicy::no_store;
  response.etag.clear();
  return response;
}

}  // namespace kernelindex::serve
