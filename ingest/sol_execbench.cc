// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_execbench.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ingest/claim_writer.h"
#include "ingest/kebab.h"
#include "ingest/kernel_manifests.h"
#include "ingest/lower_case.h"
#include "ingest/sol_dump.h"

namespace kernelindex::ingest {
namespace {

constexpr std::string_view kSource = "sol-execbench";
constexpr std::string_view kSourceUrl =
    "https://research.nvidia.com/benchmarks/sol-execbench/api/kernels";

class SolImport {
 public:
  SolImport(std::span<const SourceFile> files, const SolExecbenchOptions& options, DraftSink& sink)
      : options_(options),
        sink_(sink),
        writer_(kSource, locators_of(files), sink),
        dump_(files, writer_) {}

  Status run() {
    if (Status read = dump_.read(); !read) return read;
    for (const std::size_t list : dump_.lists()) {
      if (Status begun = writer_.begin(list); !begun) return begun;
    }
    const std::vector<KernelRecord*> kernels = dump_.kernels();
    report_unknown_names(kernels);
    for (const KernelRecord* kernel : kernels) {
      if (Status done = import_kernel(*kernel); !done) return done;
    }
    for (WithdrawalDraft& withdrawal : withdrawn_) {
      if (Status said = sink_.withdrawn(std::move(withdrawal)); !said) return said;
    }
    if (!options_.kernels.empty() || !options_.tags.empty()) return {};
    for (const std::size_t page : dump_.empty_pages()) {
      if (Status begun = writer_.begin(page); !begun) return begun;
    }
    return {};
  }

 private:
  struct Workload {
    Digest operation;
    Digest suite;
  };

  static std::vector<std::string_view> tags_of(const KernelRecord& kernel) {
    if (kernel.definition && kernel.definition->tags) return *kernel.definition->tags;
    return kernel.listed_tags.value_or(std::vector<std::string_view>());
  }

  static bool has_name(const KernelRecord& kernel, const std::string& name) {
    return kernel.name == name || kebab(kernel.name) == name;
  }

  bool is_wanted(const KernelRecord& kernel) const {
    const auto named = [&](const std::string& name) { return has_name(kernel, name); };
    if (!options_.kernels.empty() && std::ranges::none_of(options_.kernels, named)) return false;
    if (options_.tags.empty()) return true;
    const std::vector<std::string_view> tags = tags_of(kernel);
    const std::vector<std::string> shown = shown_tags(tags);
    return std::ranges::any_of(options_.tags, [&](const std::string& tag) {
      return std::ranges::find(tags, tag) != tags.end() ||
             std::ranges::find(shown, tag) != shown.end();
    });
  }

  void report_unknown_names(const std::vector<KernelRecord*>& kernels) {
    for (const std::string& name : options_.kernels) {
      const auto named = [&](const KernelRecord* kernel) { return has_name(*kernel, name); };
      if (std::ranges::any_of(kernels, named)) continue;
      sink_.finding({FindingClass::quarantined,
                     {},
                     name,
                     "KERNEL_NOT_FOUND",
                     "no kernel of this name is in the dump"});
    }
  }

  void skip_submissions(const KernelRecord& kernel, std::string_view reason) {
    for (std::size_t i = 0; i < kernel.submissions.size(); ++i) sink_.skipped(reason);
  }

  Status import_kernel(const KernelRecord& kernel) {
    if (!is_wanted(kernel)) {
      sink_.skipped("kernel_filtered");
      skip_submissions(kernel, selection_name(Selection::filtered));
      return {};
    }
    if (kernel.place) {
      if (Status begun = writer_.begin(kernel.place->file); !begun) return begun;
    }
    if (!kernel.definition) return set_aside(kernel);
    Result<std::optional<Workload>> workload = claim_kernel(kernel);
    if (!workload) return fail(std::move(workload.error()));
    for (const std::size_t page : kernel.pages) {
      if (Status begun = writer_.begin(page); !begun) return begun;
    }
    if (!*workload) return {};
    return claim_submissions(kernel, **workload);
  }

