// SPDX-License-Identifier: Apache-2.0
// From what a person types to what it names. DESIGN section 10.
//
//   sha256:<64 hex>            a digest, or any prefix of at least 6 hex digits, with or without
//                              "sha256:": identity, document, object, attestation, comparison key
//   SOURCE:ID                  an external id; of several kinds the first of run, suite,
//                              implementation, operation, case
//   SOURCE:KIND:ID             the same of exactly one kind
//   kernelindex:<uuid prefix>  a KernelIndex run id, at least 8 digits
//
// Nothing is chosen silently: several candidates are an error that lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/reader.h"

namespace kernelindex {

enum class Named : std::uint8_t {
  manifest,        // digest: identity
  attestation,     // digest: attestation id
  object,          // digest: of the bytes
  comparison_key,  // digest: of a group
};

struct Candidate {
  Named what = Named::manifest;
  Digest digest;
  std::optional<Digest> document;    // set when a document digest was given
  std::optional<ManifestKind> kind;  // of a manifest
  std::string external_id;           // that matched
  std::string source;
  std::string label;
  std::string value;  // of a run: "59812 ns"
};

// All that a text names, in a stable order, at most `limit`. Empty when nothing.
// Errors: BAD_ID (invalid: too short a prefix, or no form of an id).
Result<std::vector<Candidate>> candidates(const Reader& reader, std::string_view text,
                                          std::size_t limit = 21);

// The one thing that a text names. Errors: NO_SUCH_ID (not_found), AMBIGUOUS_ID (ambiguous; the
// message lists the first 20 candidates).
Result<Candidate> identify(const Reader& reader, std::string_view text);
// The same among what `wanted` accepts.
Result<Candidate> identify(const Reader& reader, std::string_view text,
                           const std::vector<Named>& wanted,
                           std::optional<ManifestKind> kind = std::nullopt);

// The word for a kind in SOURCE:KIND:ID: run, suite, implementation, operation, case, project,
// protocol, environment, model, stack, configuration, serving-workload, serving-run.
std::string_view kind_word(ManifestKind kind);

}  // namespace kernelindex
