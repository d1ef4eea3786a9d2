// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/api_links.h"

namespace kernelindex::serve {

Link api_run(const Digest& run) { return Link("/api/v1/runs/", run.text()); }
Link api_group(const Digest& key) { return Link("/api/v1/groups/", key.text()); }
Link api_operation(const Digest& operation) {
  return Link("/api/v1/operations/", operation.text());
}
Link api_implementation(const Digest& implementation) {
  return Link("/api/v1/implementations/", implementation.text());
}
Link api_evidence(const Digest& run) { return Link("/api/v1/runs/", run.text(), "/evidence"); }
Link api_bundle(const Digest& run) { return Link("/api/v1/runs/", run.text(), "/bundle"); }

}  // namespace kernelindex::serve
