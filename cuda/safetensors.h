// SPDX-License-Identifier: Apache-2.0
// Files of tensors in the safetensors format: 8 bytes of little-endian header length, a JSON header
// {"name":{"dtype","shape","data_offsets":[begin,end]},...,"__metadata__":{}}, then raw data.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "cuda/host_tensor.h"
#include "schema/result.h"

namespace kernelindex::runner {

inline constexpr std::size_t kSafetensorsHeaderBytes = std::size_t{1} << 20;
inline constexpr std::size_t kSafetensorsTensors = 1024;

// All tensors by name. Errors (invalid): BAD_SAFETENSORS for a header that is too long, not such
// JSON, or says too many tensors, an unknown type, a shape beyond HostTensor's, data outside of the
// file, overlapping, with holes, or of another size than type and shape say.
Result<std::map<std::string, HostTensor, std::less<>>> read_safetensors(std::string_view bytes);

}  // namespace kernelindex::runner
