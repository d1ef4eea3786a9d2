// SPDX-License-Identifier: Apache-2.0
// `import kernelindex-ledger`: the log of another ledger as a stream of lines, to drafts.
//
//   line 1      {"format": "kernelindex-ledger", "ledgerId", "origin", "root", "size", "v": 1}
//   line i + 2  {"entry": the leaf of entry i, "object": the manifest or envelope it is about}
//
// Leaves and objects stand in canonical JSON; "object" is absent where its bytes are withheld or
// lost, and with snapshots and artifacts. So the stream alone shows what of the ledger holds: root
// and size are recomputed, entry 0 must be what the ledger id names, every signature is checked,
// and a claim is taken only when an import statement covers it that counts there, by a key that was
// not voided, and that was not retracted.
//
// Claims keep their source, external ids and facts, and say `via` the id of that ledger. What was
// retracted there, or withdrawn by its source, is claimed with the time of that as `retractedAt`
// and the mark `retracted_in_ledger`, so that it has no rank here either; what was superseded or is
// in dispute there is told of as something to review. DESIGN section 5, "No silent loss, no fork".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ingest/draft.h"
#include "ledger/merkle.h"
#include "schema/byte_source.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

inline constexpr std::string_view kRetractedInLedger = "retracted_in_ledger";

struct LedgerStreamHeader {
  Digest ledger_id;
  std::string origin;
  TreeHead head;
};

// The first line, with its newline.
std::string encode_ledger_header(const LedgerStreamHeader& header);
// Another line, with its newline. `object` is empty when it is absent. Requires: canonical JSON.
std::string encode_ledger_line(std::string_view leaf, std::string_view object);

// Whether bytes begin as such a stream does.
bool is_ledger_stream(std::string_view beginning);

// Reads the stream twice; it is source file `file`, and items are line numbers. Errors (kind
// invalid), before anything is handed to the sink: BAD_STREAM (no such stream, or cut short),
// ROOT_DIFFERS, LEDGER_ID_DIFFERS, MISSING_OBJECT (a statement about keys is not there),
// OBJECT_DIFFERS (an object has another digest than its entry says). Quarantined: statements that
// are not signed by whom they name, are for another ledger or do not cover what they say
// (INVALID_SIGNATURE, WRONG_LEDGER, LEAVES_DIFFER, those of KeyBook::apply), and claims whose
// manifest is not what its entry says. Skip reasons: NOT_COVERED, BYTES_NOT_HELD, CANNOT_JUDGE. To
// review: SUPERSEDED_THERE, DISPUTED_THERE. Counts: retracted_there.
Status import_kernelindex_ledger(ByteSource& stream, const std::string& locator, std::size_t file,
                                 DraftSink& sink);

}  // namespace kernelindex::ingest
