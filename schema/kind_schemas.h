// SPDX-License-Identifier: Apache-2.0
// One function a kind that writes down the schema of its spec, and the pieces that several share.
// Internal to schema/: manifest_schema.h keeps one copy of each.
#pragma once

#include "schema/document_schema.h"

namespace kernelindex::schema {

inline constexpr std::size_t kUrlLength = 2000;
inline constexpr std::size_t kSlugLength = 100;
inline constexpr std::size_t kManifestNameLength = 200;

inline Node digest() { return text(kDigest); }
inline Node token() { return text(kToken); }
inline Node slug() { return text(kSlug, kSlugLength); }
inline Node git_commit() { return text(kGitCommit); }
inline Node https_url() { return text(kHttpsUrl, kUrlLength); }
inline Node count() { return integer(1); }

// Bytes kept elsewhere: {uri, digest}.
Node artifact();
// {metric, unit, statistic, value, sampleCount?}
Node measurement();

Node operation_spec();
Node workload_case();
Node workload_suite();
Node software_project();
Node implementation_revision();
Node benchmark_protocol();
Node execution_environment();
Node benchmark_run();
Node model_revision();
Node serving_stack_revision();
Node serving_configuration();
Node serving_workload();
Node serving_run();

}  // namespace kernelindex::schema
