// SPDX-License-Identifier: Apache-2.0
// Entries by index and attestations by id, found and as machine output.
#pragma once

#include <cstdint>

#include "ledger/reader.h"
#include "schema/digest.h"
#include "schema/result.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

// The entry that recorded an attestation. Error NO_SUCH_ID (not_found).
Result<std::uint64_t> attestation_index(const Reader& reader, const Digest& id);

// {index, leafHash, entry}. Errors: those of Reader::leaf().
Result<json::Value> entry_document(const JsonOutput& json, const Reader& reader,
                                   std::uint64_t index);
// {digest, index, recordedAt, statement | withheld}. Errors: those of attestation_index() and of
// reading objects.
Result<json::Value> attestation_document(const JsonOutput& json, const Reader& reader,
                                         const Digest& id);

}  // namespace kernelindex::tools
