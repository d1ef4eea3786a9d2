// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/witness_routes.h"

#include "schema/digest.h"

namespace kernelindex::serve {
namespace {

Result<Response> cosign(WitnessDesk& desk, const Request& request) {
  const WitnessIdentity witness{desk.name, desk.key};
  const Result<WitnessResponse> said =
      add_checkpoint(request.body, *desk.state, desk.log_keys, witness, desk.now());
  if (!said) return fail(said.error());
  Response response = answer(said->body, said->content_type, CachePolicy::no_store);
  response.status = said->status;
  response.etag.clear();
  return response;
}

Result<Response> published(WitnessDesk& desk, std::string_view origin_hash) {
  for (const VerifierKey& key : desk.log_keys) {
    if (sha256(key.name).hex() != origin_hash) continue;
    const Result<std::optional<WitnessRecord>> record = desk.state->latest(key.name);
    if (!record) return fail(record.error());
    if (!*record) break;
    // Moves without the ledger: no answer of it is kept.
    return answer((*record)->checkpoint.format(), kText, CachePolicy::no_store);
  }
  return fail(ErrorKind::not_found, "NO_SUCH_LOG", "",
              "no checkpoint of a log with this hash was cosigned here");
}

}  // namespace

void register_witness(Router& router, std::shared_ptr<WitnessDesk> desk) {
  router.for_programs("add-checkpoint");
  router.post("/add-checkpoint", kAddCheckpointBytes,
              [desk](const Site&, const Request& request, const Captures&) {
                return cosign(*desk, request);
              });
  router.get("/{origin}/checkpoint", [desk](const Site&, const Request&, const Captures& captures) {
    return published(*desk, captures.front());
  });
}

}  // namespace kernelindex::serve
