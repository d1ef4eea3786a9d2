// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/envelope_inbox.h"

#include "ledger/attestation_rules.h"
#include "ledger/dsse.h"
#include "ledger/file_steps.h"
#include "tools/serve/api_answer.h"

namespace kernelindex::serve {
namespace {

Response later(unsigned status, std::string code, std::string detail) {
  return problem_response(problem(status, std::move(code), std::move(detail)));
}

Response accepted(unsigned status, const Digest& id, std::string_view state) {
  json::Arena arena;
  const tools::JsonOutput json(arena);
  Response response =
      json_answer(json.object().add("digest", json.digest(id)).add("state", state).finish(),
                  CachePolicy::no_store);
  response.status = status;
  return response;
}

}  // namespace

EnvelopeInbox::EnvelopeInbox(InboxOptions options)
    : options_(std::move(options)),
      by_client_(options_.by_client),
      by_signer_(options_.by_signer) {}

Result<std::shared_ptr<EnvelopeInbox>> EnvelopeInbox::open(InboxOptions options) {
  if (Status made = system_file_steps().make_folder(options.folder); !made) {
    return fail(made.error());
  }
  return std::shared_ptr<EnvelopeInbox>(new EnvelopeInbox(std::move(options)));
}

Result<Response> EnvelopeInbox::take(const Site& site, const Request& request) {
  const UtcMicros now = options_.clock();
  if (!by_client_.take(request.client, now)) {
    return later(429, "TOO_MANY", "too many envelopes came from this address");
  }
  const Result<Envelope> envelope = parse_envelope(request.body);
  if (!envelope) return fail(envelope.error());
  const Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail(said.error());
  const KeyRecord* signer = site.reader.state().keys.find(said->binding.signer);
  // Corrections and keys are for people at the ledger itself.
  if (signer == nullptr || signer->role != Role::contributor) {
    return fail(ErrorKind::refused, "NOT_A_CONTRIBUTOR", "",
                "only what keys of enrolled contributors sign is taken here");
  }
  // The signature before anything that costs the signer: others must not spend his allowance.
  if (!envelope->verify(signer->key)) {
    return fail(ErrorKind::invalid, "INVALID_SIGNATURE", "", "the signature is not the signer's");
  }
  const Digest id = envelope->id();
  const Result<std::optional<std::uint64_t>> known = find_attestation(site.reader, id);
  if (!known) return fail(known.error());
  if (*known) return accepted(200, id, "recorded");
  AttestationRules rules(site.reader, now);
  if (Status allowed = rules.allow(*envelope, *said); !allowed) return fail(allowed.error());
  const MutexLock lock(writing_);
  const std::filesystem::path file = options_.folder / (id.hex() + ".dsse.json");
  std::error_code error;
  if (std::filesystem::exists(file, error)) return accepted(202, id, "waiting");
  if (!by_signer_.take(said->binding.signer.hex(), now)) {
    return later(429, "TOO_MANY", "too many envelopes came from this signer");
  }
  const auto waiting =
      std::distance(std::filesystem::directory_iterator(options_.folder, error), {});
  if (error || waiting >= static_cast<std::ptrdiff_t>(options_.files_max)) {
    return later(503, "INBOX_FULL", "too many envelopes wait to be recorded");
  }
  const Envelope kept = normalised(*envelope, signer->key);
  if (Status written = write_file_durably(file, kept.encode()); !written) {
    return fail(written.error());
  }
  return accepted(202, id, "waiting");
}

void register_inbox(Router& router, std::shared_ptr<EnvelopeInbox> inbox) {
  router.post("/api/v1/attestations", kInboxEnvelopeBytes,
              [inbox](const Site& site, const Request& request, const Captures&) {
                return inbox->take(site, request);
              });
}

}  // namespace kernelindex::serve
