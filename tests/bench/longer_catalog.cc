// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/longer_catalog.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/comparison_key.h"
#include "schema/digest.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/manifest.h"
#include "tests/bench/catalog_lines.h"

namespace kernelindex::bench {
namespace {

using json::Member;
using json::Value;

// Texts of a row that get the copy's suffix, by table and path; array items have their array's
// path.
struct Renaming {
  std::string_view table;
  std::string_view path;
  std::size_t bytes_max = 0;  // longer ones are cut, so that the suffix fits
};
constexpr std::size_t kSlug = 100;
constexpr std::size_t kName = 200;
constexpr std::size_t kUrl = 2000;
constexpr Renaming kRenamings[] = {
    {"projects", "slug", kSlug},
    {"projects", "name", kName},
    {"projects", "manifest.metadata.name", kSlug},
    {"projects", "manifest.spec.name", kName},
    {"projects", "manifest.spec.host.id", kName},
    {"operations", "slug", kSlug},
    {"operations", "family", kSlug},
    {"operations", "name", kName},
    {"operations", "manifest.metadata.name", kSlug},
    {"operations", "manifest.metadata.title", kName},
    {"operations", "manifest.spec.family", kSlug},
    {"operation_aliases", "alias", kName},
    {"implementations", "slug", kName},
    {"implementations", "title", kName},
    {"implementations", "manifest.metadata.name", kName},
    {"implementations", "manifest.metadata.title", kName},
    {"implementations", "manifest.metadata.sourceRefs.url", kUrl},
    {"benchmark_runs", "manifest.run.metadata.name", kName},
    {"benchmark_runs", "manifest.run.spec.sourceNative.externalId", kName},
    {"model_revisions", "slug", kSlug},
    {"model_revisions", "name", kName},
    {"model_revisions", "manifest.metadata.name", kSlug},
    {"model_revisions", "manifest.spec.model", kName},
    {"serving_stack_revisions", "slug", kSlug},
    {"serving_stack_revisions", "manifest.metadata.name", kSlug},
    {"serving_stack_revisions", "manifest.spec.project.name", kName},
    {"serving_configurations", "manifest.metadata.name", kSlug},
    {"serving_workloads", "slug", kSlug},
    {"serving_workloads", "name", kName},
    {"serving_workloads", "manifest.metadata.name", kSlug},
    {"serving_workloads", "manifest.spec.dataset.name", kName},
    {"serving_runs", "manifest.metadata.name", kSlug},
    {"serving_runs", "manifest.spec.sourceNative.externalId", kName},
};

// The digest column of a table whose rows hold one manifest; empty for other tables.
std::string_view digest_column(std::string_view table) {
  constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
      {"operations", "semanticDigest"},
      {"workloads", "workloadDigest"},
      {"implementations", "implementationDigest"},
      {"model_revisions", "modelDigest"},
      {"serving_stack_revisions", "stackDigest"},
      {"serving_configurations", "configurationDigest"},
      {"serving_workloads", "workloadDigest"},
      {"serving_runs", "runDigest"}};
  for (const auto& [name, column] : kColumns) {
    if (name == table) return column;
  }
  return {};
}

// Exports keep the members of objects as the database had them, and `table` before `row`.
void append_in_order(const Value& value, std::string& out) {
  const auto items = [&](char open, char close, const auto& all, const auto& append) {
    out += open;
    bool first = true;
    for (const auto& item : all) {
      if (!first) out += ',';
      first = false;
      append(item);
    }
    out += close;
  };
  if (value.is_object()) {
    items('{', '}', value.object(), [&](const Member& member) {
      json::append_string(member.name, out);
      out += ':';
      append_in_order(member.value, out);
    });
  } else if (value.is_array()) {
    items('[', ']', value.array(), [&](const Value& item) { append_in_order(item, out); });
  } else {
    json::append_canonical(value, out);
  }
}

bool names_a_row(std::string_view column) {
  return column == "id" || (column.ends_with("Id") && column != "sourceId");
}

// One copy of the whole catalog: what its rows were renamed to.
class Copy {
 public:
  Copy(unsigned number, const std::vector<std::string>& artifacts)
      : digit_("0123456789abcdef"[number]), suffix_("-copy" + std::to_string(number)) {
    for (const std::string& digest : artifacts) digests_[digest] = sha256(digest + suffix_).text();
  }

