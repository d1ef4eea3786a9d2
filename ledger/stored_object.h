// SPDX-License-Identifier: Apache-2.0
// How the value of an object's key in the store reads: one letter, then what it says.
//
//   w <bytes>          the whole object
//   c <size, 8 bytes>  in chunks of 1 MiB under the chunk keys
//   x                  withheld: digest, leaf and proofs stay, the bytes are gone
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/key_layout.h"

namespace kernelindex::stored_object {

inline std::string whole(std::string_view bytes) { return key_layout::join("w", bytes); }
inline std::string chunked(std::uint64_t size) {
  return key_layout::join("c", key_layout::big_endian(size));
}
inline std::string withheld() { return "x"; }

inline bool is_whole(std::string_view value) { return value.starts_with('w'); }
inline bool is_chunked(std::string_view value) {
  return value.size() == 9 && value.starts_with('c');
}
inline bool is_withheld(std::string_view value) { return value == "x"; }

}  // namespace kernelindex::stored_object
