// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace_import.h"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "ingest/claim_writer.h"
#include "ingest/kebab.h"
#include "ingest/kernel_manifests.h"
#include "ingest/lower_case.h"
#include "ingest/trace_manifests.h"
#include "ingest/trace_record.h"

namespace kernelindex::ingest {
namespace {

// An operation that was claimed, by its definition.
struct Operation {
  Digest identity;
  std::map<std::string, Digest, std::less<>> cases;  // by key
  std::set<Digest> case_documents;
};

struct Implementation {
  Digest identity;
  std::string directory;
};

class TraceImport {
 public:
  TraceImport(std::span<const RecordedFile> files, const TraceDialect& dialect, DraftSink& sink)
      : files_(files),
        dialect_(dialect),
        sink_(sink),
        writer_(dialect.source(), locators_of(files), sink),
        tree_(files, writer_) {}

  Status run() {
    if (Status read = tree_.read(); !read) return read;
    for (DefinitionRecord& record : tree_.definitions()) {
      if (Status done = claim_definition(record); !done) return done;
    }
    for (const SolutionRecord& record : tree_.solutions()) {
      if (Status done = claim_solution(record); !done) return done;
    }
    for (const TraceFile& traces : tree_.traces()) {
      if (Status done = claim_traces(traces); !done) return done;
    }
    return {};
  }

 private:
  // What a definition became; null when it was set aside.
  Operation* operation_of(const DefinitionRecord& record) {
    const auto found = by_content_.find(record.canonical);
    return found == by_content_.end() ? nullptr : found->second;
  }

  Status claim_definition(DefinitionRecord& record) {
    const KernelDefinition& definition = record.definition;
    Operation* operation = operation_of(record);
    if (operation == nullptr) {
      const std::vector<std::string_view> tags =
          definition.tags.value_or(std::vector<std::string_view>());
      arena_.reset();
      Result<Manifest> made = make_operation(definition, tags, dialect_.operation_url(), arena_);
      if (!made) {
        writer_.quarantine(record.place, made.error());
        for (std::size_t i = 0; i < record.workloads.size(); ++i) {
          sink_.skipped("definition_quarantined");
        }
        return {};
      }
      operation = &operations_.emplace_back(Operation{made->identity, {}, {}});
      by_content_[record.canonical] = operation;
      Draft draft = writer_.draft_of(std::move(*made), record.place);
      draft.external_ids = {writer_.external_id(definition.name)};
      draft.facts.slug = kebab(definition.name);
      draft.facts.aliases = {lower_case(definition.name)};
      draft.facts.tags = shown_tags(tags);
      if (Status claimed = writer_.claim(std::move(draft)); !claimed) return claimed;
    } else {
      sink_.skipped("definition_repeated");
    }
    for (std::size_t i = 0; i < definition.workloads.size(); ++i) {
      const ItemPlace place{record.place.file,
                            record.place.pointer + "/workloads/" + std::to_string(i)};
      const WorkloadEntry& entry = definition.workloads[i];
      if (Status done = claim_listed(record, *operation, entry, key_of(entry), place); !done) {
        return done;
      }
    }
    for (const WorkloadRecord& workload : record.workloads) {
      if (Status done =
              claim_listed(record, *operation, workload.entry, workload.key, workload.place);
          !done) {
        return done;
      }
    }
    return {};
  }

  // A case that a list has.
  Status claim_listed(const DefinitionRecord& record, Operation& operation,
                      const WorkloadEntry& entry, const std::string& key, const ItemPlace& place) {
    Result<std::optional<Digest>> claimed =
        claim_case(record.definition, operation, entry, key, place);
    if (!claimed) return fail(std::move(claimed.error()));
    if (*claimed && !case_is_new_) sink_.skipped("case_repeated");
    return {};
  }

  // The identity of the case; nothing when it was quarantined. The error is the sink's.
  Result<std::optional<Digest>> claim_case(const KernelDefinition& definition, Operation& operation,
                                           const WorkloadEntry& entry, const std::string& key,
                                           const ItemPlace& place) {
    arena_.reset();
    Result<Manifest> made = make_case(definition, operation.identity, entry, key, arena_);
    if (!made) {
      writer_.quarantine(place, made.error());
      return std::nullopt;
    }
    const Digest identity = made->identity;
    case_is_new_ = operation.case_documents.insert(made->document).second;
    operation.cases.try_emplace(key, identity);  // of two under one key the first counts
    if (!case_is_new_) return identity;
    Draft draft = writer_.draft_of(std::move(*made), place);
    draft.external_ids = {writer_.external_id(std::string(definition.name) + "/" + key)};
    if (Status claimed = writer_.claim(std::move(draft)); !claimed) {
      return fail(std::move(claimed.error()));
    }
    return identity;
  }

