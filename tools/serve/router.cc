// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/router.h"

#include <algorithm>
#include <cassert>

namespace kernelindex::serve {

// One segment of the patterns: its words, then its capture, then a capture of all that is left.
struct Router::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> words;
  std::unique_ptr<Node> capture;
  std::unique_ptr<Node> rest;
  Handler get;
  Handler post;
  std::size_t body_max = 0;

  bool ends_here() const { return get || post; }

  // Makes the nodes of a pattern that are not there yet.
  static Node& along(Node& root, std::string_view pattern) {
    assert(pattern.starts_with('/'));
    Node* node = &root;
    pattern.remove_prefix(1);
    while (!pattern.empty()) {
      const std::size_t end = std::min(pattern.find('/'), pattern.size());
      const std::string_view segment = pattern.substr(0, end);
      pattern.remove_prefix(std::min(end + 1, pattern.size()));
      std::unique_ptr<Node>* next = nullptr;
      if (!segment.starts_with('{')) {
        next = &node->words[std::string(segment)];
      } else if (segment.ends_with("...}")) {
        assert(pattern.empty());
        next = &node->rest;
      } else {
        next = &node->capture;
      }
      if (!*next) *next = std::make_unique<Node>();
      node = next->get();
    }
    return *node;
  }

  // The node of a path, words before captures, and what it captured; null when there is none.
  const Node* find(std::span<const std::string> segments, Captures& captures) const {
    if (segments.empty()) return ends_here() ? this : nullptr;
    const auto word = words.find(segments.front());
    if (word != words.end()) {
      if (const Node* found = word->second->find(segments.subspan(1), captures)) return found;
    }
    const std::size_t before = captures.size();
    if (capture) {
      captures.push_back(segments.front());
      if (const Node* found = capture->find(segments.subspan(1), captures)) return found;
      captures.resize(before);
    }
    if (!rest) return nullptr;
    for (const std::string& segment : segments) captures.push_back(segment);
    return rest.get();
  }
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::get(std::string_view pattern, Handler handler) {
  Node& node = Node::along(*root_, pattern);
  assert(!node.get);
  node.get = std::move(handler);
}

void Router::post(std::string_view pattern, std::size_t body_max, Handler handler) {
  Node& node = Node::along(*root_, pattern);
  assert(!node.post);
  node.post = std::move(handler);
  node.body_max = body_max;
}

void Router::problem_page(ProblemPage page) { page_ = std::move(page); }

void Router::for_programs(std::string_view first_segment) {
  for_programs_.emplace_back(first_segment);
}

RouteInfo Router::info(Method method, const Target& target) const {
  Captures captures;
  const Node* node = root_->find(target.segments, captures);
  if (node == nullptr) return {};
  if (method == Method::post) return {true, static_cast<bool>(node->post), node->body_max};
  return {true, static_cast<bool>(node->get), 0};
}

Response Router::problem_for(const Site& site, const Request& request,
                             const Problem& problem) const {
  const bool program =
      !request.target.segments.empty() &&
      std::ranges::find(for_programs_, request.target.segments.front()) != for_programs_.end();
  if (page_ && !program && accepts(request.accept, "text/html")) {
    return page_(site, request, problem);
  }
  return problem_response(problem);
}

Result<Response> Router::handle(const Site& site, const Request& request) const {
  Captures captures;
  const Node* node = root_->find(request.target.segments, captures);
  if (node == nullptr) {
    return problem_for(site, request, problem(404, "NO_SUCH_PAGE", "there is nothing here"));
  }
  const bool posts = request.method == Method::post;
  const Handler& handler = posts ? node->post : node->get;
  if (!handler) {
    Response response = problem_for(
        site, request, problem(405, "METHOD_NOT_ALLOWED", "this address has no such method"));
    response.headers.push_back({"Allow", posts ? "GET, HEAD" : "POST"});
    return response;
  }
  if (request.target.trailing_slash) {
    Response response = redirect(request.target.path());
    response.status = 308;
    char separator = '?';
    for (const Parameter& parameter : request.target.query) {
      response.headers.back().value +=
          separator + percent_encode(parameter.name) + "=" + percent_encode(parameter.value);
      separator = '&';
    }
    return response;
  }
  return handler(site, request, captures);
}

Response Router::respond(const Site& site, const Request& request) const {
  Result<Response> made = handle(site, request);
  if (!made) {
    Response response = problem_for(site, request, problem_of(made.error()));
    if (response.status >= 500) response.fault = made.error().text();
    return response;
  }
  if (made->status == 200 && request.method != Method::post &&
      matches_tag(request.if_none_match, made->etag)) {
    made->status = 304;
    made->body = std::make_shared<const std::string>();
    made->source = nullptr;
  }
  return std::move(*made);
}

}  // namespace kernelindex::serve
