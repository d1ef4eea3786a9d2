// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/service.h"

namespace kernelindex::serve {
namespace {

// Answers differ by what was asked for and by the two media types that routes look for.
std::string cache_key(std::string_view target, std::string_view accept) {
  std::string key;
  key.reserve(target.size() + 1);
  key += static_cast<char>('0' + (accepts(accept, kJsonLines) ? 1 : 0) +
                           (accepts(accept, "text/html") ? 2 : 0));
  key += target;
  return key;
}

}  // namespace

Plan Service::plan(const RawRequest& raw) const {
  const std::string_view target = origin_form(raw.target);
  if (raw.method != Method::post) {
    if (PreparedPointer kept = follower_.state()->cache.find(cache_key(target, raw.accept))) {
      ++metrics_.cache_hits;
      return {std::move(kept), std::nullopt, 0};
    }
    if (target == "/healthz") return {health(), std::nullopt, 0};
    if (target == "/metrics") return {metrics_text(), std::nullopt, 0};
  }
  Result<Target> parsed = parse_target(target);
  if (!parsed) {
    const bool long_target = parsed.error().code == "TARGET_TOO_LONG";
    return {problem(long_target ? 414 : 400, parsed.error().code, parsed.error().message),
            std::nullopt, 0};
  }
  Request request;
  request.method = raw.method;
  request.target = std::move(*parsed);
  request.raw_target = target;
  request.accept = raw.accept;
  request.content_type = raw.content_type;
  const RouteInfo route = router_.info(raw.method, request.target);
  return {nullptr, std::move(request), route.allowed ? route.body_max : 0};
}

PreparedPointer Service::answer(const Request& request) const {
  const LedgerStatePointer state = follower_.state();
  ++metrics_.answers_in_work;
  Response response = router_.respond(state->site, request);
  --metrics_.answers_in_work;
  ++metrics_.cache_misses;
  if (response.source) {
    // The pieces are read from the state that the answer began with.
    response.source = [state, source = std::move(response.source)] { return source(); };
  }
  PreparedPointer prepared = prepare(std::move(response), head_);
  if (prepared->cacheable && request.method != Method::post) {
    state->cache.put(cache_key(request.raw_target, request.accept), prepared);
  }
  return prepared;
}

PreparedPointer Service::problem(unsigned status, std::string code, std::string detail) const {
  return prepare(problem_response(serve::problem(status, std::move(code), std::move(detail))),
                 head_);
}

PreparedPointer Service::health() const {
  const bool well = follower_.healthy() && !stopping_;
  const std::uint64_t size = follower_.state()->reader.head().size;
  Response response = serve::answer(
      well ? "ok, serving size " + std::to_string(size) + "\n"
           : std::string(stopping_ ? "stopping\n" : "the ledger could not be read again\n"),
      kText, CachePolicy::no_store);
  response.status = well ? 200 : 503;
  response.etag.clear();
  return prepare(std::move(response), head_);
}

PreparedPointer Service::metrics_text() const {
  const LedgerStatePointer state = follower_.state();
  Metrics::Gauges gauges;
  gauges.ledger_size = state->reader.head().size;
  gauges.checkpoint_size = state->checkpoint ? state->checkpoint->checkpoint.head.size : 0;
  gauges.cache_bytes = state->cache.bytes();
  Response response = serve::answer(
      metrics_.text(gauges), "text/plain; version=0.0.4; charset=utf-8", CachePolicy::no_store);
  response.etag.clear();
  return prepare(std::move(response), head_);
}

bool not_modified(const Prepared& prepared, const RawRequest& raw) {
  return !prepared.unchanged.empty() && !raw.if_none_match.empty() && raw.method != Method::post &&
         matches_tag(raw.if_none_match, prepared.etag);
}

}  // namespace kernelindex::serve
