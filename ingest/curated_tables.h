// SPDX-License-Identifier: Apache-2.0
// Tables that a person made and that digests depend on: ingest/data/*.json, which name their source
// and licence, as they are compiled into the program. Nothing else of their origin is copied.
#pragma once

#include <string_view>

#include "schema/json_value.h"

namespace kernelindex::ingest {

// The document of each, for as long as the program runs; callable from any thread.
const json::Value& gpumode_boards_table();
const json::Value& liger_kernels_table();
const json::Value& mlperf_models_table();

}  // namespace kernelindex::ingest
