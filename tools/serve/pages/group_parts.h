// SPDX-License-Identifier: Apache-2.0
// The parts that pages about comparison groups share: the ranking, how the record moved, and how
// the values are spread.
#pragma once

#include <string>

#include "ledger/query.h"
#include "tools/serve/pages/html.h"

namespace kernelindex::serve {

// The table of a group's runs, best first; those without a rank say why. `here` marks a run.
void append_ranking(Html& html, const History& group, const Digest* here = nullptr);

// The section "Record over time": a step chart when there is something to see, and the table of
// moves. Nothing for a group without a move.
void append_record_history(Html& html, const History& group, const Digest* here = nullptr);

// The section "Distribution of values": of each source for itself, as they are ranked. Nothing for
// sources of fewer than two ranked runs.
void append_distribution(Html& html, const History& group);

// "ImageNet 83.6 SSM … on NVIDIA B200": what the values of a group are of.
std::string group_subject(const History& group);

}  // namespace kernelindex::serve
