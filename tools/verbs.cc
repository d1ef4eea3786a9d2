// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr const Verb* kVerbs[] = {
    &kInitVerb,
    &kAddVerb,
    &kLogVerb,
    &kStatusVerb,
    &kCheckpointVerb,
    &kReindexVerb,
    &kManifestValidateVerb,
    &kManifestDigestVerb,
    &kManifestCanonicalizeVerb,
    &kCompletionVerb,
};

}  // namespace

std::span<const Verb* const> all_verbs() { return kVerbs; }

}  // namespace kernelindex::tools
