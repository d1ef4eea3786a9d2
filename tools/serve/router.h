// SPDX-License-Identifier: Apache-2.0
// From a request to the function that answers it.
//
// Patterns are paths of words and captures: "/runs/{id}" captures one segment, "/tile/{path...}" at
// the end all that are left, at least one. A word goes before a capture: "/api/v1/runs/new" would
// be found before "/api/v1/runs/{id}". A slash at the end of a known path is redirected away.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"
#include "tools/serve/request.h"
#include "tools/serve/response.h"
#include "tools/serve/site.h"

namespace kernelindex::serve {

// What the pattern captured, in its order, decoded.
using Captures = std::vector<std::string_view>;
// An error becomes a problem.
using Handler = std::function<Result<Response>(const Site&, const Request&, const Captures&)>;
using ProblemPage = std::function<Response(const Site&, const Request&, const Problem&)>;

// What a path has to say to a method, found before anything of a body is read.
struct RouteInfo {
  bool known = false;        // the path
  bool allowed = false;      // the method there
  std::size_t body_max = 0;  // of the POST there
};

class Router {
 public:
  Router();
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  // Answers GET, and HEAD with it. Requires: no other handler of the same pattern and method.
  void get(std::string_view pattern, Handler handler);
  // The same for POST with a body of at most `body_max` bytes.
  void post(std::string_view pattern, std::size_t body_max, Handler handler);

  // How problems look to a reader who asks for text/html; without it they are JSON for all. Never
  // for paths below /api, /tile, /object and other faces for programs: those say so by
  // `for_programs`, a first segment.
  void problem_page(ProblemPage page);
  void for_programs(std::string_view first_segment);

  RouteInfo info(Method method, const Target& target) const;

  // The answer to any request: that of its handler, else a problem (404, 405 with Allow). With the
  // tag that If-None-Match names the answer is 304 without a body. Never throws for what a request
  // holds.
  Response respond(const Site& site, const Request& request) const;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
  ProblemPage page_;
  std::vector<std::string> for_programs_;

  Response problem_for(const Site& site, const Request& request, const Problem& problem) const;
  Result<Response> handle(const Site& site, const Request& request) const;
};

}  // namespace kernelindex::serve
