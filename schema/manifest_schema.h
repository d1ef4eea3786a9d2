// SPDX-License-Identifier: Apache-2.0
// The strict schemas of the 13 kinds of manifests, IMPORT section 3. manifest.h uses them; others
// need them only to show them.
#pragma once

#include "schema/document_schema.h"
#include "schema/manifest.h"

namespace kernelindex::schema {

// The schema of `spec` of a kind.
const Node& spec_schema(ManifestKind kind);

// The schema of a whole document of a kind: envelope, metadata and spec.
const Node& document_schema(ManifestKind kind);

// The schema of the envelope alone: any known kind, any spec. For documents whose kind is not
// known.
const Node& envelope_schema();

}  // namespace kernelindex::schema
