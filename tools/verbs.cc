// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr const Verb* kVerbs[] = {
    &kInitVerb,
    &kFetchVerb,
    &kImportVerb,
    &kAddVerb,
    &kShowVerb,
    &kCatVerb,
    &kHistoryVerb,
    &kRunsVerb,
    &kRecordsVerb,
    &kProvenanceVerb,
    &kEvidenceVerb,
    &kCompareVerb,
    &kSearchVerb,
    &kStatusVerb,
    &kDoctorVerb,
    &kLogVerb,
    &kDiffVerb,
    &kAuditVerb,
    &kCheckpointVerb,
    &kProveVerb,
    &kVerifyVerb,
    &kCosignVerb,
    &kVerifyTilesVerb,
    &kExportTilesVerb,
    &kExportCatalogVerb,
    &kMirrorVerb,
    &kServeVerb,
    &kReindexVerb,
    &kRepairVerb,
    &kAttestVerb,
    &kRetractVerb,
    &kSupersedeVerb,
    &kDisputeVerb,
    &kResolveVerb,
    &kWithholdVerb,
    &kJobNewVerb,
    &kJobListVerb,
    &kJobShowVerb,
    &kRerunVerb,
    &kAcceptVerb,
    &kCalibrateVerb,
    &kBackupVerb,
    &kRestoreVerb,
    &kKeyNewVerb,
    &kKeyListVerb,
    &kKeyShowVerb,
    &kKeyEnrolVerb,
    &kKeyRevokeVerb,
    &kKeyRotateVerb,
    &kKeyApproveVerb,
    &kKeyExportVerb,
    &kKeySignVerb,
    &kManifestValidateVerb,
    &kManifestDigestVerb,
    &kManifestCanonicalizeVerb,
    &kSchemaVerb,
    &kCompletionVerb,
};

}  // namespace

std::span<const Verb* const> all_verbs() { return kVerbs; }

}  // namespace kernelindex::tools
