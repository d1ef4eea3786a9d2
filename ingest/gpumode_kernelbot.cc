// SPDX-License-Identifier: Apache-2.0
#include "ingest/gpumode_kernelbot.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/claim_writer.h"
#include "ingest/json_items.h"
#include "ingest/kebab.h"
#include "ingest/kernelbot_board.h"
#include "ingest/kernelbot_choice.h"
#include "ingest/kernelbot_submission.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

constexpr std::string_view kSource = "gpumode-kernelbot";
constexpr std::string_view kLicense = "LicenseRef-GPUMode-Reciprocity-1.0";

bool names_member(std::string_view beginning, std::string_view name) {
  return beginning.find("\"" + std::string(name) + "\"") != std::string_view::npos;
}

// A page of the list of boards names their devices, one of submissions does not.
bool begins_board_page(std::string_view beginning) {
  return names_member(beginning, "gpu_types") && !names_member(beginning, "submission_id");
}

class KernelbotImport {
 public:
  KernelbotImport(std::span<const RecordedFile> files, const GpumodeKernelbotOptions& options,
                  DraftSink& sink)
      : files_(files),
        options_(options),
        sink_(sink),
        writer_(kSource, locators_of(files), sink),
        drift_(sink) {}

  Status run() {
    if (Status sorted = sort_files(); !sorted) return sorted;
    for (const std::size_t file : board_pages_) {
      if (Status read = read_boards(file); !read) return read;
    }
    if (options_.top) {
      choice_.emplace(*options_.top);
      for (const std::size_t file : pages_) {
        if (Status read = for_each_row(file, false, [&](const Row& row) { return consider(row); });
            !read) {
          return read;
        }
      }
      choice_->choose();
    }
    for (const std::size_t file : pages_) {
      if (Status begun = writer_.begin(file); !begun) return begun;
      if (Status read = for_each_row(file, true, [&](const Row& row) { return take(row); });
          !read) {
        return read;
      }
    }
    return {};
  }

 private:
  struct BoardName {
    std::string name;
    std::string first_runner;  // gpu_types[0]; empty when there is none
  };
  struct Row {
    ItemPlace place;
    const Value* value = nullptr;
    bool code_is_cut = false;
  };
  struct Board {
    const KernelbotBoard* board = nullptr;
    std::string runner;
  };
  // What a board became.
  struct Claimed {
    Digest operation;
    Digest suite;
    Digest protocol;
  };

