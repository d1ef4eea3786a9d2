// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ledger/query.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/progress.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/units.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "FROM", .help = "the smaller size", .kind = ValueKind::count, .required = true},
    {.name = "TO", .help = "the larger size", .kind = ValueKind::count, .required = true},
};
constexpr std::string_view kExamples[] = {"diff 7 220", "diff 7 220 --json"};

struct Difference {
  TreeHead from;
  TreeHead to;
  ProofVerdict consistency;
  std::map<std::string, std::map<std::string, std::uint64_t>> entries;  // type, then what
  std::vector<RecordView> moves;  // that were not there before
};

struct Sort {
  const Entry& entry;
  std::pair<std::string, std::string> operator()(const ManifestEntry& body) const {
    return {"manifests", std::string(kind_name(body.kind))};
  }
  std::pair<std::string, std::string> operator()(const SnapshotEntry& body) const {
    return {"snapshots", body.source};
  }
  std::pair<std::string, std::string> operator()(const ArtifactEntry&) const {
    return {"artifacts", entry.content.media_type};
  }
  std::pair<std::string, std::string> operator()(const AttestationEntry& body) const {
    const std::string_view uri = body.predicate_type;
    return {"attestations",
            std::string(uri.starts_with(kPredicateBase) ? uri.substr(kPredicateBase.size()) : uri)};
  }
};

// A move of a record, whatever else is known of it by then.
auto place_of(const RecordView& move) { return std::tie(move.key, move.source, move.run); }

Result<std::vector<RecordView>> moves_at(const Reader& reader, std::uint64_t size) {
  ReadPolicy policy;
  if (size != reader.head().size) policy.as_of = size;
  return list_records(reader, {}, policy);
}

Status compare_moves(const Reader& reader, Difference& difference) {
  const Result<std::vector<RecordView>> before = moves_at(reader, difference.from.size);
  if (!before) return fail(before.error());
  Result<std::vector<RecordView>> after = moves_at(reader, difference.to.size);
  if (!after) return fail(after.error());
  std::set<std::tuple<Digest, std::string, Digest>> known;
  for (const RecordView& move : *before) known.insert(place_of(move));
  for (RecordView& move : *after) {
    if (!known.contains(place_of(move))) difference.moves.push_back(std::move(move));
  }
  return {};
}

Result<Difference> compare(const Session& session, const Reader& reader, std::uint64_t from,
                           std::uint64_t to) {
  Difference out;
  out.from.size = from;
  out.to.size = to;
  for (TreeHead* head : {&out.from, &out.to}) {
    const Result<Digest> root = reader.root_at(head->size);
    if (!root) return fail(root.error());
    head->root = *root;
  }
  Proof proof;
  if (from > 0) {
    Result<Proof> made = reader.consistency_proof(from, to);
    if (!made) return fail(made.error());
    proof = std::move(*made);
  }
  out.consistency = verify_consistency(out.from, out.to, proof);
  Progress progress("comparing", session.quiet());
  for (std::uint64_t index = from; index < to; ++index) {
    const Result<Entry> entry = reader.entry(index);
    if (!entry) return fail(entry.error());
    const auto [type, what] = std::visit(Sort{*entry}, entry->body);
    ++out.entries[type][what];
    progress.update(index - from, to - from, "entries");
  }
  if (Status status = compare_moves(reader, out); !status) return fail(status.error());
  return out;
}

void print_json(Output& out, const Difference& difference) {
  json::Arena arena;
  const JsonOutput json(arena);
  const auto head = [&](const TreeHead& tree) {
    return json.object()
        .add("size", json.count(tree.size))
        .add("root", json.digest(tree.root))
        .finish();
  };
  json::ObjectBuilder entries = json.object();
  for (const auto& [type, kinds] : difference.entries) {
    json::ObjectBuilder counts = json.object();
    for (const auto& [kind, count] : kinds) counts.add(kind, json.count(count));
    entries.add(type, counts.finish());
  }
  std::vector<json::Value> records;
  for (const RecordView& move : difference.moves) records.push_back(record_document(json, move));
  out.document(json.object()
                   .add("from", head(difference.from))
                   .add("to", head(difference.to))
                   .add("consistent", json::Value(difference.consistency.ok()))
                   .add("entries", entries.finish())
                   .add("records", json.array(records))
                   .finish());
}

void print_text(Output& out, const Difference& difference) {
  out.write("from size " + grouped(difference.from.size) + ", root " + difference.from.root.text() +
            "\n  to size " + grouped(difference.to.size) + ", root " + difference.to.root.text() +
            "\n" +
            (difference.consistency.ok()
                 ? "the first is a prefix of the second\n"
                 : escape_text("NOT a prefix: " + difference.consistency.detail) + "\n"));
  if (!difference.entries.empty()) out.write("\n");
  for (const auto& [type, kinds] : difference.entries) {
    for (const auto& [kind, count] : kinds) {
      out.write(pad_left("+" + grouped(count), 8) + "  " + pad_right(type, 13) + escape_text(kind) +
                "\n");
    }
  }
  if (difference.moves.empty()) return;
  out.write("\n" + out.terminal().tinted("Records that moved", Tone::strong) + "\n");
  Table table({{"OBSERVED"},
               {"VALUE", Align::right},
               {"OPERATION", Align::left, 20},
               {"IMPLEMENTATION", Align::left, 12},
               {"SOURCE", Align::left, 8},
               {""}});
  for (const RecordView& move : difference.moves) {
    table.add({{day_text(move.at)},
               {format_quantity(move.value, move.unit)},
               {move.operation_name},
               {std::string(without_ending(move.implementation_name, move.operation_name))},
               {move.source},
               {move.late ? "LATE" : "", Tone::warning}});
  }
  out.write(table.text(out.terminal()));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const std::uint64_t from = *arguments.count("FROM");
  const std::uint64_t to = *arguments.count("TO");
  if (from > to) {
    return fail(ErrorKind::usage, "USAGE", "", "diff: the first size is larger than the second",
                "Give the smaller one first");
  }
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  if (to > reader.head().size) {
    return fail(ErrorKind::not_found, "SIZE_OUT_OF_RANGE", "size " + std::to_string(to),
                "the log has " + counted(reader.head().size, "entry", "entries"));
  }
  const Result<Difference> difference = compare(session, reader, from, to);
  if (!difference) return fail(difference.error());
  if (session.out().for_people()) {
    print_text(session.out(), *difference);
  } else {
    print_json(session.out(), *difference);
  }
  return difference->consistency.ok() ? ExitCode::done : ExitCode::corrupt;
}

}  // namespace

constexpr Verb kDiffVerb{
    .name = "diff",
    .summary = "say what was recorded between two sizes, and which records moved",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
