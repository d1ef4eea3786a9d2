// SPDX-License-Identifier: Apache-2.0
#include "ingest/mlperf_inference.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "ingest/claim_writer.h"
#include "ingest/json_items.h"
#include "ingest/mlperf_result.h"

namespace kernelindex::ingest {
namespace {

constexpr std::string_view kSource = "mlperf-inference";

class MlperfImport {
 public:
  MlperfImport(std::span<const RecordedFile> files, DraftSink& sink)
      : files_(files), sink_(sink), writer_(kSource, locators_of(files), sink), drift_(sink) {}

  Status run() {
    bool any = false;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      Result<std::string> beginning = read_beginning(files_[file], kBeginningBytes);
      if (!beginning) return fail(std::move(beginning.error()));
      if (!begins_mlperf_summary(*beginning)) {
        writer_.review({file, {}}, "UNKNOWN_FILE", "no summary of results, so it was left aside");
        continue;
      }
      any = true;
      if (Status begun = writer_.begin(file); !begun) return begun;
      Status done = for_each_json_item(files_[file], JsonForm::document, item_arena_, false,
                                       [&](JsonItem item) {
                                         return take({file, std::move(item.pointer)}, item.value);
                                       });
      if (!done) return done;
    }
    if (any) return {};
    return fail(ErrorKind::invalid, "NOT_A_SUMMARY", {},
                "none of the files given is a summary of an MLPerf Inference round",
                "Give summary_results.json of a results repository");
  }

 private:
  Status take(const ItemPlace& place, const Result<json::Value>& value) {
    if (!value) {
      writer_.quarantine(place, value.error());
      return {};
    }
    if (value->is_object()) {
      const std::string_view reason = mlperf_skip_reason(*value);
      if (!reason.empty()) {
        sink_.skipped(reason);
        return {};
      }
    }
    drift_.set_place(files_[place.file].locator, place.pointer);
    const Result<MlperfResult> result = read_mlperf_result(*value, drift_);
    if (!result) {
      writer_.quarantine(place, result.error());
      return {};
    }
    arena_.reset();
    Result<MlperfManifests> made = make_mlperf_result(*result, arena_);
    if (!made) {
      writer_.quarantine(place, made.error());
      return {};
    }
    if (!made->has_limits) drift_.unknown_value("result", "Scenario", result->scenario);
    sink_.selected();
    return claim(place, std::move(*made));
  }

  Status claim(const ItemPlace& place, MlperfManifests made) {
    if (Status done = writer_.claim_once(made.model, place, made.model_slug); !done) return done;
    if (Status done = writer_.claim_once(made.project, place, made.project_slug); !done) {
      return done;
    }
    if (stacks_.insert(made.stack.document).second) {
      Draft draft = writer_.draft_of(std::move(made.stack), place);
      draft.facts.project = made.project.identity;
      draft.facts.slug = std::move(made.stack_slug);
      if (Status done = writer_.claim(std::move(draft)); !done) return done;
    }
    if (Status done = writer_.claim_once(made.configuration, place); !done) return done;
    if (Status done = writer_.claim_once(made.workload, place, made.workload_slug); !done) {
      return done;
    }
    Draft run = writer_.draft_of(std::move(made.run), place);
    run.external_ids = {writer_.external_id(made.external_id)};
    return writer_.claim(std::move(run));
  }

  std::span<const RecordedFile> files_;
  DraftSink& sink_;
  ClaimWriter writer_;
  DriftLog drift_;
  json::Arena item_arena_;  // the list
  json::Arena arena_;       // for the manifests being made
  std::set<Digest> stacks_;
};

}  // namespace

Status import_mlperf_inference(std::span<const RecordedFile> files, DraftSink& sink) {
  return MlperfImport(files, sink).run();
}

bool begins_mlperf_summary(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || beginning[start] != '[') return false;
  const auto names = [&](std::string_view name) { return beginning.find(name) != beginning.npos; };
  return names("\"Submitter\"") && names("\"Performance_Units\"") && names("\"Scenario\"");
}

}  // namespace kernelindex::ingest
