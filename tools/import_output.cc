// SPDX-License-Identifier: Apache-2.0
#include "tools/import_output.h"

#include <algorithm>
#include <map>

#include "ingest/sources.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "tools/display_text.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kShown = 20;

void print_rest(Output& out, std::size_t number) {
  if (number <= kShown) return;
  out.write("  and " + counted(number - kShown, "more", "more") + ": --json lists all\n");
}

std::string counts_text(const AppendCounts& counts) {
  return counted(counts.manifests, "manifest") + ", " + counted(counts.snapshots, "snapshot") +
         ", " + counted(counts.artifacts, "artifact") + ", " +
         counted(counts.attestations, "attestation");
}

std::string map_text(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [name, count] : counts) {
    out += (out.empty() ? "" : ", ") + grouped(count) + " " + name;
  }
  return out;
}

void print_findings(Output& out, const ingest::ImportReport& report, ingest::FindingClass kind,
                    std::string_view title, Tone tone) {
  std::size_t number = 0;
  std::string lines;
  for (const ingest::Finding& finding : report.findings) {
    if (finding.kind != kind) continue;
    if (++number > kShown) continue;
    lines += "  " +
             escape_text(finding.code + "  " + finding.locator +
                         (finding.item.empty() ? "" : " " + finding.item) + ": " + finding.reason) +
             "\n";
  }
  if (number == 0) return;
  out.write("\n" + out.terminal().tinted(counted(number, "item") + " " + std::string(title), tone) +
            "\n" + lines);
  print_rest(out, number);
}

std::string_view action_text(ingest::ProposedAction action) {
  switch (action) {
    case ingest::ProposedAction::insert:
      return "insert";
    case ingest::ProposedAction::new_claim:
      return "new claim";
    case ingest::ProposedAction::exists:
      return "exists";
  }
  std::unreachable();
}

// What is new first by kinds, then one by one; what exists only as a number.
void print_proposals(Output& out, const std::vector<ingest::Proposal>& proposals) {
  std::map<std::pair<ingest::ProposedAction, std::string_view>, std::uint64_t> kinds;
  for (const ingest::Proposal& proposal : proposals) {
    ++kinds[{proposal.action, kind_name(proposal.kind)}];
  }
  out.write("\n" + out.terminal().tinted(counted(proposals.size(), "proposal"), Tone::strong) +
            "\n");
  for (const auto& [what, number] : kinds) {
    out.write("  " + pad_right(action_text(what.first), 11) + grouped(number) + " " +
              std::string(what.second) + "\n");
  }
  std::size_t number = 0;
  for (const ingest::Proposal& proposal : proposals) {
    if (proposal.action == ingest::ProposedAction::exists || ++number > kShown) continue;
    out.write("  " + std::string(action_text(proposal.action)) + "  " +
              escape_text(std::string(kind_name(proposal.kind)) + " " + proposal.label + "  (" +
                          proposal.locator + (proposal.item.empty() ? "" : " " + proposal.item) +
                          ")") +
              "\n");
  }
  print_rest(out, number);
}

}  // namespace

void print_import(Output& out, const ingest::ImportReport& report, ImportForm form) {
  const bool dry_run = form != ImportForm::recorded;
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) {
      out.write(out.terminal().tinted(pad_right(name, 10), Tone::dim) + escape_text(text) + "\n");
    }
  };
  if (dry_run) out.write("dry run: nothing was written\n");
  line("source", report.source);
  line("selected", counted(report.selected, "item"));
  line("skipped", map_text(report.skipped));
  line("noted", map_text(report.counted));
  line("claims", map_text(report.claims));
  line(dry_run ? "would add" : "recorded", counts_text(report.recorded));
  line("known", counts_text(report.existing));
  if (const ingest::SourceInfo* source = ingest::find_source(report.source)) {
    line("licence", std::string(source->license) + ". " + std::string(source->terms));
    line("shown as", std::string(source->attribution));
  }
  line("log", "size " + grouped(report.head.size) + ", root " + report.head.root.text());
  if (form == ImportForm::review) print_proposals(out, report.proposals);
  print_findings(out, report, ingest::FindingClass::quarantined, "set aside, not recorded",
                 Tone::bad);
  print_findings(out, report, ingest::FindingClass::review, "to review", Tone::warning);
  print_findings(out, report, ingest::FindingClass::drift, "with members we do not know",
                 Tone::warning);
}

std::string imports_json(const std::vector<ingest::ImportReport>& reports,
                         const std::vector<std::string>* unclaimed) {
  if (unclaimed == nullptr && reports.size() == 1) return reports.front().json() + "\n";
  json::Arena arena;
  json::ObjectBuilder document(arena);
  std::vector<json::Value> imports;
  for (const ingest::ImportReport& report : reports) {
    imports.push_back(json::parse(report.json(), arena, {limits::kSourceJsonBytes}).value());
  }
  if (imports.size() == 1) {
    for (const json::Member& member : imports.front().object()) {
      document.add(member.name, member.value);
    }
  } else {
    document.add("imports", arena.array(imports));
  }
  std::vector<json::Value> locators;
  if (unclaimed == nullptr) return json::canonical(document.finish()) + "\n";
  for (const std::string& locator : *unclaimed) locators.push_back(arena.string(locator));
  document.add("unclaimed", arena.array(locators));
  return json::canonical(document.finish()) + "\n";
}

void print_unclaimed(Output& out, const std::vector<std::string>& unclaimed) {
  if (unclaimed.empty()) return;
  out.write(
      "\n" +
      out.terminal().tinted(counted(unclaimed.size(), "file") + " of no source", Tone::warning) +
      "\n");
  for (std::size_t i = 0; i < std::min(unclaimed.size(), kShown); ++i) {
    out.write("  " + escape_text(unclaimed[i]) + "\n");
  }
  print_rest(out, unclaimed.size());
}

}  // namespace kernelindex::tools