  // A kernel without a readable description: its submissions cannot say what they measured.
  Status set_aside(const KernelRecord& kernel) {
    for (const std::size_t page : kernel.pages) {
      if (Status begun = writer_.begin(page); !begun) return begun;
    }
    if (kernel.place) {
      skip_submissions(kernel, "kernel_quarantined");
    } else if (kernel.submissions.empty()) {
      sink_.skipped("kernel_not_saved");
    } else {
      const std::size_t count = kernel.submissions.size();
      writer_.quarantine(
          {kernel.pages.front(), {}},
          {ErrorKind::invalid,
           "KERNEL_MISSING",
           {},
           "the dump has " + std::to_string(count) + (count == 1 ? " submission" : " submissions") +
               " of the kernel " + kernel.name + " and not its description",
           {}});
      skip_submissions(kernel, "kernel_missing");
    }
    return {};
  }

  // Operation, cases and suite. Nothing when there is no suite to measure on: what that means for
  // the submissions has been said then.
  Result<std::optional<Workload>> claim_kernel(const KernelRecord& kernel) {
    const KernelDefinition& definition = *kernel.definition;
    const std::vector<std::string_view> tags = tags_of(kernel);
    arena_.reset();
    Result<Manifest> operation = make_operation(definition, tags, kSourceUrl, arena_);
    if (!operation) {
      writer_.quarantine(*kernel.place, operation.error());
      skip_submissions(kernel, "kernel_quarantined");
      return std::nullopt;
    }
    Workload workload;
    workload.operation = operation->identity;
    Draft draft = writer_.draft_of(std::move(*operation), *kernel.place);
    draft.external_ids = {writer_.external_id(definition.name)};
    draft.facts.slug = kebab(definition.name);
    draft.facts.aliases = {lower_case(definition.name)};
    draft.facts.tags = shown_tags(tags);
    if (Status claimed = writer_.claim(std::move(draft)); !claimed) {
      return fail(std::move(claimed.error()));
    }
    std::vector<std::string> keys;
    for (const WorkloadEntry& entry : definition.workloads) keys.push_back(key_of(entry));
    if (Status claimed = claim_cases(kernel, workload.operation, keys); !claimed) {
      return fail(std::move(claimed.error()));
    }
    if (kernel.listed_submissions == 0) return std::nullopt;
    const ItemPlace place{kernel.place->file, kernel.place->pointer + "/workloads"};
    arena_.reset();
    Result<Manifest> suite = make_suite(definition, workload.operation, keys, arena_);
    if (!suite) {
      writer_.quarantine(place, suite.error());
      skip_submissions(kernel, "suite_quarantined");
      return std::nullopt;
    }
    workload.suite = suite->identity;
    draft = writer_.draft_of(std::move(*suite), place);
    draft.external_ids = {writer_.external_id(std::string(definition.name) + "/suite")};
    if (Status claimed = writer_.claim(std::move(draft)); !claimed) {
      return fail(std::move(claimed.error()));
    }
    return workload;
  }

  Status claim_cases(const KernelRecord& kernel, const Digest& operation,
                     const std::vector<std::string>& keys) {
    const KernelDefinition& definition = *kernel.definition;
    std::set<std::pair<Digest, std::string>> claimed;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const ItemPlace place{kernel.place->file,
                            kernel.place->pointer + "/workloads/" + std::to_string(i)};
      arena_.reset();
      Result<Manifest> made =
          make_case(definition, operation, definition.workloads[i], keys[i], arena_);
      if (!made) {
        writer_.quarantine(place, made.error());
        continue;
      }
      if (!claimed.emplace(made->document, keys[i]).second) {
        sink_.skipped("case_repeated");
        continue;
      }
      Draft draft = writer_.draft_of(std::move(*made), place);
      draft.external_ids = {writer_.external_id(std::string(definition.name) + "/" + keys[i])};
      if (Status done = writer_.claim(std::move(draft)); !done) return done;
    }
    return {};
  }

