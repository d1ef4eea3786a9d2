// SPDX-License-Identifier: Apache-2.0
// The importers, lent to `audit --reimport`: verify knows no importer, tools knows both.
#pragma once

#include <functional>

#include "verify/reimport.h"

namespace kernelindex::tools {

class ImporterReparser final : public Reparser {
 public:
  Status reparse(const ImportEvent& import,
                 const std::function<Status(ReparsedClaim)>& claim) override;
};

}  // namespace kernelindex::tools
