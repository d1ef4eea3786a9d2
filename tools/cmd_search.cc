// SPDX-License-Identifier: Apache-2.0
#include "tools/json_stream.h"
#include "tools/ledger_access.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--limit",
     .value = "N",
     .help = "how many at most; by default 20",
     .kind = ValueKind::count},
    {.name = "TEXT",
     .help = "words of names, slugs, aliases, tags or ids; all of them must occur",
     .required = true,
     .repeated = true},
};
constexpr std::string_view kExamples[] = {"search swiglu backward", "search databricks --limit 5"};

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  std::string text;
  for (const std::string& word : arguments.list("TEXT")) text += (text.empty() ? "" : " ") + word;
  constexpr std::uint64_t kDefaultLimit = 20;
  const Result<std::vector<SearchHit>> hits =
      search(reader, text, arguments.count("--limit").value_or(kDefaultLimit));
  if (!hits) return fail(hits.error());
  Output& out = session.out();
  if (!out.for_people()) {
    JsonStream stream(out, "hits");
    json::Arena arena;
    for (const SearchHit& hit : *hits) stream.item(hit_document(JsonOutput(arena), hit));
    stream.finish(json::ObjectBuilder(arena).add("text", text).finish());
    return ExitCode::done;
  }
  if (hits->empty()) {
    out.write("nothing found\n");
    return ExitCode::done;
  }
  Table table({{"KIND"}, {"NAME", Align::left, 20}, {"ID", Align::left, 20}, {"DIGEST"}});
  for (const SearchHit& hit : *hits) {
    table.add({{std::string(kind_name(hit.kind))},
               {hit.label},
               {hit.external_ids.empty() ? "" : hit.external_ids.front()},
               {hit.digest.hex().substr(0, 12), Tone::dim}});
  }
  out.write(table.text(out.terminal()));
  return ExitCode::done;
}

}  // namespace

constexpr Verb kSearchVerb{
    .name = "search",
    .summary = "find manifests by words",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
