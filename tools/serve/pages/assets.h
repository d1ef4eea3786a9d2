// SPDX-License-Identifier: Apache-2.0
// The files that pages load: one stylesheet, an icon, and a script that is a comfort only. Their
// addresses hold their digests, so that they are kept for ever and never stale.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kernelindex::serve {

struct Asset {
  std::string name;  // "<16 hex digits>.css"
  std::string_view content_type;
  std::string_view bytes;
};

const Asset& stylesheet();
const Asset& script();
const Asset& icon();
// Null when there is none of that name.
const Asset* find_asset(std::string_view name);

}  // namespace kernelindex::serve
