// SPDX-License-Identifier: Apache-2.0
// Times of sources, in milliseconds, as the whole nanoseconds of manifests. IMPORT section 1.3.
#pragma once

#include <cmath>

namespace kernelindex::ingest {

// Half up, and exact for fractions of a nanosecond. Requires: a latency, so not below 0.
inline double whole_nanoseconds(double nanoseconds) { return std::round(nanoseconds); }

// Milliseconds as a double to whole nanoseconds: one binary64 multiplication, then half up. Scaling
// the decimal text instead would differ for about one in a hundred inputs that end in half a
// nanosecond.
inline double nanoseconds_of(double milliseconds) { return whole_nanoseconds(milliseconds * 1e6); }

}  // namespace kernelindex::ingest
