// SPDX-License-Identifier: Apache-2.0
// Another program that embeds the ledger: records a manifest, and prints how a group of runs ranks.
//
//   embed LEDGER RUN
#include <cstdio>
#include <string>

#include "ledger/appender.h"
#include "ledger/identify.h"
#include "ledger/query.h"

using namespace kernelindex;

constexpr const char* kProject =
    R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject",
  "metadata":{"name":"embed"},"spec":{"name":"Embed","repository":"https://example.invalid/embed"}})";

Status record(Ledger& ledger, const std::string& text) {
  const Result<Manifest> manifest = read_manifest(text);
  if (!manifest) return fail(manifest.error());
  Result<std::unique_ptr<Appender>> appender =
      ledger.append({.parser = "embed", .parser_version = "1"});
  if (!appender) return fail(appender.error());
  MemorySource bytes(text);
  const auto kept =
      (*appender)->snapshot({"local", "embed.json", "", "supplied"}, "application/json", bytes);
  if (!kept) return fail(kept.error());
  ManifestEntry claim;
  claim.source = "local";
  claim.snapshot = sha256(text);
  if (const auto made = (*appender)->claim(claim, *manifest); !made) return fail(made.error());
  return (*appender)->finish(std::nullopt);
}

Status print_history(const Reader& reader, const std::string& id) {
  const Result<Candidate> found = identify(reader, id, {Named::manifest});
  if (!found) return fail(found.error());
  const Result<RunView> run = view_run(reader, found->digest);
  if (!run) return fail(run.error());
  const Result<History> group = history(reader, run->row.group.value());
  if (!group) return fail(group.error());
  for (const RunView& each : group->runs) {
    std::printf("%u  %.0f ns  %s\n", each.rank.value_or(0), each.row.value.value_or(0),
                each.digest.text().c_str());
  }
  return {};
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  LedgerOptions options;
  options.directory = argv[1];
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::open(options);
  Status status = ledger ? record(**ledger, kProject) : Status(fail(ledger.error()));
  if (status) status = print_history((*ledger)->read(), argv[2]);
  if (!status) std::fprintf(stderr, "%s\n", status.error().text().c_str());
  return status ? 0 : 1;
}
