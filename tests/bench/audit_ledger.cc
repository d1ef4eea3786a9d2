// SPDX-License-Identifier: Apache-2.0
// audit_ledger LEDGER: the audit of a whole ledger on two threads. Exit 1 when it finds a fault.
#include <cstdio>

#include "verify/audit.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: audit_ledger LEDGER\n", stderr);
    return 2;
  }
  kernelindex::LedgerOptions ledger;
  ledger.directory = argv[1];
  const kernelindex::Result<kernelindex::AuditReport> report = kernelindex::audit_directory(ledger);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().text().c_str());
    return 6;
  }
  std::printf("%llu entries, %zu faults\n", static_cast<unsigned long long>(report->size),
              report->faults.size());
  return report->faults.empty() ? 0 : 1;
}
