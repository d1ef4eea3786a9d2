// SPDX-License-Identifier: Apache-2.0
// The rules of the house as a pure function: which room may include which, through which file each
// foreign library enters, and no loops of files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kernelindex::test {

// Source text by path from the root, "ledger/store.cc".
using SourceTree = std::map<std::string, std::string>;

// One sentence for each broken rule, "ledger/store.h:12: ..."; empty when all hold.
std::vector<std::string> broken_include_rules(const SourceTree& tree);

}  // namespace kernelindex::test
