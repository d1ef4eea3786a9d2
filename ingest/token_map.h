// SPDX-License-Identifier: Apache-2.0
// Names of data types, languages and hardware as sources write them, to the tokens of manifests.
#pragma once

#include <string>
#include <string_view>

namespace kernelindex::ingest {

// Lower case, each UTF-16 code unit outside [a-z0-9_] an underscore: what becomes of a name that no
// table lists.
std::string token_of(std::string_view name);

// The token of an argument name, "x_" before it when it does not start with a letter.
std::string argument_name(std::string_view name);

// "bfloat16" to "bf16"; names are case-sensitive; an unlisted one gives its token_of().
std::string dtype_token(std::string_view dtype);

// "cuda_cpp" to "cuda"; an unlisted one gives its token_of().
std::string language_token(std::string_view language);

struct Hardware {
  std::string vendor;        // "nvidia"
  std::string product;       // "NVIDIA B200"
  std::string architecture;  // "sm_100"
  bool listed = true;        // false when the rest is only what the digest rule says
};

// The device of SOL-ExecBench and FlashInfer-Bench names. An unlisted device keeps its name and,
// odd as it is, has vendor nvidia and architecture unknown: digests of published runs depend on it.
Hardware hardware_of(std::string_view name);

}  // namespace kernelindex::ingest
