// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "ledger/search_index.h"
#include "tools/display_text.h"
#include "tools/pretty_json.h"
#include "tools/run_facts.h"
#include "tools/run_output.h"
#include "tools/serve/pages/api_links.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/lookup.h"
#include "tools/serve/pages/provenance_part.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/serve/pages/runs_table.h"
#include "tools/units.h"

namespace kernelindex::serve {
namespace {

constexpr std::array kKinds = {ManifestKind::operation_spec};

// A comparison group of the operation, as far as the table shows it.
struct GroupLine {
  Digest key;
  std::string hardware;
  std::string workload;
  std::string protocol;
  std::size_t cases = 0;  // of a suite; 0 for a single case
  std::size_t runs = 0;
  const RunView* leader = nullptr;
};

Result<std::string> label_of(const Reader& reader, const Digest& identity) {
  const Result<std::optional<SubjectRow>> row = reader.subject(identity);
  if (!row) return fail(row.error());
  return *row ? (*row)->shown().label : std::string();
}

// The groups of an operation's runs, by hardware, suites before single cases.
Result<std::vector<GroupLine>> groups_of(const Site& site, const std::vector<RunView>& runs,
                                         tools::Documents& documents) {
  std::map<Digest, GroupLine> groups;
  for (const RunView& run : runs) {
    const RunRow& row = run.row;
    if (!row.group) continue;
    GroupLine& line = groups[*row.group];
    if (line.runs == 0) {
      line.key = *row.group;
      line.hardware = row.hardware;
      const Result<json::Value> workload = documents.read(row.workload);
      if (!workload) return fail(workload.error());
      line.workload = tools::workload_text(*workload);
      if (const json::Value* cases = workload->find({"spec", "cases"})) {
        line.cases = cases->is_array() ? cases->array().size() : 0;
      }
      Result<std::string> protocol = label_of(site.reader, row.protocol);
      if (!protocol) return fail(protocol.error());
      line.protocol = std::move(*protocol);
    }
    ++line.runs;
    if (run.rank == 1u && line.leader == nullptr) line.leader = &run;
  }
  std::vector<GroupLine> out;
  for (auto& [key, line] : groups) out.push_back(std::move(line));
  std::ranges::stable_sort(out, [](const GroupLine& a, const GroupLine& b) {
    const bool suite_a = a.cases > 0;
    const bool suite_b = b.cases > 0;
    if (suite_a != suite_b) return suite_a;
    return std::tie(a.hardware, a.workload) < std::tie(b.hardware, b.workload);
  });
  return out;
}

void append_groups(Html& html, const std::vector<GroupLine>& groups) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "groups"}});
  html.add("h2", "Comparison groups by hardware and workload");
  if (groups.empty()) {
    html.add("p", {{"class", "soft"}}, "No run of this operation is in the ledger.");
    return;
  }
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table", {{"class", "stack"}});
  html.add("caption", {{"class", "visually-hidden"}}, "Comparison groups of this operation");
  {
    const Html::Element head = html.in("thead");
    const Html::Element row = html.in("tr");
    for (const std::string_view word : {"Hardware", "Workload", "Protocol"}) {
      html.add("th", {{"scope", "col"}}, word);
    }
    html.add("th", {{"scope", "col"}, {"class", "number"}}, "Best");
    html.add("th", {{"scope", "col"}}, "Implementation");
    html.add("th", {{"scope", "col"}, {"class", "number"}}, "Runs");
  }
  const Html::Element body = html.in("tbody");
  for (const GroupLine& group : groups) {
    const Html::Element row = html.in("tr");
    {
      const Html::Element cell = html.in("td", {{"data-label", "Hardware"}});
      html.name(group.hardware);
    }
    {
      const Html::Element cell =
          html.in("td", {{"data-label", "Workload"}, {"class", "wide-text"}});
      html.name_link(group_link(group.key),
                     group.workload.empty() ? "workload not in the ledger" : group.workload);
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Protocol"}});
      html.name(group.protocol);
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Best"}, {"class", "number"}});
      if (group.leader != nullptr) {
        html.link(run_link(group.leader->digest), tools::value_text(group.leader->row));
      } else {
        html.text("–");
      }
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Implementation"}});
      if (group.leader != nullptr) html.name(tools::implementation_text(group.leader->row));
    }
    html.add("td", {{"data-label", "Runs"}, {"class", "number"}}, std::to_string(group.runs));
  }
}

