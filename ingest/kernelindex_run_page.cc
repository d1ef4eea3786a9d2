// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelindex_run_page.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "ingest/catalog_sources.h"
#include "ingest/column_check.h"
#include "ingest/upstream_ids.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

struct RunPage {
  Manifest protocol;
  Manifest environment;
  Manifest run;
};

struct Part {
  std::string_view member;
  ManifestKind kind;
  Manifest RunPage::*place;
};
// What a run refers to comes before it.
constexpr std::array<Part, 3> kParts = {{
    {"protocol", ManifestKind::benchmark_protocol, &RunPage::protocol},
    {"environment", ManifestKind::execution_environment, &RunPage::environment},
    {"run", ManifestKind::benchmark_run, &RunPage::run},
}};

Result<RunPage> read_page(std::string_view text) {
  json::Arena arena;
  std::vector<json::Defect> defects;
  Result<json::Value> document = json::parse_collecting_defects(text, arena, {}, defects);
  if (!document) return fail(std::move(document.error()));
  if (!defects.empty()) {
    return fail(ErrorKind::invalid, std::string(defects.front().code),
                json::line_and_column(text, defects.front().offset), defects.front().message);
  }
  RunPage page;
  for (const Part& part : kParts) {
    const json::Value* value = document->find(part.member);
    if (value == nullptr) {
      return fail(ErrorKind::invalid, "BAD_SHAPE", std::string(part.member),
                  "missing: a run page's document is {run, protocol, environment}");
    }
    Result<Manifest> manifest = make_manifest(*value, arena);
    if (!manifest) return fail_in(std::string(part.member), std::move(manifest.error()));
    if (manifest->kind != part.kind) {
      return fail(ErrorKind::invalid, "BAD_SHAPE", std::string(part.member) + ".kind",
                  "expected " + std::string(kind_name(part.kind)));
    }
    page.*part.place = std::move(*manifest);
  }
  for (const json::Member& member : document->object()) {
    if (member.name != "run" && member.name != "protocol" && member.name != "environment") {
      return fail(ErrorKind::invalid, "UNKNOWN_FIELD", std::string(member.name),
                  "a run page's document is {run, protocol, environment}");
    }
  }
  return page;
}

// The digests by which the run names the documents beside it.
std::optional<Error> disagreement(const RunPage& page) {
  const auto& run = std::get<BenchmarkRunFacts>(page.run.facts);
  if (run.protocol != page.protocol.identity) {
    return both_values("DIGEST_DIFFERS", "run.spec.protocolDigest", run.protocol.text(),
                       page.protocol.identity.text());
  }
  if (run.environment != page.environment.identity) {
    return both_values("DIGEST_DIFFERS", "run.spec.environmentDigest", run.environment.text(),
                       page.environment.identity.text());
  }
  return std::nullopt;
}

Status claim_page(RunPage page, std::size_t file, DraftSink& sink) {
  const auto& facts = std::get<BenchmarkRunFacts>(page.run.facts);
  const std::string source =
      facts.source_native ? facts.source_native->source : std::string(kCatalogSource);
  const std::string id = upstream_run_id(page.run);
  for (const Part& part : kParts) {
    Draft draft;
    draft.manifest = std::move(page.*part.place);
    draft.source = source;
    if (source != kCatalogSource) draft.via = kCatalogSource;
    if (part.kind == ManifestKind::benchmark_run && !id.empty()) {
      draft.external_ids = {source + ":" + id};
    }
    draft.file = file;
    draft.item = "/" + std::string(part.member);
    if (Status claimed = sink.claim(std::move(draft)); !claimed) return claimed;
  }
  return {};
}

}  // namespace

Status import_kernelindex_run(std::span<const SourceFile> files, DraftSink& sink) {
  std::optional<Error> first_fault;
  bool any = false;
  for (std::size_t file = 0; file < files.size(); ++file) {
    Result<RunPage> page = read_page(files[file].bytes);
    if (!page) {
      if (!first_fault) first_fault = fail_in(files[file].locator, page.error()).error();
      std::string reason = page.error().message;
      if (!page.error().place.empty()) reason = page.error().place + ": " + reason;
      sink.finding({FindingClass::quarantined,
                    files[file].locator,
                    {},
                    page.error().code,
                    std::move(reason)});
      continue;
    }
    any = true;
    if (Status begun = sink.begin_file(file); !begun) return begun;
    if (const std::optional<Error> fault = disagreement(*page)) {
      sink.finding({FindingClass::quarantined, files[file].locator, "/run", fault->code,
                    fault->place + ": " + fault->message});
      continue;
    }
    sink.selected();
    if (Status claimed = claim_page(std::move(*page), file, sink); !claimed) return claimed;
  }
  if (!any && first_fault) return fail(std::move(*first_fault));
  return {};
}

}  // namespace kernelindex::ingest