  // The usable submissions, best SOL score first, equal ones in the order of the source.
  std::vector<const SubmissionRecord*> choose(const KernelRecord& kernel) {
    const std::optional<double> bound = speed_of_light_ms(*kernel.definition);
    std::vector<const SubmissionRecord*> usable;
    for (const SubmissionRecord& record : kernel.submissions) {
      const Selection selection = judge_submission(record.submission, options_.stack, bound);
      if (selection == Selection::usable) {
        usable.push_back(&record);
        continue;
      }
      sink_.skipped(selection_name(selection));
      if (selection == Selection::disqualified || selection == Selection::incorrect) {
        withdrawn_.push_back({std::string(kSource),
                              "submission/" + std::to_string(record.submission.id),
                              std::string(selection_name(selection)),
                              std::string(record.submission.disqualification), record.place.file});
      }
      if (selection == Selection::implausible) {
        writer_.review(record.place, "FASTER_THAN_LIGHT",
                       "submission " + std::to_string(record.submission.id) +
                           " is faster than the least bound of its cases allows");
      }
    }
    std::ranges::stable_sort(usable, [](const SubmissionRecord* a, const SubmissionRecord* b) {
      return a->submission.sol_score.value_or(0) > b->submission.sol_score.value_or(0);
    });
    const std::size_t chosen = std::min(options_.top.value_or(usable.size()), usable.size());
    for (std::size_t i = chosen; i < usable.size(); ++i) sink_.skipped("beyond_top");
    usable.resize(chosen);
    return usable;
  }

  Status claim_submissions(const KernelRecord& kernel, const Workload& workload) {
    for (const SubmissionRecord* record : choose(kernel)) {
      arena_.reset();
      Result<SubmissionManifests> made = make_submission(
          record->submission, *kernel.definition, workload.operation, workload.suite, arena_);
      if (!made) {
        writer_.quarantine(record->place, made.error());
        continue;
      }
      sink_.selected();
      count_warnings(record->submission, *made);
      if (Status claimed = claim_submission(*record, std::move(*made)); !claimed) return claimed;
    }
    return {};
  }

  void count_warnings(const Submission& submission, const SubmissionManifests& made) {
    sink_.counted("LICENSE_MISSING", 1);  // submissions come without source or licence
    if (submission.mode == "private") sink_.counted("PRIVATE_SUBMISSION", 1);
    if (!made.hardware_listed) sink_.counted("HARDWARE_UNLISTED", 1);
    if (submission.gpu_type != "B200") sink_.counted("NOT_B200", 1);
  }

  Status claim_submission(const SubmissionRecord& record, SubmissionManifests made) {
    const std::vector<std::string> ids = {
        writer_.external_id("submission/" + std::to_string(record.submission.id))};
    const Digest project = made.project.identity;
    if (Status done = writer_.claim_once(made.project, record.place, made.project_slug); !done) {
      return done;
    }
    Draft implementation = writer_.draft_of(std::move(made.implementation), record.place);
    implementation.external_ids = ids;
    implementation.facts.project = project;
    implementation.facts.slug = made.implementation_slug;
    if (Status done = writer_.claim(std::move(implementation)); !done) return done;
    if (Status done = writer_.claim_once(made.protocol, record.place); !done) return done;
    if (Status done = writer_.claim_once(made.environment, record.place); !done) return done;
    Draft run = writer_.draft_of(std::move(made.run), record.place);
    run.external_ids = ids;
    if (made.zone_assumed) run.facts.marks = {"zone_assumed"};
    return writer_.claim(std::move(run));
  }

  const SolExecbenchOptions& options_;
  DraftSink& sink_;
  ClaimWriter writer_;
  SolDump dump_;
  std::vector<WithdrawalDraft> withdrawn_;  // said last: runs may come in any order
  json::Arena arena_;                       // for the manifest being made
};

}  // namespace

Status import_sol_execbench(std::span<const SourceFile> files, const SolExecbenchOptions& options,
                            DraftSink& sink) {
  return SolImport(files, options, sink).run();
}

}  // namespace kernelindex::ingest