  Status claim_solution(const SolutionRecord& record) {
    const SolutionDocument& solution = record.solution;
    const Result<DefinitionRecord*> definition =
        tree_.find_definition(solution.definition, record.directory);
    if (!definition) {
      writer_.quarantine(record.place, definition.error());
      return {};
    }
    const Operation* operation = operation_of(**definition);
    if (operation == nullptr) {
      sink_.skipped("definition_quarantined");
      return {};
    }
    arena_.reset();
    Result<SolutionManifests> made =
        dialect_.solution(record, files_[record.place.file].locator, (*definition)->definition,
                          operation->identity, arena_);
    if (!made) {
      writer_.quarantine(record.place, made.error());
      set_aside_.emplace(solution.name);
      return {};
    }
    const Digest identity = made->implementation.identity;
    implementations_[{operation->identity, std::string(solution.name)}].push_back(
        {identity, record.directory});
    if (!solution_documents_.insert({made->implementation.document, made->external_id}).second) {
      sink_.skipped("solution_repeated");
      return {};
    }
    sink_.selected();
    if (!made->hardware_listed) sink_.counted("HARDWARE_UNLISTED", 1);
    const Digest project = made->project.identity;
    if (Status done = writer_.claim_once(made->project, record.place, made->project_slug); !done) {
      return done;
    }
    Draft draft = writer_.draft_of(std::move(made->implementation), record.place);
    draft.external_ids = {writer_.external_id(made->external_id)};
    draft.facts.project = project;
    draft.facts.slug = std::move(made->slug);
    if (Status begun = writer_.begin(record.place.file); !begun) return begun;
    for (const SolutionFile& source : solution.sources) {
      if (source.content.empty()) continue;
      draft.facts.artifacts.push_back(
          {"source", sha256(source.content), std::string(source.path), {}, {}, {}});
      const std::string type(source_media_type(source.path));
      if (Status kept = sink_.artifact({std::string(source.content), type}); !kept) return kept;
    }
    return writer_.claim(std::move(draft));
  }

  Status claim_traces(const TraceFile& traces) {
    const std::string directory = directory_of(files_[traces.file].locator);
    return for_each_json_item(
        files_[traces.file], traces.form, item_arena_, false,
        [&](JsonItem item) { return claim_item(traces, directory, std::move(item)); });
  }

  Status claim_item(const TraceFile& traces, const std::string& directory, JsonItem item) {
    const ItemPlace place{traces.file, std::move(item.pointer)};
    const bool is_trace = item.value && tree_item_of(*item.value) == TreeItem::trace;
    if (!is_trace) {
      if (traces.others_taken) return {};
      writer_.quarantine(place, item.value ? Error{ErrorKind::invalid,
                                                   "UNKNOWN_ITEM",
                                                   {},
                                                   "this is no trace, and the file holds traces",
                                                   {}}
                                           : item.value.error());
      return {};
    }
    tree_.drift().set_place(files_[traces.file].locator, place.pointer);
    const Result<Trace> trace = read_trace(*item.value, tree_.drift());
    if (!trace) {
      writer_.quarantine(place, trace.error());
      return {};
    }
    return claim_trace(*trace, directory, place);
  }

  Status claim_trace(const Trace& trace, const std::string& directory, const ItemPlace& place) {
    const Result<DefinitionRecord*> definition = tree_.find_definition(trace.definition, directory);
    if (!definition) {
      writer_.quarantine(place, definition.error());
      return {};
    }
    Operation* operation = operation_of(**definition);
    if (operation == nullptr) {
      sink_.skipped("definition_quarantined");
      return {};
    }
    const std::string key = key_of(trace.workload);
    if (!trace.evaluation) {
      sink_.skipped("workload_listed");
      return claim_listed(**definition, *operation, trace.workload, key, place);
    }
    const std::optional<Digest> implementation =
        find_implementation(*operation, trace, directory, place);
    if (!implementation) return {};
    std::optional<Digest> workload;
    if (const auto known = operation->cases.find(key); known != operation->cases.end()) {
      workload = known->second;
    } else {
      Result<std::optional<Digest>> claimed =
          claim_case((*definition)->definition, *operation, trace.workload, key, place);
      if (!claimed) return fail(std::move(claimed.error()));
      if (!*claimed) return {};
      workload = **claimed;
    }
    return claim_run(trace, *implementation, *workload, key, place);
  }

