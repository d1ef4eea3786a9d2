// SPDX-License-Identifier: Apache-2.0
// Implementations, projects, and all kinds that have no page of their own: one shape for all.
#include <array>

#include "schema/manifest.h"
#include "tools/display_text.h"
#include "tools/pretty_json.h"
#include "tools/run_facts.h"
#include "tools/serve/pages/api_links.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/lookup.h"
#include "tools/serve/pages/provenance_part.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/serve/pages/runs_table.h"

namespace kernelindex::serve {
namespace {

constexpr std::array kImplementation = {ManifestKind::implementation_revision};
constexpr std::array kProject = {ManifestKind::software_project};
// Those with a page of their own are led there.
constexpr std::array kAll = {ManifestKind::workload_case,
                             ManifestKind::workload_suite,
                             ManifestKind::benchmark_protocol,
                             ManifestKind::execution_environment,
                             ManifestKind::model_revision,
                             ManifestKind::serving_stack_revision,
                             ManifestKind::serving_configuration,
                             ManifestKind::serving_workload,
                             ManifestKind::operation_spec,
                             ManifestKind::software_project,
                             ManifestKind::implementation_revision,
                             ManifestKind::benchmark_run,
                             ManifestKind::serving_run};

constexpr std::size_t kRunsShown = 100;

std::string_view kind_words(ManifestKind kind) {
  switch (kind) {
    case ManifestKind::workload_case:
      return "Workload case";
    case ManifestKind::workload_suite:
      return "Workload suite";
    case ManifestKind::software_project:
      return "Project";
    case ManifestKind::implementation_revision:
      return "Implementation";
    case ManifestKind::benchmark_protocol:
      return "Protocol";
    case ManifestKind::execution_environment:
      return "Environment";
    case ManifestKind::model_revision:
      return "Model";
    case ManifestKind::serving_stack_revision:
      return "Serving stack";
    case ManifestKind::serving_configuration:
      return "Serving configuration";
    case ManifestKind::serving_workload:
      return "Serving workload";
    default:
      return kind_name(kind);
  }
}

tools::Facts facts_of(ManifestKind kind, const json::Value& document) {
  switch (kind) {
    case ManifestKind::implementation_revision:
      return tools::implementation_facts(document);
    case ManifestKind::benchmark_protocol:
      return tools::protocol_facts(document);
    case ManifestKind::execution_environment:
      return tools::environment_facts(document);
    case ManifestKind::workload_case:
    case ManifestKind::workload_suite: {
      tools::Facts facts = tools::correctness_facts(document);
      for (tools::Fact& fact : tools::workload_facts(document)) facts.push_back(std::move(fact));
      return facts;
    }
    default:
      return tools::field_facts(document);
  }
}

struct Model {
  explicit Model(const Reader& reader) : documents(reader) {}
  ManifestKind kind{};
  Digest digest;
  Provenance provenance;
  tools::Documents documents;
  json::Value document;
  std::string label;
  std::vector<RunView> runs;
  bool more_runs = false;
};

// Runs that the page of this kind lists; of a kind that no filter knows, none.
std::optional<RunFilter> runs_of(ManifestKind kind, const Digest& digest) {
  RunFilter filter;
  filter.limit = kRunsShown;
  switch (kind) {
    case ManifestKind::implementation_revision:
      filter.implementation = digest;
      return filter;
    case ManifestKind::software_project:
      filter.project = digest;
      return filter;
    case ManifestKind::workload_case:
    case ManifestKind::workload_suite:
      filter.workload = digest;
      return filter;
    case ManifestKind::model_revision:
      filter.operation = digest;
      filter.serving = true;
      return filter;
    case ManifestKind::serving_configuration:
      filter.implementation = digest;
      filter.serving = true;
      return filter;
    case ManifestKind::serving_workload:
      filter.workload = digest;
      filter.serving = true;
      return filter;
    default:
      return std::nullopt;
  }
}

Status read(const Site& site, const Digest& digest, Model& model) {
  model.digest = digest;
  Result<Provenance> provenance = kernelindex::provenance(site.reader, digest);
  if (!provenance) return fail(provenance.error());
  model.provenance = std::move(*provenance);
  model.kind = model.provenance.kind;
  const Result<json::Value> document = model.documents.read(digest);
  if (!document) return fail(document.error());
  model.document = *document;
  const Result<std::optional<SubjectRow>> row = site.reader.subject(digest);
  if (!row) return fail(row.error());
  if (*row) model.label = (*row)->shown().label;
  if (model.kind == ManifestKind::software_project) {
    if (const json::Value* spec = model.document.find("spec"); spec != nullptr) {
      model.label = spec->text("name");
    }
  }
  if (const std::optional<RunFilter> filter = runs_of(model.kind, digest)) {
    Result<RunPage> page = list_runs(site.reader, *filter, site.policy());
    if (!page) return fail(page.error());
    model.runs = std::move(page->runs);
    model.more_runs = !page->next.empty();
  }
  return {};
}

void append_facts(Html& html, const Model& model) {
  const tools::Facts facts = facts_of(model.kind, model.document);
  if (facts.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "facts"}});
  html.add("h2", "Facts");
  const Html::Element list = html.in("dl", {{"class", "facts"}});
  for (const tools::Fact& fact : facts) {
    append_fact(html, fact.name, [&](Html& inner) {
      if (const std::optional<Link> link = Link::https(fact.value)) {
        inner.add("a", {Attribute::href(*link), {"rel", "noreferrer"}}, fact.value);
      } else {
        inner.name(fact.value);
      }
    });
  }
}