  Status sort_files() {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      Result<std::string> beginning = read_beginning(files_[file], kBeginningBytes);
      if (!beginning) return fail(std::move(beginning.error()));
      if (!begins_kernelbot_page(*beginning)) {
        writer_.review({file, {}}, "UNKNOWN_FILE",
                       "no page of the KernelBot data set, so it was left aside");
        continue;
      }
      (begins_board_page(*beginning) ? board_pages_ : pages_).push_back(file);
    }
    if (!board_pages_.empty() || !pages_.empty()) return {};
    return fail(ErrorKind::invalid, "NOT_A_PAGE", {},
                "none of the files given is a page of the KernelBot data set",
                "Give the saved answers of the data sets server, {\"rows\": [...]}");
  }

  // The rows of a page. What is wrong with the page is quarantined once, when `say`.
  Status for_each_row(std::size_t file, bool say, const std::function<Status(const Row&)>& take) {
    const Result<std::string> text = read_whole(files_[file]);
    std::optional<Error> fault;
    page_arena_.reset();
    std::vector<json::Defect> defects;
    Result<Value> page =
        text ? json::parse_collecting_defects(
                   *text, page_arena_, {limits::kSourceJsonBytes, limits::kJsonDepth}, defects)
             : fail(text.error());
    if (!text && text.error().kind != ErrorKind::invalid) return fail(text.error());
    const Value* rows = page ? page->find("rows") : nullptr;
    if (!page) {
      fault = page.error();
    } else if (rows == nullptr || !rows->is_array()) {
      fault = Error{ErrorKind::invalid, "BAD_SHAPE", "rows", "expected a list", {}};
    }
    if (fault) {
      if (say) writer_.quarantine({file, {}}, *fault);
      return {};
    }
    if (say) report_page(file, *page);
    for (std::size_t i = 0; i < rows->array().size(); ++i) {
      const Value& item = rows->array()[i];
      Row row{{file, "/rows/" + std::to_string(i)}, item.find("row"), false};
      if (const json::Defect* defect = json::defect_within(defects, item)) {
        fault = Error{ErrorKind::invalid,
                      std::string(defect->code),
                      json::line_and_column(*text, defect->offset),
                      defect->message,
                      {}};
      } else if (row.value == nullptr || !row.value->is_object()) {
        fault = Error{ErrorKind::invalid, "BAD_SHAPE", "row", "expected an object", {}};
      }
      if (fault) {
        if (say) writer_.quarantine(row.place, *fault);
        fault.reset();
        continue;
      }
      row.code_is_cut = is_code_cut(item, row.place, say);
      if (Status taken = take(row); !taken) return taken;
    }
    return {};
  }

  void report_page(std::size_t file, const Value& page) {
    drift_.set_place(files_[file].locator, {});
    ItemReader reader(page, {});
    reader.ignore({"rows", "features", "num_rows_total", "num_rows_per_page", "partial"});
    reader.report_unknown("page", drift_);
  }

  // A cell that the server cut off is no whole program.
  bool is_code_cut(const Value& item, const ItemPlace& place, bool say) {
    if (say && item.is_object()) {
      drift_.set_place(files_[place.file].locator, place.pointer);
      ItemReader wrapper(item, {});
      wrapper.ignore({"row", "row_idx", "truncated_cells"});
      wrapper.report_unknown("item", drift_);
    }
    const Value* cells = item.find("truncated_cells");
    if (cells == nullptr || !cells->is_array()) return false;
    bool code = false;
    for (const Value& cell : cells->array()) {
      if (!cell.is_string()) continue;
      code |= cell.string() == "code";
      if (!say) continue;
      drift_.set_place(files_[place.file].locator, place.pointer);
      drift_.report("TRUNCATED_CELL",
                    "the server cut the cell '" + std::string(cell.string()) + "' off");
      sink_.counted("TRUNCATED_CELL", 1);
    }
    return code;
  }

  Status read_boards(std::size_t file) {
    if (Status begun = writer_.begin(file); !begun) return begun;
    return for_each_row(file, true, [&](const Row& row) {
      ItemReader reader(*row.value, {});
      const auto id = static_cast<std::int64_t>(reader.integer("id"));
      const std::string_view name = reader.text("name");
      const auto runners =
          reader.optional_texts("gpu_types").value_or(std::vector<std::string_view>());
      reader.ignore({"deadline", "description", "creator_id", "forum_id", "secret_seed", "task"});
      drift_.set_place(files_[file].locator, row.place.pointer);
      reader.report_unknown("leaderboard", drift_);
      if (reader.fault()) {
        writer_.quarantine(row.place, *reader.fault());
        return Status();
      }
      board_names_[id] = {std::string(name),
                          runners.empty() ? std::string() : std::string(runners.front())};
      return Status();
    });
  }

  // The board and runner of a submission. A null board: it is not curated. Error BOARD_UNKNOWN.
  Result<Board> board_of(const KernelbotSubmission& submission) const {
    std::string name(submission.board_name);
    std::string runner(submission.runner);
    if (submission.board_id) {
      const auto found = board_names_.find(*submission.board_id);
      if (found == board_names_.end()) {
        return fail(ErrorKind::invalid, "BOARD_UNKNOWN", "leaderboard_id",
                    "no board " + std::to_string(*submission.board_id) +
                        " is in the lists of boards among the files given");
      }
      name = found->second.name;
      if (runner.empty()) runner = found->second.first_runner;
    }
    return Board{find_kernelbot_board(name), runner.empty() ? "unknown" : runner};
  }

  Status consider(const Row& row) {
    const Result<KernelbotSubmission> submission =
        read_kernelbot_submission(*row.value, row.code_is_cut, silent_drift_);
    if (!submission || !kernelbot_skip_reason(*submission).empty()) return {};
    const Result<Board> board = board_of(*submission);
    if (!board || board->board == nullptr) return {};
    if (submission->board_id &&
        (submission->result == nullptr || !read_kernelbot_benchmarks(*submission->result))) {
      return {};
    }
    choice_->add(std::string(board->board->name), board->runner,
                 {submission->id, submission->user_id, std::string(submission->submitted_at),
                  *submission->score});
    return {};
  }

  Status take(const Row& row) {
    drift_.set_place(files_[row.place.file].locator, row.place.pointer);
    const Result<KernelbotSubmission> submission =
        read_kernelbot_submission(*row.value, row.code_is_cut, drift_);
    if (!submission) return set_aside(row, submission.error());
    const Result<Board> board = board_of(*submission);
    if (!board) return set_aside(row, board.error());
    if (board->board == nullptr) {
      sink_.skipped("uncurated_board");
      return {};
    }
    if (const std::string_view reason = kernelbot_skip_reason(*submission); !reason.empty()) {
      sink_.skipped(reason);
      return {};
    }
    const std::string name(board->board->name);
    if (choice_ && !choice_->is_chosen(name, board->runner, submission->id)) {
      sink_.skipped("beyond_top");
      return {};
    }
    return claim_submission(row, *submission, *board->board, board->runner);
  }

  Status set_aside(const Row& row, const Error& error) {
    writer_.quarantine(row.place, error);
    return {};
  }

  Result<const Claimed*> claim_board(const KernelbotBoard& board, const ItemPlace& place) {
    const auto known = boards_.find(board.name);
    if (known != boards_.end()) return &known->second;
    arena_.reset();
    Result<Manifest> operation = make_kernelbot_operation(board, arena_);
    if (!operation) return fail(std::move(operation.error()));
    Claimed claimed;
    claimed.operation = operation->identity;
    Draft draft = writer_.draft_of(std::move(*operation), place);
    draft.external_ids = {writer_.external_id(board.name)};
    draft.facts.slug = board.operation.slug;
    draft.facts.aliases = {std::string(board.name)};
    draft.facts.tags.assign(board.tags.begin(), board.tags.end());
    if (Status done = writer_.claim(std::move(draft)); !done) return fail(std::move(done.error()));
    if (!board.per_shape) {
      Result<Manifest> suite = make_kernelbot_suite(board, claimed.operation, arena_);
      if (!suite) return fail(std::move(suite.error()));
      claimed.suite = suite->identity;
      draft = writer_.draft_of(std::move(*suite), place);
      draft.external_ids = {writer_.external_id(std::string(board.name) + "/suite")};
      if (Status done = writer_.claim(std::move(draft)); !done) {
        return fail(std::move(done.error()));
      }
    }
    Result<Manifest> protocol = make_kernelbot_protocol(board, arena_);
    if (!protocol) return fail(std::move(protocol.error()));
    claimed.protocol = protocol->identity;
    if (Status done = writer_.claim_once(*protocol, place); !done) {
      return fail(std::move(done.error()));
    }
    return &boards_.emplace(board.name, claimed).first->second;
  }

  Status claim_submission(const Row& row, const KernelbotSubmission& submission,
                          const KernelbotBoard& board, const std::string& runner) {
    std::vector<KernelbotBenchmark> benchmarks;
    if (board.per_shape) {
      static const Value kNothing;
      Result<std::vector<KernelbotBenchmark>> read =
          read_kernelbot_benchmarks(submission.result == nullptr ? kNothing : *submission.result);
      if (!read) return set_aside(row, read.error());
      benchmarks = std::move(*read);
    }
    const Result<const Claimed*> of_board = claim_board(board, row.place);
    if (!of_board) return fail(of_board.error());
    arena_.reset();
    const Result<Manifest> project = make_kernelbot_project(submission, arena_);
    if (!project) return set_aside(row, project.error());
    const Result<Manifest> environment = make_kernelbot_environment(board, runner, arena_);
    if (!environment) return set_aside(row, environment.error());
    Result<Manifest> implementation = make_kernelbot_implementation(
        board, submission, source_of(submission), (*of_board)->operation, runner, arena_);
    if (!implementation) return set_aside(row, implementation.error());
    const KernelbotRunParts parts{implementation->identity, (*of_board)->suite,
                                  (*of_board)->protocol, environment->identity};
    std::vector<Manifest> cases;
    Result<std::vector<KernelbotRun>> runs =
        make_runs(board, submission, benchmarks, (*of_board)->operation, parts, cases);
    if (!runs) return set_aside(row, runs.error());

    sink_.selected();
    sink_.counted("LICENSE_MISSING", 1);  // of the submission; the data set has its own
    if (!kernelbot_hardware(runner).listed) sink_.counted("HARDWARE_UNLISTED", 1);
    const std::string slug = "kernelbot-user-" + kebab(submission.user_id);
    if (Status done = writer_.claim_once(*project, row.place, slug); !done) return done;
    if (Status done = claim_implementation(row, submission, board, project->identity,
                                           std::move(*implementation));
        !done) {
      return done;
    }
    if (Status done = writer_.claim_once(*environment, row.place); !done) return done;
    return claim_runs(row, submission, board, benchmarks, std::move(cases), std::move(*runs));
  }

  Result<std::vector<KernelbotRun>> make_runs(const KernelbotBoard& board,
                                              const KernelbotSubmission& submission,
                                              const std::vector<KernelbotBenchmark>& benchmarks,
                                              const Digest& operation, KernelbotRunParts parts,
                                              std::vector<Manifest>& cases) {
    std::vector<KernelbotRun> runs;
    if (!board.per_shape) {
      Result<KernelbotRun> run = make_kernelbot_score(board, submission, parts, arena_);
      if (!run) return fail(std::move(run.error()));
      runs.push_back(std::move(*run));
      return runs;
    }
    for (std::size_t i = 0; i < benchmarks.size(); ++i) {
      Result<Manifest> made = make_kernelbot_case(board, operation, benchmarks[i].axes,
                                                  benchmarks[i].title_axes, arena_);
      if (!made) return fail_in("benchmark." + std::to_string(i), std::move(made.error()));
      parts.workload = made->identity;
      cases.push_back(std::move(*made));
      Result<KernelbotRun> run =
          make_kernelbot_timing(board, submission, i, benchmarks[i], parts, arena_);
      if (!run) return fail_in("benchmark." + std::to_string(i), std::move(run.error()));
      runs.push_back(std::move(*run));
    }
    return runs;
  }

  Status claim_implementation(const Row& row, const KernelbotSubmission& submission,
                              const KernelbotBoard& board, const Digest& project,
                              Manifest implementation) {
    if (!implementations_.insert(implementation.document).second) return {};
    const std::string id = std::to_string(submission.id);
    Draft draft = writer_.draft_of(std::move(implementation), row.place);
    draft.external_ids = {writer_.external_id("submission/" + id)};
    draft.facts.project = project;
    draft.facts.slug = kebab("kernelbot-" + std::string(board.name) + "-" + id);
    if (const std::optional<KernelbotSource> source = source_of(submission)) {
      draft.facts.artifacts.push_back({"source",
                                       source->digest,
                                       std::string(source->file_name),
                                       {},
                                       {},
                                       std::string(kLicense)});
      if (Status kept = sink_.artifact({std::string(submission.code), "text/x-python"}); !kept) {
        return kept;
      }
    }
    return writer_.claim(std::move(draft));
  }

  Status claim_runs(const Row& row, const KernelbotSubmission& submission,
                    const KernelbotBoard& board, const std::vector<KernelbotBenchmark>& benchmarks,
                    std::vector<Manifest> cases, std::vector<KernelbotRun> runs) {
    const std::string id = "submission/" + std::to_string(submission.id);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (board.per_shape) {
        const std::string key = std::string(board.name) + "/" + axis_key(benchmarks[i].axes);
        if (Status done = writer_.claim_once(cases[i], row.place, {}, key); !done) return done;
      }
      Draft draft = writer_.draft_of(std::move(runs[i].manifest), row.place);
      draft.external_ids = {writer_.external_id(
          board.per_shape ? id + "/benchmark/" + std::to_string(i) : id + "/leaderboard")};
      if (runs[i].zone_assumed) draft.facts.marks = {"zone_assumed"};
      if (Status done = writer_.claim(std::move(draft)); !done) return done;
    }
    return {};
  }

  std::span<const RecordedFile> files_;
  const GpumodeKernelbotOptions& options_;
  DraftSink& sink_;
  ClaimWriter writer_;
  DriftLog drift_;
  class Silence final : public DraftSink {
   public:
    Status begin_file(std::size_t) override { return {}; }
    Status claim(Draft) override { return {}; }
    Status artifact(ArtifactDraft) override { return {}; }
    Status withdrawn(WithdrawalDraft) override { return {}; }
    void finding(Finding) override {}
    void skipped(std::string_view) override {}
    void selected() override {}
    void counted(std::string_view, std::uint64_t) override {}
  };
  Silence silence_;
  DriftLog silent_drift_{silence_};  // of the first reading, when rows are read twice
  json::Arena page_arena_;
  json::Arena arena_;  // for the manifests being made
  std::vector<std::size_t> board_pages_;
  std::vector<std::size_t> pages_;
  std::map<std::int64_t, BoardName> board_names_;
  std::optional<KernelbotChoice> choice_;
  std::map<std::string_view, Claimed> boards_;
  std::set<Digest> implementations_;  // documents
};

}  // namespace

Status import_gpumode_kernelbot(std::span<const RecordedFile> files,
                                const GpumodeKernelbotOptions& options, DraftSink& sink) {
  return KernelbotImport(files, options, sink).run();
}

bool begins_kernelbot_page(std::string_view beginning) {
  const std::size_t start = beginning.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || beginning[start] != '{') return false;
  return names_member(beginning, "rows") &&
         (names_member(beginning, "submission_id") || names_member(beginning, "gpu_types"));
}

}  // namespace kernelindex::ingest
