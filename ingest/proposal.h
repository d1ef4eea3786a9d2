// SPDX-License-Identifier: Apache-2.0
// What an import would do with one claim.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/digest.h"
#include "schema/manifest.h"

namespace kernelindex::ingest {

enum class ProposedAction : std::uint8_t {
  insert,     // neither the manifest nor the claim is in the ledger
  new_claim,  // the manifest is, and somebody says it anew
  exists,     // so is the claim
};

struct Proposal {
  ProposedAction action{};
  ManifestKind kind{};
  Digest identity;
  Digest document;
  std::string label;
  std::string source;
  std::vector<std::string> external_ids;  // sorted
  std::string locator;
  std::string item;
};

}  // namespace kernelindex::ingest