  // Nothing when there is none or more than one: that was said then.
  std::optional<Digest> find_implementation(const Operation& operation, const Trace& trace,
                                            std::string_view directory, const ItemPlace& place) {
    const std::string name(trace.solution);
    const auto found = implementations_.find({operation.identity, name});
    if (found == implementations_.end()) {
      if (set_aside_.contains(name)) {
        sink_.skipped("solution_quarantined");
        return std::nullopt;
      }
      sink_.skipped("solution_unknown");
      if (unknown_solutions_.emplace(operation.identity, name).second) {
        writer_.review(place, "NO_SOLUTION",
                       "no solution \"" + name + "\" of the definition " +
                           std::string(trace.definition) +
                           " is among the files given, so its traces were not recorded");
      }
      return std::nullopt;
    }
    std::set<Digest> all;
    for (const Implementation& candidate : found->second) {
      if (candidate.directory == directory) return candidate.identity;
      all.insert(candidate.identity);
    }
    if (all.size() == 1) return *all.begin();
    sink_.skipped("solution_unknown");
    if (unknown_solutions_.emplace(operation.identity, name).second) {
      writer_.review(place, "AMBIGUOUS_SOLUTION",
                     "several solutions \"" + name +
                         "\" that differ are among the files given, so its traces were not "
                         "recorded");
    }
    return std::nullopt;
  }

  Result<const Manifest*> protocol() {
    if (!protocol_) {
      arena_.reset();
      Result<Manifest> made = dialect_.protocol(arena_);
      if (!made) return fail(std::move(made.error()));
      protocol_ = std::move(*made);
    }
    return &*protocol_;
  }

  // Of each hardware with each set of libraries once.
  Result<const Manifest*> environment(const TraceEvaluation& evaluation) {
    std::string key(evaluation.hardware);
    for (const json::Member& library : evaluation.libraries) {
      for (const std::string_view part : {library.name, library.value.string()}) {
        key += '\0';
        key += part;
      }
    }
    const auto known = environments_.find(key);
    if (known != environments_.end()) return &known->second;
    arena_.reset();
    Result<Manifest> made = make_trace_environment(evaluation, arena_);
    if (!made) return fail(std::move(made.error()));
    return &environments_.emplace(std::move(key), std::move(*made)).first->second;
  }

  Status claim_run(const Trace& trace, const Digest& implementation, const Digest& workload,
                   const std::string& key, const ItemPlace& place) {
    const Result<const Manifest*> protocol = this->protocol();
    if (!protocol) return fail(protocol.error());
    const Result<const Manifest*> environment = this->environment(*trace.evaluation);
    if (!environment) {
      writer_.quarantine(place, environment.error());
      return {};
    }
    arena_.reset();
    Result<TraceRun> run = make_trace_run(trace,
                                          {implementation, workload, (*protocol)->identity,
                                           (*environment)->identity, dialect_.source(), key},
                                          arena_);
    if (!run) {
      writer_.quarantine(place, run.error());
      return {};
    }
    const std::string id =
        "trace/" + std::string(trace.solution.empty() ? "unknown" : trace.solution) + "/" + key;
    sink_.selected();
    if (Status done = writer_.claim_once(**protocol, place); !done) return done;
    if (Status done = writer_.claim_once(**environment, place); !done) return done;
    Draft draft = writer_.draft_of(std::move(run->manifest), place);
    draft.external_ids = {writer_.external_id(id)};
    if (run->zone_assumed) draft.facts.marks = {"zone_assumed"};
    if (run->log) {
      draft.facts.artifacts = {{"log", *run->log, {}, {}, {}, {}}};
      if (Status begun = writer_.begin(place.file); !begun) return begun;
      const std::string log(trace.evaluation->log);
      if (Status kept = sink_.artifact({log, "text/plain"}); !kept) return kept;
    }
    return writer_.claim(std::move(draft));
  }

  using SolutionName = std::pair<Digest, std::string>;  // operation and name

  std::span<const RecordedFile> files_;
  const TraceDialect& dialect_;
  DraftSink& sink_;
  ClaimWriter writer_;
  BenchmarkTree tree_;
  json::Arena arena_;       // for the manifest being made
  json::Arena item_arena_;  // for the trace being read
  std::deque<Operation> operations_;
  std::map<Digest, Operation*> by_content_;  // by canonical definition
  bool case_is_new_ = false;                 // what claim_case() found last
  std::map<SolutionName, std::vector<Implementation>> implementations_;
  std::set<std::pair<Digest, std::string>> solution_documents_;  // with their external ids
  std::set<std::string, std::less<>> set_aside_;                 // names of quarantined solutions
  std::set<SolutionName> unknown_solutions_;
  std::optional<Manifest> protocol_;
  std::unordered_map<std::string, Manifest> environments_;
};

}  // namespace

Status import_traces(std::span<const RecordedFile> files, const TraceDialect& dialect,
                     DraftSink& sink) {
  return TraceImport(files, dialect, sink).run();
}

}  // namespace kernelindex::ingest