  // The row as this copy has it, with its newline.
  Result<std::string> line(std::string_view table, const Value& row, json::Arena& arena) {
    Value renamed = rename_row(table, row, arena);
    if (Status known = recompute(table, row, renamed, arena); !known) return fail(known.error());
    std::string out = "{\"table\":";
    json::append_string(table, out);
    out += ",\"row\":";
    append_in_order(renamed, out);
    return out += "}\n";
  }

 private:
  struct Operation {
    std::string slug;
    std::string title;
  };

  std::string with_suffix(std::string_view text, std::size_t bytes_max) const {
    assert(bytes_max > suffix_.size());
    std::size_t kept = std::min(text.size(), bytes_max - suffix_.size());
    while (kept < text.size() && (text[kept] & 0xC0) == 0x80) --kept;  // not inside a character
    return std::string(text.substr(0, kept)) + suffix_;
  }

  Value rename_row(std::string_view table, const Value& row, json::Arena& arena) const {
    std::vector<Member> members;
    for (const Member& member : row.object()) {
      Value value = rename(table, std::string(member.name), member.value, arena);
      if (names_a_row(member.name) && value.is_string()) {
        value = arena.string(digit_ + std::string(value.string().substr(1)));
      }
      members.push_back({member.name, value});
    }
    const Value renamed = arena.object(members);
    return table == "workloads" ? rename_workload(renamed, row, arena) : renamed;
  }

  Value rename(std::string_view table, const std::string& path, const Value& value,
               json::Arena& arena) const {
    if (value.is_string()) return rename_text(table, path, value, arena);
    if (value.is_array()) {
      std::vector<Value> items;
      for (const Value& item : value.array()) items.push_back(rename(table, path, item, arena));
      return arena.array(items);
    }
    if (!value.is_object()) return value;
    std::vector<Member> members;
    for (const Member& member : value.object()) {
      const std::string inner = path + "." + std::string(member.name);
      members.push_back({member.name, rename(table, inner, member.value, arena)});
    }
    return arena.object(members);
  }

  Value rename_text(std::string_view table, std::string_view path, const Value& value,
                    json::Arena& arena) const {
    const std::string_view text = value.string();
    if (const auto digest = digests_.find(std::string(text)); digest != digests_.end()) {
      return arena.string(digest->second);
    }
    const auto renaming = std::ranges::find_if(
        kRenamings, [&](const Renaming& each) { return each.table == table && each.path == path; });
    if (renaming == std::end(kRenamings)) return value;
    return arena.string(with_suffix(text, renaming->bytes_max));
  }

  // The name and title of a workload begin with those of its operation and end in the key of the
  // case, so the suffix goes between, unless it does not fit.
  Value rename_workload(const Value& renamed, const Value& row, json::Arena& arena) const {
    const auto operation = operations_.find(std::string(row.text("operationId")));
    const Value* metadata = renamed.find({"manifest", "metadata"});
    if (operation == operations_.end() || metadata == nullptr) return renamed;
    const auto insert = [&](const std::string& prefix, const Value& old) {
      const std::string_view text = old.string();
      if (prefix.empty() || !text.starts_with(prefix)) return old;
      if (text.size() + suffix_.size() > kName) return old;
      return arena.string(prefix + suffix_ + std::string(text.substr(prefix.size())));
    };
    std::vector<Member> members(metadata->object().begin(), metadata->object().end());
    for (Member& member : members) {
      if (member.name == "name") member.value = insert(operation->second.slug, member.value);
      if (member.name == "title") member.value = insert(operation->second.title, member.value);
    }
    const Value manifest =
        with(*renamed.find("manifest"), "metadata", arena.object(members), arena);
    return with(renamed, "manifest", manifest, arena);
  }

  // The object with one member replaced.
  static Value with(const Value& object, std::string_view name, const Value& value,
                    json::Arena& arena) {
    std::vector<Member> members(object.object().begin(), object.object().end());
    for (Member& member : members) {
      if (member.name == name) member.value = value;
    }
    return arena.object(members);
  }

  // Gives a column its recomputed value, and remembers it for rows that name it.
  void set_digest(std::string_view column, const Value& row, const Digest& digest, Value& renamed,
                  json::Arena& arena) {
    digests_[std::string(row.text(column))] = digest.text();
    renamed = with(renamed, column, arena.string(digest.text()), arena);
  }