// The fastest passed run of each implementation, best first inside one metric; and how many runs.
struct ImplementationLine {
  const RunView* best = nullptr;
  std::size_t runs = 0;
};
void append_implementations(Html& html, const std::vector<RunView>& runs) {
  std::map<Digest, ImplementationLine> lines;
  for (const RunView& run : runs) {
    ImplementationLine& line = lines[run.row.implementation];
    ++line.runs;
    const auto rank = [](const RunView* view) {
      return view == nullptr ? UINT32_MAX : view->rank.value_or(UINT32_MAX - 1);
    };
    if (rank(&run) < rank(line.best)) line.best = &run;
  }
  if (lines.empty()) return;
  const Html::Element section =
      html.in("section", {{"class", "section"}, {"id", "implementations"}});
  html.add("h2", tools::counted(lines.size(), "implementation"));
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table", {{"class", "stack"}});
  html.add("caption", {{"class", "visually-hidden"}}, "Implementations of this operation");
  {
    const Html::Element head = html.in("thead");
    const Html::Element row = html.in("tr");
    html.add("th", {{"scope", "col"}}, "Implementation");
    html.add("th", {{"scope", "col"}}, "Project");
    html.add("th", {{"scope", "col"}}, "Best rank in a group");
    html.add("th", {{"scope", "col"}}, "Evidence");
    html.add("th", {{"scope", "col"}, {"class", "number"}}, "Runs");
  }
  std::vector<const ImplementationLine*> order;
  for (const auto& [digest, line] : lines) order.push_back(&line);
  std::ranges::stable_sort(order, {}, [](const ImplementationLine* line) {
    return line->best->rank.value_or(UINT32_MAX);
  });
  const Html::Element body = html.in("tbody");
  for (const ImplementationLine* line : order) {
    const RunRow& row_of = line->best->row;
    const Html::Element row = html.in("tr");
    {
      const Html::Element cell =
          html.in("td", {{"data-label", "Implementation"}, {"class", "wide-text"}});
      html.name_link(implementation_link(row_of.implementation),
                     tools::implementation_text(row_of));
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Project"}});
      if (row_of.project) html.name_link(project_link(*row_of.project), row_of.project_name);
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Best rank"}});
      if (line->best->rank) {
        html.link(run_link(line->best->digest),
                  "#" + std::to_string(*line->best->rank) + ", " + tools::value_text(row_of));
      } else {
        html.text("none");
      }
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Evidence"}});
      append_level(html, line->best->evidence.level);
    }
    html.add("td", {{"data-label", "Runs"}, {"class", "number"}}, std::to_string(line->runs));
  }
}

void append_arguments(Html& html, const json::Value& operation) {
  const tools::Facts facts = tools::field_facts(operation);
  if (facts.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "definition"}});
  html.add("h2", "Definition");
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary", "Axes, inputs, outputs and semantics");
  const json::Value* spec = operation.find("spec");
  append_copyable(html, tools::pretty_json(spec == nullptr ? operation : *spec), "definition-text",
                  false);
}

}  // namespace

