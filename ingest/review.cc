// SPDX-License-Identifier: Apache-2.0
#include "ingest/review.h"

#include <algorithm>
#include <map>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

// A review lists what an import finds in documents of up to 64 MiB.
constexpr std::size_t kMaxReviewBytes = 4 * limits::kSourceJsonBytes;

std::unexpected<Error> malformed(std::string message) {
  return fail(ErrorKind::invalid, "REVIEW_MALFORMED", {}, std::move(message),
              "Write it again with --review");
}

Value count(std::uint64_t number) { return Value(static_cast<double>(number)); }

std::string_view action_name(ProposedAction action) {
  switch (action) {
    case ProposedAction::insert:
      return "insert";
    case ProposedAction::new_claim:
      return "newClaim";
    case ProposedAction::exists:
      return "exists";
  }
  std::unreachable();
}

Value text_list(Arena& arena, const std::vector<std::string>& texts) {
  std::vector<Value> out;
  for (const std::string& text : texts) out.push_back(arena.string(text));
  return arena.array(out);
}

Value proposal_value(Arena& arena, const Proposal& proposal) {
  return arena.object({{"action", arena.string(action_name(proposal.action))},
                       {"kind", arena.string(kind_name(proposal.kind))},
                       {"identity", arena.string(proposal.identity.text())},
                       {"document", arena.string(proposal.document.text())},
                       {"label", arena.string(proposal.label)},
                       {"source", arena.string(proposal.source)},
                       {"externalIds", text_list(arena, proposal.external_ids)},
                       {"locator", arena.string(proposal.locator)},
                       {"item", arena.string(proposal.item)}});
}

Value proposed_counts(Arena& arena, const std::vector<Proposal>& proposals) {
  std::map<std::string_view, std::map<std::string_view, std::uint64_t>> counts;
  for (const Proposal& proposal : proposals) {
    ++counts[action_name(proposal.action)][kind_name(proposal.kind)];
  }
  ObjectBuilder out(arena);
  for (const std::string_view action : {"insert", "newClaim", "exists"}) {
    ObjectBuilder kinds(arena);
    for (const auto& [kind, number] : counts[action]) kinds.add(kind, count(number));
    out.add(action, kinds.finish());
  }
  return out.finish();
}

void add_proposals(Arena& arena, const std::vector<Proposal>& proposals, ObjectBuilder& out) {
  std::vector<Value> listed;
  Sha256 hash;
  for (const Proposal& proposal : proposals) {
    const Value value = proposal_value(arena, proposal);
    hash.update(json::canonical(value));
    hash.update("\n");
    if (listed.size() < kProposalsListed) listed.push_back(value);
  }
  out.add("proposed", proposed_counts(arena, proposals));
  out.add("proposals", arena.array(listed));
  out.add("proposalsDigest", hash.finish().text());
}

std::string plan_text(const ReviewedImport& import) {
  const AppendCounts& fresh = import.report.recorded;
  return "record " + std::to_string(fresh.manifests) + " claims, " +
         std::to_string(fresh.artifacts) + " artifacts and " + std::to_string(fresh.snapshots) +
         " snapshots, with " + std::to_string(fresh.attestations) + " withdrawals (" +
         std::to_string(import.report.existing.manifests) + " claims are there) of source '" +
         std::string(import.source->name) + "'";
}

Value import_value(Arena& arena, const ReviewedImport& import) {
  const SourceInfo& source = *import.source;
  ObjectBuilder out(arena);
  out.add("title", source.title).add("url", source.url);
  out.add("parser", source.parser).add("parserVersion", source.parser_version);
  out.add("options", json::parse(import.options.json(), arena).value());
  std::vector<Value> files;
  for (const RecordedFile& file : import.files) {
    ObjectBuilder value(arena);
    value.add("locator", file.locator);
    value.add_if(file.digest.has_value(), "digest", file.digest.value_or(Digest{}).text());
    value.add("acquired", file.fetched_at.empty() ? "supplied" : "fetched");
    value.add_if(!file.fetched_at.empty(), "fetchedAt", file.fetched_at);
    files.push_back(value.finish());
  }
  out.add("files", arena.array(files));
  // The report's own document, whose `recorded` is what would be.
  const Value report =
      json::parse(import.report.json(), arena, {kMaxReviewBytes, limits::kJsonDepth}).value();
  for (const json::Member& member : report.object()) {
    if (member.name == "size" || member.name == "root") continue;
    out.add(member.name == "recorded" ? "wouldRecord" : member.name, member.value);
  }
  add_proposals(arena, import.report.proposals, out);
  out.add("plan", plan_text(import));
  return out.finish();
}