  Status recompute(std::string_view table, const Value& row, Value& renamed, json::Arena& arena) {
    if (table == "benchmark_runs") return recompute_run(row, renamed, arena);
    const std::string_view column = digest_column(table);
    if (column.empty()) return {};
    const Result<Manifest> manifest = make_manifest(*renamed.find("manifest"), arena);
    if (!manifest) return fail(manifest.error());
    set_digest(column, row, manifest->identity, renamed, arena);
    const std::string id(row.text("id"));
    if (table == "operations") {
      const Value* metadata = row.find({"manifest", "metadata"});
      operations_[id] = {std::string(metadata->text("name")), std::string(metadata->text("title"))};
    } else if (table == "workloads") {
      workloads_[id] = std::get<WorkloadFacts>(manifest->facts);
    } else if (table == "model_revisions") {
      tokenizers_[id] = std::get<ModelFacts>(manifest->facts).tokenizer;
    } else if (table == "serving_workloads") {
      serving_workloads_[id] = std::get<ServingWorkloadFacts>(manifest->facts);
    } else if (table == "serving_runs") {
      const Digest key = cohort_key(std::get<ServingRunFacts>(manifest->facts),
                                    serving_workloads_[std::string(row.text("workloadId"))],
                                    tokenizers_[std::string(row.text("modelRevisionId"))]);
      set_digest("cohortKey", row, key, renamed, arena);
    }
    return {};
  }

  Status recompute_run(const Value& row, Value& renamed, json::Arena& arena) {
    const Result<Manifest> run = make_manifest(*renamed.find({"manifest", "run"}), arena);
    if (!run) return fail(run.error());
    set_digest("runDigest", row, run->identity, renamed, arena);
    const Digest key = comparison_key(std::get<BenchmarkRunFacts>(run->facts),
                                      workloads_[std::string(row.text("workloadId"))]);
    set_digest("comparisonKey", row, key, renamed, arena);
    return {};
  }

  char digit_;  // of its row ids, in place of the first
  std::string suffix_;
  std::unordered_map<std::string, std::string> digests_;  // of the catalog to those of this copy
  // By row id of the catalog.
  std::unordered_map<std::string, Operation> operations_;
  std::unordered_map<std::string, WorkloadFacts> workloads_;
  std::unordered_map<std::string, ServingWorkloadFacts> serving_workloads_;
  std::unordered_map<std::string, std::optional<std::string>> tokenizers_;
};

Result<Value> read_line(std::string_view line, json::Arena& arena) {
  Result<Value> document = json::parse(line, arena, {limits::kSourceLineBytes, limits::kJsonDepth});
  if (!document) return fail(document.error());
  if (document->find("row") == nullptr || !document->find("row")->is_object()) {
    return fail(ErrorKind::invalid, "NOT_A_CATALOG", {}, "a line is no row of a catalog");
  }
  return document;
}

}  // namespace

Status write_longer_catalog(std::string_view catalog, unsigned copies,
                            const std::function<Status(std::string_view)>& write) {
  assert(copies >= 1 && copies <= kCopiesMax);
  std::vector<std::string> artifacts;  // they stand behind the rows that name them
  json::Arena arena;
  for (CatalogLines lines(catalog); lines.next();) {
    if (!is_row_of(lines.line(), "artifacts")) continue;
    arena.reset();
    const Result<Value> document = read_line(lines.line(), arena);
    if (!document) return fail(document.error());
    artifacts.emplace_back(document->find("row")->text("contentDigest"));
  }
  std::vector<Copy> all;
  for (unsigned number = 1; number < copies; ++number) all.emplace_back(number, artifacts);

  for (std::string_view rest = catalog; !rest.empty();) {
    const std::string_view table = lines_of_one_table(rest);
    rest.remove_prefix(table.size());
    for (CatalogLines lines(table); lines.next();) {
      if (Status written = write(std::string(lines.line()) + "\n"); !written) return written;
    }
    if (is_row_of(table, "sources")) continue;
    for (Copy& copy : all) {
      for (CatalogLines lines(table); lines.next();) {
        arena.reset();
        const Result<Value> document = read_line(lines.line(), arena);
        if (!document) return fail(document.error());
        const Result<std::string> line =
            copy.line(document->text("table"), *document->find("row"), arena);
        if (!line) return fail(line.error());
        if (Status written = write(*line); !written) return written;
      }
    }
  }
  return {};
}

}  // namespace kernelindex::bench