Result<Response> operation_page(const Site& site, const Captures& captures) {
  Result<Found> found = find_manifest(site, captures, kKinds);
  if (!found) return fail(found.error());
  if (auto* elsewhere = std::get_if<Response>(&*found)) return std::move(*elsewhere);
  const Digest operation = std::get<Digest>(*found);
  tools::Documents documents(site.reader);
  const Result<json::Value> document = documents.read(operation);
  if (!document) return fail(document.error());
  const Result<Provenance> provenance = kernelindex::provenance(site.reader, operation);
  if (!provenance) return fail(provenance.error());
  const Result<std::string> label = label_of(site.reader, operation);
  if (!label) return fail(label.error());
  RunFilter filter;
  filter.operation = operation;
  const Result<RunPage> runs = list_runs(site.reader, filter, site.policy());
  if (!runs) return fail(runs.error());
  const Result<std::vector<GroupLine>> groups = groups_of(site, runs->runs, documents);
  if (!groups) return fail(groups.error());
  std::map<Level, std::size_t> levels;
  for (const RunView& run : runs->runs) ++levels[run.evidence.level];

  const std::string name = readable_name(*label);
  return page_response(site, {name, Part::operations, api_operation(operation)}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("p", {{"class", "eyebrow"}}, "Operation");
      {
        const Html::Element title = html.in("h1");
        html.name(name);
      }
      if (const json::Value* metadata = document->find("metadata");
          metadata != nullptr && !metadata->text("description").empty()) {
        const Html::Element lead = html.in("p", {{"class", "lead"}});
        html.name(metadata->text("description"));
      }
      {
        const Html::Element line = html.in("p", {{"class", "dots"}});
        if (const json::Value* spec = document->find("spec"); spec != nullptr) {
          const Html::Element family = html.in("span");
          html.name(spec->text("family"));
        }
        html.add("span", tools::counted(runs->runs.size(), "run"));
        html.add("span", tools::counted(groups->size(), "comparison group"));
        for (const auto& [level, count] : levels) {
          html.add("span", std::to_string(count) + " " + std::string(level_name(level)));
        }
      }
      {
        const Html::Element line = html.in("p", {{"class", "small soft"}});
        html.text("named ").name(*label).text(" ");
      }
      append_digest(html, operation, "digest-operation");
      const Html::Element line = html.in("p", {{"class", "head-links"}});
      html.link(Link("/runs").query("operation", operation.text()), "All runs");
      html.link(Link("/records").query("operation", operation.text()), "Records");
      html.link(api_operation(operation), "JSON");
    }
    append_groups(html, *groups);
    append_implementations(html, runs->runs);
    append_arguments(html, *document);
    append_provenance(html, site, *provenance);
  });
}

Result<Response> operations_page(const Site& site, const SiteIndex& index) {
  struct Line {
    std::string name;
    const SearchHit* hit;
    const Tally* tally;
  };
  const Result<const SearchIndex*> manifests = site.manifests.get();
  if (!manifests) return fail(manifests.error());
  std::vector<Line> lines;
  for (const SearchHit& hit : (*manifests)->manifests()) {
    if (hit.kind != ManifestKind::operation_spec) continue;
    const auto tally = index.by_operation.find(hit.digest);
    lines.push_back({readable_name(hit.label), &hit,
                     tally == index.by_operation.end() ? nullptr : &tally->second});
  }
  std::ranges::sort(lines, [](const Line& a, const Line& b) {
    return std::tie(a.name, a.hit->digest) < std::tie(b.name, b.hit->digest);
  });
  return page_response(site, {"Operations", Part::operations, std::nullopt}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("h1", "Operations");
      html.add("p", {{"class", "lead"}},
               tools::counted(lines.size(), "operation") +
                   ": what a kernel computes, apart from how it does.");
    }
    const Html::Element section = html.in("section", {{"class", "section"}});
    const Html::Element box = html.in("div", {{"class", "table-box"}});
    const Html::Element table = html.in("table", {{"class", "stack"}});
    html.add("caption", {{"class", "visually-hidden"}}, "All operations");
    {
      const Html::Element head = html.in("thead");
      const Html::Element row = html.in("tr");
      html.add("th", {{"scope", "col"}}, "Operation");
      html.add("th", {{"scope", "col"}}, "Hardware");
      html.add("th", {{"scope", "col"}, {"class", "number"}}, "Groups");
      html.add("th", {{"scope", "col"}, {"class", "number"}}, "Runs");
      html.add("th", {{"scope", "col"}}, "Newest");
    }
    const Html::Element body = html.in("tbody");
    for (const Line& line : lines) {
      const Html::Element row = html.in("tr");
      {
        const Html::Element cell =
            html.in("td", {{"data-label", "Operation"}, {"class", "wide-text"}});
        html.name_link(operation_link(line.hit->digest), line.name);
      }
      {
        const Html::Element cell = html.in("td", {{"data-label", "Hardware"}});
        if (line.tally != nullptr) {
          bool first = true;
          for (const std::string& product : line.tally->hardware) {
            if (!first) html.text(", ");
            html.name(product);
            first = false;
          }
        }
      }
      html.add("td", {{"data-label", "Groups"}, {"class", "number"}},
               std::to_string(line.tally == nullptr ? 0 : line.tally->groups.size()));
      html.add("td", {{"data-label", "Runs"}, {"class", "number"}},
               std::to_string(line.tally == nullptr ? 0 : line.tally->runs));
      const Html::Element cell = html.in("td", {{"data-label", "Newest"}});
      if (line.tally != nullptr) append_day(html, line.tally->newest);
    }
  });
}

}  // namespace kernelindex::serve