void append_runs(Html& html, const Model& model) {
  if (model.runs.empty()) return;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "runs"}});
  html.add("h2", (model.more_runs ? "The newest " : "") + tools::counted(model.runs.size(), "run"));
  RunColumns columns;
  columns.implementation = model.kind != ManifestKind::implementation_revision;
  append_runs_table(html, model.runs, columns, "Runs, newest observation first");
  if (!model.more_runs) return;
  const Html::Element line = html.in("p");
  const std::string digest = model.digest.text();
  if (model.kind == ManifestKind::implementation_revision) {
    html.link(Link("/runs").query("implementation", digest), "All runs");
  } else if (model.kind == ManifestKind::software_project) {
    html.link(Link("/runs").query("project", digest), "All runs");
  } else {
    html.text("There are more; the API lists all.");
  }
}

void append_document(Html& html, const Model& model) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "manifest"}});
  html.add("h2", "Canonical manifest");
  if (model.document.is_null()) {
    html.add("p", "Its bytes are withheld; the digest and the log entry stay.");
    return;
  }
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary", "Show manifest");
  append_copyable(html, tools::pretty_json(model.document), "manifest-text", false);
}

Result<Response> show(const Site& site, const Digest& digest) {
  Model model(site.reader);
  if (Status status = read(site, digest, model); !status) return fail(status.error());
  const std::string name = readable_name(model.label);
  return page_response(site,
                       {name.empty() ? short_digest(model.digest) : name, Part::none, std::nullopt},
                       [&](Html& html) {
                         {
                           const Html::Element head = html.in("header", {{"class", "page-head"}});
                           html.add("p", {{"class", "eyebrow"}}, kind_words(model.kind));
                           {
                             const Html::Element title = html.in("h1");
                             html.name(name.empty() ? short_digest(model.digest) : name);
                           }
                           if (name != model.label) {
                             const Html::Element line = html.in("p", {{"class", "small soft"}});
                             html.text("named ").name(model.label);
                           }
                           append_digest(html, model.digest, "digest-manifest");
                         }
                         append_facts(html, model);
                         append_runs(html, model);
                         append_document(html, model);
                         append_provenance(html, site, model.provenance);
                       });
}

// A manifest of one of `kinds`, on the page of its kind alone.
Result<Response> show(const Site& site, const Captures& captures,
                      std::span<const ManifestKind> kinds, std::string_view place) {
  Result<Found> found = find_manifest(site, captures, kinds);
  if (!found) return fail(found.error());
  if (auto* elsewhere = std::get_if<Response>(&*found)) return std::move(*elsewhere);
  const Digest digest = std::get<Digest>(*found);
  const Result<std::optional<SubjectRow>> row = site.reader.subject(digest);
  if (!row) return fail(row.error());
  const Link page = manifest_link(row->value().kind, digest);
  if (!page.text().starts_with(place)) return redirect(page.text());
  return show(site, digest);
}

}  // namespace

Result<Response> implementation_page(const Site& site, const Captures& captures) {
  return show(site, captures, kImplementation, "/implementations/");
}

Result<Response> project_page(const Site& site, const Captures& captures) {
  return show(site, captures, kProject, "/projects/");
}

Result<Response> manifest_page(const Site& site, const Captures& captures) {
  return show(site, captures, kAll, "/manifests/");
}

}  // namespace kernelindex::serve
