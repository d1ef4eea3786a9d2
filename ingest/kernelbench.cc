// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelbench.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ingest/claim_writer.h"
#include "ingest/json_items.h"
#include "ingest/kebab.h"
#include "ingest/kernelbench_result.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/utc_time.h"
#include "schema/yaml_reader.h"

namespace kernelindex::ingest {
namespace {

using json::Member;
using json::Value;

constexpr std::string_view kSource = "kernelbench";
constexpr std::string_view kLocalSource = "local";  // as `add` has it
constexpr std::string_view kFilePrefix = "baseline_time_";

// "H100_Modal" and "torch" of "results/timing/H100_Modal/baseline_time_torch.json".
KernelbenchProblem problem_of_file(std::string_view locator) {
  KernelbenchProblem out;
  const std::size_t slash = locator.rfind('/');
  std::string_view name = locator;
  if (slash != std::string_view::npos) {
    name = locator.substr(slash + 1);
    const std::string_view folder = locator.substr(0, slash);
    const std::size_t above = folder.rfind('/');
    out.host = above == std::string_view::npos ? folder : folder.substr(above + 1);
  }
  if (name.starts_with(kFilePrefix)) name.remove_prefix(kFilePrefix.size());
  out.variant = name.substr(0, name.rfind(".json"));
  if (out.host.empty()) out.host = "unknown";
  return out;
}

// A member name inside a JSON pointer (RFC 6901).
std::string pointer_part(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

class KernelbenchImport {
 public:
  KernelbenchImport(std::span<const RecordedFile> files, const KernelbenchOptions& options,
                    DraftSink& sink)
      : files_(files),
        options_(options),
        sink_(sink),
        writer_(kSource, locators_of(files), sink),
        drift_(sink) {}

  Status run() {
    std::vector<std::size_t> timings;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      const Result<std::string> beginning = read_beginning(files_[file], kBeginningBytes);
      if (!beginning) return fail(beginning.error());
      if (begins_kernelbench_timings(*beginning)) {
        timings.push_back(file);
      } else if (Status read = read_manifest_file(file); !read) {
        return read;
      }
    }
    if (timings.empty()) {
      return fail(ErrorKind::invalid, "NOT_A_TIMING", {},
                  "none of the files given holds baseline timings of KernelBench",
                  "Give results/timing of its repository");
    }
    for (const std::size_t file : timings) {
      if (Status read = read_timings(file); !read) return read;
    }
    return {};
  }

 private:
  struct Supplied {
    Manifest manifest;
    std::size_t file = 0;
    bool claimed = false;
  };

  // An operation or a suite that the operator wrote.
  Status read_manifest_file(std::size_t file) {
    const Result<std::string> text = read_whole(files_[file]);
    if (!text && text.error().kind != ErrorKind::invalid) return fail(text.error());
    const bool manifest = text && text->find("apiVersion") != std::string::npos;
    if (!manifest) {
      writer_.review({file, {}}, "UNKNOWN_FILE",
                     "neither timings nor a manifest, so it was left aside");
      return {};
    }
    Result<Manifest> read = read_manifest_file_text(*text);
    if (!read) {
      writer_.quarantine({file, {}}, read.error());
      return {};
    }
    if (read->kind != ManifestKind::operation_spec && read->kind != ManifestKind::workload_suite) {
      writer_.review({file, {}}, "UNKNOWN_FILE", "neither an operation nor a suite");
      return {};
    }
    const std::string name = read->name;
    if (!supplied_.try_emplace(name, Supplied{std::move(*read), file}).second) {
      writer_.review({file, {}}, "NAME_REPEATED",
                     "another file has a manifest of the name " + name + ", and that was taken");
    }
    return {};
  }

  Status read_timings(std::size_t file) {
    if (Status begun = writer_.begin(file); !begun) return begun;
    const Result<std::string> text = read_whole(files_[file]);
    if (!text && text.error().kind != ErrorKind::invalid) return fail(text.error());
    item_arena_.reset();
    defects_.clear();
    const Result<Value> document =
        text ? json::parse_collecting_defects(
                   *text, item_arena_, {limits::kSourceJsonBytes, limits::kJsonDepth}, defects_)
             : Result<Value>(fail(text.error()));
    if (!document || !document->is_object()) {
      writer_.quarantine(
          {file, {}},
          document ? Error{ErrorKind::invalid, "BAD_SHAPE", {}, "expected an object of levels", {}}
                   : document.error());
      return {};
    }
    KernelbenchProblem problem = problem_of_file(files_[file].locator);
    for (const Member& level : document->object()) {
      problem.level = level.name;
      const ItemPlace place{file, "/" + pointer_part(level.name)};
      if (!level.value.is_object()) {
        writer_.quarantine(
            place, {ErrorKind::invalid, "BAD_SHAPE", {}, "expected an object of problems", {}});
        continue;
      }
      for (const Member& timing : level.value.object()) {
        std::string_view name = timing.name;
        if (name.ends_with(".py")) name.remove_suffix(3);
        problem.name = name;
        const ItemPlace of{file, place.pointer + "/" + pointer_part(timing.name)};
        if (Status taken = take(timing.value, problem, of); !taken) return taken;
      }
    }
    return {};
  }

  Status take(const Value& value, const KernelbenchProblem& problem, const ItemPlace& place) {
    if (value.is_null()) {
      sink_.skipped("failed");
      return {};
    }
    if (const json::Defect* defect = json::defect_within(defects_, value)) {
      writer_.quarantine(place,
                         {ErrorKind::invalid, std::string(defect->code), {}, defect->message, {}});
      return {};
    }
    drift_.set_place(files_[place.file].locator, place.pointer);
    const Result<KernelbenchResult> result = read_kernelbench_result(value, drift_);
    if (!result) {
      writer_.quarantine(place, result.error());
      return {};
    }
    const std::string name = kernelbench_operation_name(problem.level, problem.name);
    const auto operation = supplied_.find(name);
    const auto suite = supplied_.find(name + "-suite");
    if (operation == supplied_.end() || suite == supplied_.end()) {
      return list(place, problem, value, "NO_OPERATION", "no_operation",
                  "the source states no shapes, and no manifests \"" + name + "\" and \"" + name +
                      "-suite\" were given");
    }
    if (options_.observed_at.empty()) {
      return list(place, problem, value, "NO_TIME", "no_time",
                  "the source states no time, and none was given");
    }
    return record(place, problem, *result, operation->second, suite->second);
  }

  // The result as the source says it, in the report alone.
  Status list(const ItemPlace& place, const KernelbenchProblem& problem, const Value& value,
              std::string code, std::string_view reason, const std::string& why) {
    sink_.skipped(reason);
    writer_.review(place, std::move(code),
                   problem.id() + " " + json::canonical(value) + ": " + why);
    return {};
  }

  // What the operator wrote is the operator's claim, not the source's.
  Status claim_supplied(Supplied& supplied) {
    if (std::exchange(supplied.claimed, true)) return {};
    Draft draft = writer_.draft_of(supplied.manifest, {supplied.file, {}});
    draft.source = kLocalSource;
    if (supplied.manifest.kind == ManifestKind::operation_spec) {
      draft.facts.slug = kebab(supplied.manifest.name);
    }
    return writer_.claim(std::move(draft));
  }

  Status record(const ItemPlace& place, const KernelbenchProblem& problem,
                const KernelbenchResult& result, Supplied& operation, Supplied& suite) {
    arena_.reset();
    Result<KernelbenchManifests> made =
        make_kernelbench_result(result, problem, operation.manifest.identity,
                                suite.manifest.identity, options_.observed_at, arena_);
    if (!made) {
      writer_.quarantine(place, made.error());
      return {};
    }
    sink_.selected();
    if (!made->hardware_listed) sink_.counted("HARDWARE_UNLISTED", 1);
    const std::string id = problem.level + "/" + problem.name;
    if (Status done = claim_supplied(operation); !done) return done;
    if (Status done = claim_supplied(suite); !done) return done;
    if (Status done = writer_.claim_once(made->project, place, "kernelbench-pytorch"); !done) {
      return done;
    }
    if (implementations_.insert(made->implementation.document).second) {
      Draft draft = writer_.draft_of(std::move(made->implementation), place);
      draft.external_ids = {writer_.external_id(problem.variant + "/" + id)};
      draft.facts.project = made->project.identity;
      draft.facts.slug = kebab("kernelbench-" + problem.variant + "-" + problem.name);
      if (Status done = writer_.claim(std::move(draft)); !done) return done;
    }
    if (Status done = writer_.claim_once(made->protocol, place); !done) return done;
    if (Status done = writer_.claim_once(made->environment, place); !done) return done;
    Draft draft = writer_.draft_of(std::move(made->run), place);
    draft.external_ids = {writer_.external_id(problem.id())};
    draft.facts.marks = {"observed_at_by_operator"};
    return writer_.claim(std::move(draft));
  }

  std::span<const RecordedFile> files_;
  const KernelbenchOptions& options_;
  DraftSink& sink_;
  ClaimWriter writer_;
  DriftLog drift_;
  json::Arena item_arena_;  // the file being read
  json::Arena arena_;       // for the manifests being made
  std::vector<json::Defect> defects_;
  std::map<std::string, Supplied> supplied_;  // by metadata.name
  std::set<Digest> implementations_;          // documents
};

}  // namespace

Status import_kernelbench(std::span<const RecordedFile> files, const KernelbenchOptions& options,
                          DraftSink& sink) {
  if (!options.observed_at.empty() && !parse_utc_instant(options.observed_at)) {
    return fail(ErrorKind::usage, "BAD_OPTIONS", options.observed_at,
                "the time of the results is written 2026-06-29T21:49:23Z");
  }
  return KernelbenchImport(files, options, sink).run();
}

bool begins_kernelbench_timings(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || beginning[start] != '{') return false;
  const auto names = [&](std::string_view name) { return beginning.find(name) != beginning.npos; };
  return names("\"level") && names(".py\"") && (names("\"mean\"") || names("null"));
}

}  // namespace kernelindex::ingest
