// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/run_page.h"

#include <array>

#include "ledger/evidence_text.h"
#include "tools/display_text.h"
#include "tools/pretty_json.h"
#include "tools/run_output.h"
#include "tools/serve/pages/api_links.h"
#include "tools/serve/pages/attempts_part.h"
#include "tools/serve/pages/group_parts.h"
#include "tools/serve/pages/lookup.h"
#include "tools/serve/pages/provenance_part.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/serve/pages/run_model.h"

namespace kernelindex::serve {
namespace {

constexpr std::array kRunKinds = {ManifestKind::benchmark_run, ManifestKind::serving_run};

bool is_serving(const RunModel& model) { return model.run.row.kind == ManifestKind::serving_run; }

// A section with its heading. `id` is where links to it lead.
Html::Element open_section(Html& html, std::string_view id, std::string_view heading) {
  Html::Element section = html.in("section", {{"class", "section"}, {"id", id}});
  html.add("h2", heading);
  return section;
}

void append_facts(Html& html, const tools::Facts& facts) {
  if (facts.empty()) return;
  const Html::Element list = html.in("dl", {{"class", "facts"}});
  for (const tools::Fact& fact : facts) {
    const Html::Element row = html.in("div");
    {
      const Html::Element name = html.in("dt");
      html.name(fact.name);
    }
    const Html::Element value = html.in("dd");
    html.name(fact.value);
  }
}

std::string workload_words(const RunModel& model) {
  std::string text = tools::workload_text(model.workload);
  if (!text.empty()) return text;
  return std::string(model.run.row.workload_name);
}

void append_head(Html& html, const RunModel& model) {
  const RunRow& row = model.run.row;
  const Html::Element head = html.in("header", {{"class", "page-head"}});
  html.add("p", {{"class", "eyebrow"}},
           (is_serving(model) ? "Serving run " : "Benchmark run ") + model.short_id());
  {
    const Html::Element title = html.in("h1");
    html.name(tools::implementation_text(row));
  }
  {
    const Html::Element line = html.in("p", {{"class", "dots"}});
    if (row.operation) {
      const ManifestKind kind =
          is_serving(model) ? ManifestKind::model_revision : ManifestKind::operation_spec;
      html.name_link(manifest_link(kind, *row.operation), readable_name(row.operation_name));
    } else {
      html.add("span", "operation not in the ledger");
    }
    {
      const Html::Element span = html.in("span");
      html.name(workload_words(model));
    }
    if (!row.hardware.empty()) html.name_link(hardware_link(row.hardware), row.hardware);
  }
  const Html::Element line = html.in("p", {{"class", "head-links"}});
  html.add("span", {{"class", row.status == "passed" || row.status == "valid" ? "good" : "bad"}},
           row.status);
  {
    const Html::Element span = html.in("span");
    html.text("Evidence: ");
    append_level(html, model.run.evidence.level);
  }
  html.link(Link("").fragment("evidence"), "Why this level");
  html.link(api_run(model.run.digest), "JSON");
}

void notice(Html& html, std::string_view tone, std::string_view text) {
  const std::string css_class = "notice " + std::string(tone);
  const Html::Element box = html.in("div", {{"class", css_class}, {"role", "note"}});
  html.add("p", text);
}

void append_notices(Html& html, const RunModel& model) {
  const RunView& run = model.run;
  if (run.cannot_judge) {
    notice(html, "bad",
           "Cannot be judged: its chain holds something that this program cannot read, so it has "
           "no level and no rank.");
  }
  if (run.retracted) {
    notice(html, "bad",
           "Retracted by a maintainer of this ledger. It keeps its history and has no "
           "rank; the reason is in its provenance.");
  }
  if (run.withdrawn) {
    notice(html, "bad", "Withdrawn by its own source, which found it disqualified or incorrect.");
  }
  if (run.successor) {
    const Html::Element box = html.in("div", {{"class", "notice warn"}, {"role", "note"}});
    const Html::Element text = html.in("p");
    html.text(run.superseded ? "Superseded by " : "A successor is named, which is not eligible: ");
    html.link(run_link(*run.successor), short_digest(*run.successor));
  }
}

void append_rank(Html& html, const RunModel& model) {
  const RunView& run = model.run;
  const Html::Element line = html.in("p", {{"class", "rank-line dots"}});
  const Html::Element rank = html.in("span");
  if (!run.row.group) {
    html.text("No comparison group yet: its workload is not in the ledger");
    return;
  }
  if (run.rank) {
    html.link(group_link(*run.row.group),
              "Rank " + std::to_string(*run.rank) + " in its comparison group");
    html.text(" of " + std::to_string(model.ranked()));
  } else if (is_serving(model)) {
    html.link(group_link(*run.row.group), "Serving cohort");
    html.text(", not ranked");
  } else {
    html.text("Not eligible in ");
    html.link(group_link(*run.row.group), "its comparison group");
    for (const std::string& reason : run.reasons) html.text(" ").add("code", reason);
  }
}

void append_measure(Html& html, const RunModel& model) {
  const RunRow& row = model.run.row;
  const Html::Element section =
      html.in("section", {{"class", "measure"}, {"aria-labelledby", "primary"}});
  html.add("h2", {{"id", "primary"}}, "Primary measurement");
  {
    const Amount amount = amount_of(row);
    const Html::Element value = html.in("p", {{"class", "value"}});
    html.add("span", {{"class", "amount"}}, amount.number);
    if (!amount.unit.empty()) html.text(" ").add("span", {{"class", "unit"}}, amount.unit);
    if (!row.statistic.empty()) {
      html.text(" ").add("span", {{"class", "statistic"}}, row.statistic);
    }
    if (row.value && row.metric != "latency" && !row.metric.empty()) {
      const Html::Element metric = html.in("span", {{"class", "statistic"}});
      html.name(row.metric);
    }
  }
  append_rank(html, model);
  {
    const Html::Element line = html.in("p", {{"class", "dots"}});
    if (model.group && !is_serving(model)) {
      html.add("span",
               model.group->source_native ? "source-native comparison" : "strict comparison");
    }
    const Html::Element observed = html.in("span");
    html.text("observed ");
    append_day(html, row.observed_at);
  }
  const RunView* leader = model.leader();
  if (leader != nullptr && leader->digest != model.run.digest && !is_serving(model)) {
    const Html::Element line = html.in("p");
    html.link(
        Link("/compare").query("run", model.run.digest.text()).query("run", leader->digest.text()),
        "Compare with #1 →");
  }
  const auto append_line = [&](const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    const Html::Element line = html.in("p", {{"class", "dots"}});
    for (const std::string& text : texts) {
      const Html::Element span = html.in("span");
      html.name(text);
    }
  };
  append_line(tools::spread_texts(model.manifest));
  append_line(tools::source_metric_line(model.manifest));
}

void append_identity(Html& html, const RunModel& model) {
  const RunRow& row = model.run.row;
  const Html::Element section = open_section(html, "identity", "Identity");
  {
    const Html::Element list = html.in("dl", {{"class", "facts"}});
    append_fact(html, is_serving(model) ? "configuration" : "implementation", [&](Html& inner) {
      const ManifestKind kind = is_serving(model) ? ManifestKind::serving_configuration
                                                  : ManifestKind::implementation_revision;
      inner.name_link(manifest_link(kind, row.implementation), tools::implementation_text(row));
    });
    if (row.project) {
      append_fact(html, "project", [&](Html& inner) {
        inner.name_link(project_link(*row.project), row.project_name);
      });
    }
    const json::Value* revision = model.implementation.find({"spec", "projectRevision"});
    if (revision != nullptr) {
      append_fact(html, "revision", revision->text("version"));
      append_fact(html, "commit", revision->text("commit"));
    }
    append_fact(html, "workload", [&](Html& inner) {
      inner.name_link(manifest_link(ManifestKind::workload_case, row.workload),
                      workload_words(model));
    });
    if (row.group) {
      append_fact(html, is_serving(model) ? "cohort key" : "comparison key", [&](Html& inner) {
        inner.link(group_link(*row.group), "group").text(" ");
        append_digest(inner, *row.group, "digest-group");
      });
    }
    append_fact(html, "source", [&](Html& inner) {
      inner.name_link(source_link(row.source), source_title(row.source));
      if (!model.claim().via.empty()) {
        inner.text(", read via ").name(model.claim().via);
      }
      if (model.claim().supplied) inner.text(", from a file that was supplied");
    });
    append_fact(html, "external id", tools::short_external_id(row));
    append_fact(html, "KernelIndex id", model.kernelindex_id());
    append_fact(html, "run",
                [&](Html& inner) { append_digest(inner, model.run.digest, "digest-run"); });
  }
}

void append_correctness(Html& html, const RunModel& model) {
  const Html::Element section = open_section(html, "correctness", "Correctness");
  const tools::Facts said = tools::run_correctness_facts(model.manifest);
  const std::string_view status = model.run.row.status;
  if (status != "passed" && status != "valid") {
    const Html::Element text = html.in("p");
    html.text("Marked ").name(status).text(" by the source.");
  } else if (said.empty()) {
    html.add("p", {{"class", "soft"}},
             "Marked passed by the source; the correctness policy was not published.");
  } else {
    html.add("p", {{"class", "soft"}}, "Marked passed by the source, with these errors.");
  }
  append_facts(html, said);
}

void append_cases(Html& html, const json::Value& workload) {
  const json::Value* cases = workload.find({"spec", "cases"});
  if (cases == nullptr || !cases->is_array() || cases->array().empty()) return;
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary", "All " + tools::counted(cases->array().size(), "case"));
  const Html::Element list = html.in("ol");
  for (const json::Value& one : cases->array()) {
    const Html::Element item = html.in("li");
    std::string axes;
    if (const json::Value* values = one.find("axes"); values != nullptr && values->is_object()) {
      for (const json::Member& axis : values->object()) {
        axes += (axes.empty() ? "" : ", ") + std::string(axis.name) + " " +
                tools::plain_text(axis.value);
      }
    }
    html.name(axes).text(" ");
    const Html::Element id = html.in("span", {{"class", "mono soft"}});
    html.name(one.text("externalId"));
  }
}

void append_workload(Html& html, const RunModel& model) {
  const Html::Element section = open_section(html, "workload", "Workload");
  if (model.workload.is_null()) {
    html.add("p", {{"class", "soft"}},
             "The workload is not in the ledger, or its bytes are withheld.");
    return;
  }
  append_facts(html, tools::correctness_facts(model.workload));
  append_facts(html, tools::workload_facts(model.workload));
  append_cases(html, model.workload);
}

void append_measurements(Html& html, const RunModel& model) {
  const Html::Element section = open_section(html, "measurements", "Measurements");
  const tools::Facts facts = tools::measurement_facts(model.manifest);
  if (facts.empty()) html.add("p", {{"class", "soft"}}, "No measurement was published.");
  append_facts(html, facts);
  const tools::Facts native = tools::source_metric_facts(model.manifest);
  if (native.empty()) return;
  html.add("h3", "As the source says it");
  append_facts(html, native);
}

void append_protocol(Html& html, const RunModel& model) {
  const Html::Element section = open_section(html, "protocol", "Protocol");
  if (is_serving(model)) {
    append_facts(html, tools::field_facts(model.manifest, {"measurements", "sourceNative", "status",
                                                           "observedAt"}));
    return;
  }
  append_facts(html, tools::protocol_facts(model.protocol));
  const Html::Element text = html.in("p", {{"class", "small"}});
  html.link(manifest_link(ManifestKind::benchmark_protocol, model.run.row.protocol),
            "Protocol manifest");
}

void append_environment(Html& html, const RunModel& model) {
  const Html::Element section = open_section(html, "environment", "Environment");
  if (is_serving(model)) {
    const Html::Element list = html.in("dl", {{"class", "facts"}});
    append_fact(html, "hardware", model.run.row.hardware);
    return;
  }
  append_facts(html, tools::environment_facts(model.environment));
  const Html::Element text = html.in("p", {{"class", "small"}});
  html.link(manifest_link(ManifestKind::execution_environment, model.run.row.environment),
            "Environment manifest");
}

// Artifacts that the run or its implementation names, and whether their bytes are here.
Status append_artifacts(Html& html, const Site& site, const RunModel& model) {
  const Html::Element section = open_section(html, "artifacts", "Artifacts");
  struct Named {
    std::string role;
    Digest digest;
  };
  std::vector<Named> named;
  const auto add = [&](std::string_view role, std::string_view text) {
    if (const Result<Digest> digest = Digest::parse(text)) {
      named.push_back({std::string(role), *digest});
    }
  };
  for (const ClaimView& claim : model.provenance.claims) {
    for (const NamedArtifact& artifact : claim.facts.artifacts) {
      named.push_back({artifact.role, artifact.digest});
    }
  }
  const auto of_run = [&](std::initializer_list<std::string_view> path, std::string_view role) {
    if (const json::Value* found = model.manifest.find(path); found != nullptr) {
      add(role, found->text("digest"));
    }
  };
  of_run({"spec", "timing", "rawSamples"}, "raw samples");
  of_run({"spec", "evidence", "rawSamples"}, "raw samples");
  of_run({"spec", "evidence", "logs"}, "log");
  if (const json::Value* source = model.implementation.find({"spec", "source"});
      source != nullptr) {
    add("source of the implementation", source->text("contentDigest"));
  }
  if (named.empty()) {
    html.add("p", {{"class", "soft"}}, "No artifacts published with this run.");
    return {};
  }
  const Html::Element list = html.in("ul", {{"class", "plain"}});
  std::size_t number = 0;
  for (const Named& artifact : named) {
    const Result<bool> kept = site.reader.object_kept(artifact.digest);
    if (!kept) return fail(kept.error());
    const Result<bool> withheld = site.reader.object_withheld(artifact.digest);
    if (!withheld) return fail(withheld.error());
    const Html::Element item = html.in("li");
    html.name(artifact.role);
    html.text(*kept       ? ", its bytes are kept "
              : *withheld ? ", its bytes are withheld "
                          : ", named by digest, its bytes are not held ");
    append_digest(html, artifact.digest, "digest-artifact-" + std::to_string(number++));
  }
  return {};
}

void append_evidence(Html& html, const Site& site, const RunModel& model) {
  const Evidence& evidence = model.run.evidence;
  const Html::Element section = open_section(html, "evidence", "Evidence level");
  {
    const Html::Element line = html.in("p");
    const Html::Element strong = html.in("strong");
    append_level(html, evidence.level);
    html.text(": " + std::string(level_text(evidence.level)) + ".");
  }
  {
    const Html::Element list = html.in("ul", {{"class", "reasons"}});
    for (const LevelReason reason : evidence.reasons) {
      const Html::Element item = html.in("li");
      html.text(reason_text(reason).means).text(" ").add("code", reason_name(reason));
    }
  }
  std::vector<std::string_view> needed;
  for (const LevelReason reason : evidence.reasons) {
    if (!reason_text(reason).needed.empty()) needed.push_back(reason_text(reason).needed);
  }
  if (!needed.empty()) {
    html.add("h3", "What the next level needs");
    const Html::Element list = html.in("ul", {{"class", "reasons"}});
    for (const std::string_view text : needed) html.add("li", text);
  }
  html.add("p", {{"class", "small soft"}},
           "Policy " + std::string(kEvidencePolicy) + ", trust " + std::string(kOwnTrust) +
               ", as of size " + tools::grouped(site.reader.head().size) +
               ". Levels are derived at reading and stored nowhere.");
  const Html::Element links = html.in("p", {{"class", "head-links"}});
  html.link(api_bundle(model.run.digest), "Download the evidence bundle");
  html.link(api_evidence(model.run.digest), "Evidence as JSON");
}

void append_notes(Html& html, const Site& site, const RunModel& model) {
  const Html::Element section = open_section(html, "notes", "Replications and notes");
  append_attempts(html, model.measured);
  if (model.measured.own || !model.measured.about.empty()) html.add("h3", "Community notes");
  const std::vector<const ChainView*> notes = model.notes();
  if (notes.empty()) {
    html.add("p", {{"class", "soft"}}, "No attestations yet.");
  } else {
    std::map<std::string, std::size_t> owners;
    for (const ChainView* note : notes) ++owners[note_owner(site.reader, *note)];
    {
      const Html::Element line = html.in("p", {{"class", "dots"}});
      html.add("span", tools::counted(notes.size(), "note"));
      for (const auto& [owner, count] : owners) {
        const Html::Element span = html.in("span");
        html.text(std::to_string(count) + " by ").name(owner);
      }
    }
    const Html::Element list = html.in("ul", {{"class", "list"}});
    for (const ChainView* note : notes) {
      const Html::Element item = html.in("li");
      {
        const Html::Element text = html.in("p");
        html.name(note->says);
      }
      const Html::Element line = html.in("p", {{"class", "dots small soft"}});
      {
        const Html::Element owner = html.in("span");
        html.name(note_owner(site.reader, *note));
      }
      html.add("span", "entry " + std::to_string(note->index));
      if (!note->counts) html.add("span", "does not count: " + note->reason);
    }
  }
  html.add("p", {{"class", "soft"}},
           "Community attestations. They never change the evidence level; only a "
           "KernelIndex-controlled rerun does.");
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary", "Add a reproduction or note");
  const Html::Element prose = html.in("div", {{"class", "prose"}});
  html.add("p",
           "With a contributor key that this ledger has enrolled; notes are reproduced, "
           "could_not_reproduce, environment_note and regression_observed:");
  append_copyable(html,
                  "kernelindex attest " + model.run.digest.text() +
                      " --type reproduced --text \"…\" --observed-ns 12345",
                  "command-note");
}

// The documents that a reader needs to check the run's digests, as the run page of the forerunner
// had them.
json::Value shown_documents(RunModel& model) {
  json::ObjectBuilder builder(model.documents.arena());
  builder.add("run", model.manifest);
  if (!model.protocol.is_null()) builder.add("protocol", model.protocol);
  if (!model.environment.is_null()) builder.add("environment", model.environment);
  return builder.finish();
}

void append_manifest(Html& html, RunModel& model) {
  const Html::Element section = open_section(html, "manifest", "Canonical manifest");
  if (model.manifest.is_null()) {
    html.add("p", "Its bytes are withheld; the digest and the log entry stay.");
    return;
  }
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary", "Show manifest");
  append_copyable(html, tools::pretty_json(shown_documents(model)), "manifest-text", false);
}

void append_citation(Html& html, const Site& site, const RunModel& model) {
  const Html::Element section = open_section(html, "cite", "Cite this record");
  html.add("p", {{"class", "soft"}}, "Permalink, digest, access date.");
  const std::string permalink = site.options.base_url + run_link(model.run.digest).text();
  const RunRow& row = model.run.row;
  const Html::Element box = html.in("div", {{"class", "copyable"}});
  {
    const Html::Element pre = html.in("pre", {{"id", "citation"}, {"class", "wrap"}});
    html.text(tools::implementation_text(row)).text(", ");
    html.text(readable_name(row.operation_name)).text(", ");
    html.text(tools::value_text(row)).text(" ").text(row.statistic).text(", ");
    html.text(source_title(row.source)).text(" ").text(tools::short_external_id(row)).text(". ");
    html.text(permalink).text(", ").text(model.run.digest.text());
    html.text(", as of size " + std::to_string(site.reader.head().size) + ", accessed ");
    const std::string day = tools::day_text(site.opened_at);
    html.add("time", {{"data-today"}, {"datetime", day}}, day);
  }
  html.add("button",
           {{"type", "button"}, {"class", "quiet"}, {"hidden"}, {"data-copy", "citation"}}, "Copy");
}

void append_report(Html& html, const RunModel& model) {
  const Html::Element section = open_section(html, "report", "Report an issue with this run");
  const Html::Element prose = html.in("div", {{"class", "prose"}});
  html.add("p",
           "Nothing recorded is changed. A maintainer signs what is wrong, with a reason, and it "
           "stands in the chain of the run: a dispute is shown and changes no rank, a retraction "
           "takes the rank away.");
  append_copyable(html, "kernelindex dispute " + model.run.digest.text() + " --reason \"…\"",
                  "command-dispute");
  append_copyable(html, "kernelindex retract " + model.run.digest.text() + " --reason \"…\"",
                  "command-retract");
}

void append_closing(Html& html, const RunModel& model) {
  const RunRow& row = model.run.row;
  const Html::Element section =
      html.in("section", {{"class", "section"}, {"aria-label", "Source"}});
  {
    const Html::Element line = html.in("p", {{"class", "dots"}});
    if (const std::string day = model.published_day(); !day.empty()) {
      html.add("span", "Published " + day);
    }
    html.name_link(source_link(row.source), source_title(row.source));
  }
  const Html::Element line = html.in("p", {{"class", "head-links"}});
  if (row.operation && !is_serving(model)) {
    html.name_link(operation_link(*row.operation),
                   "All results for " + readable_name(row.operation_name) + " →");
  }
  html.link(api_run(model.run.digest), "JSON");
}

}  // namespace

Result<Response> run_page(const Site& site, const Request&, const Captures& captures) {
  Result<Found> found = find_manifest(site, captures, kRunKinds);
  if (!found) return fail(found.error());
  if (auto* elsewhere = std::get_if<Response>(&*found)) return std::move(*elsewhere);
  const Result<std::unique_ptr<RunModel>> read = read_run_model(site, std::get<Digest>(*found));
  if (!read) return fail(read.error());
  RunModel& model = **read;
  Status status;
  Response response = page_response(
      site, {"Run " + model.short_id(), Part::runs, api_run(model.run.digest)}, [&](Html& html) {
        append_head(html, model);
        append_notices(html, model);
        {
          const Html::Element columns = html.in("div", {{"class", "columns lopsided"}});
          append_measure(html, model);
          append_identity(html, model);
        }
        {
          const Html::Element columns = html.in("div", {{"class", "columns"}});
          append_correctness(html, model);
          append_workload(html, model);
          append_measurements(html, model);
          append_protocol(html, model);
          append_environment(html, model);
          status = append_artifacts(html, site, model);
        }
        append_evidence(html, site, model);
        if (model.group && !is_serving(model)) {
          append_record_history(html, *model.group, &model.run.digest);
        }
        append_provenance(html, site, model.provenance);
        append_notes(html, site, model);
        append_manifest(html, model);
        append_citation(html, site, model);
        append_report(html, model);
        append_closing(html, model);
      });
  if (!status) return fail(status.error());
  return response;
}

}  // namespace kernelindex::serve
