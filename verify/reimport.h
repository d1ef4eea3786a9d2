// SPDX-License-Identifier: Apache-2.0
// audit --reimport: the parsers run again over the kept snapshots and must give the same claims.
//
// How a parser runs is not known here: whoever links the importers lends a Reparser.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/entry.h"
#include "ledger/reader.h"
#include "schema/byte_source.h"
#include "schema/result.h"
#include "verify/audit_report.h"

namespace kernelindex {

// One file of an import, as it was kept.
struct ImportedSnapshot {
  Digest digest;
  std::string source;
  std::string locator;
  std::string media_type;
  std::string fetched_at;  // empty when supplied as a file
  std::uint64_t size = 0;
  // Reads the kept bytes, checked against their digest at the end; as often as asked.
  std::function<Result<std::unique_ptr<ByteSource>>()> open;
};

// One run of an importer: the batches from one import statement to the one that names its report.
struct ImportEvent {
  std::uint64_t first = 0;  // its entries
  std::uint64_t end = 0;    // after its last statement
  std::string parser;
  std::string parser_version;
  std::string options;                      // canonical JSON of an object
  std::vector<ImportedSnapshot> snapshots;  // in order of reading
  bool finished = false;  // its last statement names a report; else the import was cut off
};

// One claim that a parser gives.
struct ReparsedClaim {
  Digest snapshot;
  Manifest manifest;
  std::string source;
  std::string via;
  std::vector<std::string> external_ids;  // in any order
  std::string item;
  ClaimFacts facts;
};

class Reparser {
 public:
  virtual ~Reparser() = default;
  // Gives the claims of an import in order. Errors: UNKNOWN_PARSER or UNKNOWN_PARSER_VERSION (both
  // kind invalid) when this program cannot run it: a fault that says so; those of `claim`.
  virtual Status reparse(const ImportEvent& import,
                         const std::function<Status(ReparsedClaim)>& claim) = 0;
};

struct ReimportReport {
  std::uint64_t imports = 0;
  std::uint64_t claims = 0;   // that a parser gave again
  std::vector<Fault> faults;  // at most `faults_max`, in order of the log
  std::uint64_t faults_left_out = 0;

  bool ok() const { return faults.empty() && faults_left_out == 0; }
  // Adds the faults to a report, as `audit --reimport` shows them.
  void add_to(AuditReport& report, std::size_t faults_max) const;
};

// Requires: the log was audited; what is damaged there may show here as other faults. An import
// statement without claims is passed over. Imports that only `add` made are parsers like others. A
// claim that was known already when the import ran is sought among all claims up to its end. A
// project draft that differs from the known one of its source and slug was not recorded
// (PROJECT_DIFFERS) and is no fault.
ReimportReport audit_reimport(const Reader& reader, Reparser& reparser,
                              std::size_t faults_max = 1000);

}  // namespace kernelindex
