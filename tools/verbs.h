// SPDX-License-Identifier: Apache-2.0
// The verbs, one source file each: cmd_<verb>.cc.
#pragma once

#include "tools/verb.h"

namespace kernelindex::tools {

extern const Verb kInitVerb;
extern const Verb kFetchVerb;
extern const Verb kImportVerb;
extern const Verb kAddVerb;
extern const Verb kShowVerb;
extern const Verb kCatVerb;
extern const Verb kHistoryVerb;
extern const Verb kRunsVerb;
extern const Verb kRecordsVerb;
extern const Verb kProvenanceVerb;
extern const Verb kEvidenceVerb;
extern const Verb kCompareVerb;
extern const Verb kSearchVerb;
extern const Verb kStatusVerb;
extern const Verb kDoctorVerb;
extern const Verb kLogVerb;
extern const Verb kDiffVerb;
extern const Verb kAuditVerb;
extern const Verb kCheckpointVerb;
extern const Verb kProveVerb;
extern const Verb kVerifyVerb;
extern const Verb kCosignVerb;
extern const Verb kVerifyTilesVerb;
extern const Verb kExportTilesVerb;
extern const Verb kExportCatalogVerb;
extern const Verb kMirrorVerb;
extern const Verb kServeVerb;
extern const Verb kReindexVerb;
extern const Verb kRepairVerb;
extern const Verb kAttestVerb;
extern const Verb kRetractVerb;
extern const Verb kSupersedeVerb;
extern const Verb kDisputeVerb;
extern const Verb kResolveVerb;
extern const Verb kWithholdVerb;
extern const Verb kJobNewVerb;
extern const Verb kJobListVerb;
extern const Verb kJobShowVerb;
extern const Verb kRerunVerb;
extern const Verb kAcceptVerb;
extern const Verb kCalibrateVerb;
extern const Verb kBackupVerb;
extern const Verb kRestoreVerb;
extern const Verb kKeyNewVerb;
extern const Verb kKeyListVerb;
extern const Verb kKeyShowVerb;
extern const Verb kKeyEnrolVerb;
extern const Verb kKeyRevokeVerb;
extern const Verb kKeyRotateVerb;
extern const Verb kKeyApproveVerb;
extern const Verb kKeyExportVerb;
extern const Verb kKeySignVerb;
extern const Verb kManifestValidateVerb;
extern const Verb kManifestDigestVerb;
extern const Verb kManifestCanonicalizeVerb;
extern const Verb kSchemaVerb;
extern const Verb kCompletionVerb;

}  // namespace kernelindex::tools
