// SPDX-License-Identifier: Apache-2.0
#include "tools/named_entry.h"

#include "ledger/key_layout.h"

namespace kernelindex::tools {

Result<std::uint64_t> attestation_index(const Reader& reader, const Digest& id) {
  const Result<std::optional<std::string>> stored =
      reader.view().get(Space::derived, key_layout::attestation(id));
  if (!stored) return fail(stored.error());
  if (!*stored || (*stored)->size() != 8) {
    return fail(ErrorKind::not_found, "NO_SUCH_ID", id.text(), "no attestation has this id");
  }
  return key_layout::from_big_endian(**stored);
}

}  // namespace kernelindex::tools
