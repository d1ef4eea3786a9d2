// SPDX-License-Identifier: Apache-2.0
// What a job compiles: files of the command line, or a solution document of SOL-ExecBench and
// FlashInfer-Bench with its compile options. REFERENCES section 3.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/measurement_job.h"
#include "schema/result.h"

namespace kernelindex::tools {

// The sources of a solution, sorted by path, and the recipe that follows from its spec among them.
// Errors (invalid): those of reading it; UNSUPPORTED_BINDING (only "torch" in CUDA or C++ can be
// built), BAD_SOURCE_PATH.
Result<std::vector<JobSourceFile>> solution_sources(std::string_view document);

// Adds a file, or puts it in the place of the one of that path.
void put_source(std::vector<JobSourceFile>& files, std::string path, std::string content);

}  // namespace kernelindex::tools
