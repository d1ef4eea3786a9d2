// SPDX-License-Identifier: Apache-2.0
// Controlled attempts at a run, as its page shows them: every job, unanswered ones too.
#pragma once

#include "ledger/reader_attempts.h"
#include "tools/serve/pages/html.h"

namespace kernelindex::serve {

// Nothing when there is nothing to show.
void append_attempts(Html& html, const RunMeasurements& measured);

}  // namespace kernelindex::serve