Result<Value> parse_review(std::string_view text, Arena& arena) {
  Result<Value> value = json::parse(text, arena, {kMaxReviewBytes, limits::kJsonDepth});
  if (!value) return malformed("the review is not JSON: " + value.error().message);
  const Value* version = value->find("v");
  if (version == nullptr || !version->is_number() || version->number() != 1) {
    return malformed("this is no review of a version that this program knows");
  }
  return value;
}

Result<std::vector<std::string>> texts_of(const Value& review, std::string_view name) {
  const Value* list = review.find(name);
  if (list == nullptr || !list->is_array()) {
    return malformed("the review has no list of " + std::string(name));
  }
  std::vector<std::string> out;
  for (const Value& item : list->array()) {
    if (!item.is_string()) return malformed("in " + std::string(name) + " stands no text");
    out.emplace_back(item.string());
  }
  return out;
}

std::string shown(const Value* value) {
  constexpr std::size_t kShown = 120;
  if (value == nullptr) return "nothing";
  const std::string text = json::canonical(*value);
  return text.size() <= kShown ? text : text.substr(0, kShown) + "...";
}

// Empty when they are the same.
std::string difference(const Value* before, const Value* now, const std::string& place) {
  if (before != nullptr && now != nullptr) {
    if (before->is_object() && now->is_object()) {
      for (const json::Member& member : before->object()) {
        const std::string deeper = difference(&member.value, now->find(member.name),
                                              place + "/" + std::string(member.name));
        if (!deeper.empty()) return deeper;
      }
      for (const json::Member& member : now->object()) {
        if (before->find(member.name) == nullptr) {
          return difference(nullptr, &member.value, place + "/" + std::string(member.name));
        }
      }
      return {};
    }
    if (before->is_array() && now->is_array()) {
      const auto old_items = before->array();
      const auto new_items = now->array();
      for (std::size_t i = 0; i < std::max(old_items.size(), new_items.size()); ++i) {
        const std::string deeper = difference(i < old_items.size() ? &old_items[i] : nullptr,
                                              i < new_items.size() ? &new_items[i] : nullptr,
                                              place + "/" + std::to_string(i));
        if (!deeper.empty()) return deeper;
      }
      return {};
    }
    if (json::canonical(*before) == json::canonical(*now)) return {};
  }
  return place + ": " + shown(before) + " was reviewed, " + shown(now) + " is there now";
}

}  // namespace

std::string review_json(const Review& review) {
  Arena arena;
  ObjectBuilder out(arena);
  out.add("v", count(1)).add("ledger", review.ledger_id.text());
  if (!review.imports.empty()) {
    const TreeHead& head = review.imports.front().report.head;
    out.add("asOf",
            arena.object({{"size", count(head.size)}, {"root", arena.string(head.root.text())}}));
  }
  out.add("paths", text_list(arena, review.paths));
  out.add_if(!review.named_source.empty(), "sourceWord", review.named_source);
  out.add("operations", text_list(arena, review.operations));
  out.add("unclaimed", text_list(arena, review.unclaimed));
  std::vector<Value> imports;
  for (const ReviewedImport& import : review.imports) {
    imports.push_back(import_value(arena, import));
  }
  out.add("imports", arena.array(imports));
  return json::canonical(out.finish());
}

Result<ReviewRequest> parse_review_request(std::string_view text) {
  Arena arena;
  const Result<Value> review = parse_review(text, arena);
  if (!review) return fail(review.error());
  ReviewRequest out;
  Result<std::vector<std::string>> paths = texts_of(*review, "paths");
  if (!paths) return fail(paths.error());
  Result<std::vector<std::string>> operations = texts_of(*review, "operations");
  if (!operations) return fail(operations.error());
  out.paths = std::move(*paths);
  out.operations = std::move(*operations);
  out.named_source = review->text("sourceWord");
  const Value* imports = review->find("imports");
  if (imports == nullptr || !imports->is_array() || imports->array().empty()) {
    return malformed("the review is of no import");
  }
  const Value* options = imports->array().front().find("options");
  if (options == nullptr) return malformed("the review names no options");
  Result<ImportOptions> parsed = ImportOptions::parse(json::canonical(*options));
  if (!parsed) return fail(parsed.error());
  out.options = std::move(*parsed);
  return out;
}

Result<std::string> review_difference(std::string_view reviewed, std::string_view now) {
  Arena arena;
  const Result<Value> before = parse_review(reviewed, arena);
  if (!before) return fail(before.error());
  const Result<Value> after = parse_review(now, arena);
  if (!after) return fail(after.error());
  const auto without_head = [&](const Value& review) {
    ObjectBuilder out(arena);
    for (const json::Member& member : review.object()) {
      if (member.name != "asOf") out.add(member.name, member.value);
    }
    return out.finish();
  };
  const Value old_review = without_head(*before);
  const Value new_review = without_head(*after);
  return difference(&old_review, &new_review, "");
}

}  // namespace kernelindex::ingest
