// SPDX-License-Identifier: Apache-2.0
// /api/v1: the log itself, its entries and attestations; and the description of the API.
#include <charconv>

#include "ledger/checkpoint.h"
#include "tools/log_identity.h"
#include "tools/named_entry.h"
#include "tools/run_output.h"
#include "tools/serve/api.h"
#include "tools/serve/api_answer.h"
#include "tools/serve/openapi.h"

namespace kernelindex::serve {
namespace {

using tools::JsonOutput;

Result<Response> log(const Site& site, const Request&, const Captures&) {
  json::Arena arena;
  const JsonOutput json(arena);
  const LedgerFormat& format = site.reader.format();
  std::vector<std::string> keys;
  for (const VerifierKey& key : tools::log_keys(site.reader)) keys.push_back(key.text());
  json::ObjectBuilder document = json.object();
  document.add("name", site.options.name)
      .add("ledgerId", json.digest(format.ledger_id))
      .add("origin", format.origin)
      .add("owner", format.owner)
      .add("asOf", tools::head_document(json, site.reader.head()))
      .add("logKeys", json.texts(keys));
  if (site.checkpoint != nullptr) {
    document.add("checkpoint", json.text(site.checkpoint->format()))
        .add("signedHead", tools::head_document(json, site.checkpoint->checkpoint.head));
  }
  return json_answer(document.finish());
}

Result<Response> entry(const Site& site, const Request&, const Captures& captures) {
  const std::string_view text = captures.front();
  std::uint64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(ErrorKind::invalid, "BAD_INDEX", "", "an index is a whole number");
  }
  json::Arena arena;
  const Result<json::Value> document = tools::entry_document(JsonOutput(arena), site.reader, index);
  if (!document) return fail(document.error());
  return json_answer(*document, CachePolicy::immutable);
}

Result<Response> attestation(const Site& site, const Request&, const Captures& captures) {
  const Result<Candidate> found =
      identify(site.reader, std::string(captures.front()), {Named::attestation});
  if (!found) return fail(found.error());
  json::Arena arena;
  const Result<json::Value> document =
      tools::attestation_document(JsonOutput(arena), site.reader, found->digest);
  if (!document) return fail(document.error());
  return json_answer(*document);
}

Result<Response> openapi(const Site&, const Request&, const Captures&) {
  return open_answer(answer(std::string(openapi_document()), kJson));
}

}  // namespace

void register_api_log(Router& router) {
  router.get("/api/v1/log", log);
  router.get("/api/v1/entries/{index}", entry);
  router.get("/api/v1/attestations/{id}", attestation);
  router.get("/api/v1/openapi.json", openapi);
}

void register_api(Router& router, const ApiOptions& options) {
  router.for_programs("api");
  register_api_runs(router, options);
  register_api_manifests(router);
  register_api_log(router);
}

}  // namespace kernelindex::serve
