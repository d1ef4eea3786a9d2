// SPDX-License-Identifier: Apache-2.0
// Why a run has its level, gathered and as machine output.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "ledger/query.h"
#include "ledger/reader_attempts.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

struct EvidenceFacts {
  RunView run;
  Provenance provenance;
  const SubjectJudgement* said = nullptr;  // of `judgements`; null when nothing counts
  std::shared_ptr<const Judgements> judgements;
  TreeHead as_of;
  RunMeasurements measured;  // as of that size
};

// The facts of a row that a level above reported needs.
struct EvidenceFlag {
  RunFlag flag;
  std::string_view name;
  std::string_view means;
};
inline constexpr std::array<EvidenceFlag, 4> kEvidenceFlags = {{
    {kSourceNamed, "sourceNamed", "the implementation names its source by digest"},
    {kSourceHeld, "sourceHeld", "all of it is in the log"},
    {kEvidenceNamed, "evidenceNamed", "raw samples or logs are named by digest"},
    {kEvidenceHeld, "evidenceHeld", "one of them is in the log"},
}};

// As of the policy's size. Errors: those of view_run() and provenance().
Result<EvidenceFacts> gather_evidence(const Reader& reader, const Digest& run,
                                      const ReadPolicy& policy);
json::Value evidence_document(const JsonOutput& json, const EvidenceFacts& facts);

}  // namespace kernelindex::tools
