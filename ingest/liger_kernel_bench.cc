// SPDX-License-Identifier: Apache-2.0
#include "ingest/liger_kernel_bench.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ingest/claim_writer.h"
#include "ingest/csv_source.h"
#include "ingest/json_items.h"
#include "ingest/kebab.h"
#include "ingest/liger_kernel.h"
#include "ingest/manifest_document.h"
#include "ingest/nanoseconds.h"
#include "ingest/source_item.h"
#include "ingest/text_cut.h"
#include "schema/json_reader.h"
#include "schema/utc_time.h"
#include "schema/utf8.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "liger-kernel-bench";
constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::size_t kColumns = 15;
constexpr std::array<std::string_view, kColumns> kNames = {
    "kernel_name", "kernel_provider", "kernel_operation_mode",
    "metric_name", "metric_unit",     "x_name",
    "x_label",     "x_value",         "y_value_50",
    "y_value_20",  "y_value_80",      "extra_benchmark_config_str",
    "gpu_name",    "timestamp",       "liger_version"};

struct Row {
  std::string_view kernel, provider, mode, metric, x_name, x_value, y50, y20, y80, configuration,
      gpu, timestamp, version;
};

// As ECMAScript's Number() reads a cell: an empty one is 0.
std::optional<double> cell_number(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return 0;
  text = text.substr(start, text.find_last_not_of(kSpace) - start + 1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

struct Times {
  double median_ms = 0;
  std::optional<double> low_ms;   // 20 %
  std::optional<double> high_ms;  // 80 %
};

Value percentile(std::string_view statistic, double milliseconds, Arena& arena) {
  ObjectBuilder out(arena);
  out.add("metric", "latency").add("unit", "ns").add("statistic", statistic);
  return out.add("value", Value(nanoseconds_of(milliseconds))).finish();
}

struct RunParts {
  Digest implementation;
  Digest workload;
  Digest protocol;
  Digest environment;
};

Result<Manifest> make_run(const Row& row, const std::string& id, const Times& times,
                          const RunParts& parts, std::string_view observed_at, Arena& arena) {
  ObjectBuilder timing(arena);
  timing.add("primaryStatistic", "median");
  timing.add("latencyNs", arena.object({{"median", Value(nanoseconds_of(times.median_ms))}}));
  ObjectBuilder metrics(arena);
  metrics.add("ms_50", Value(times.median_ms));
  ObjectBuilder spec(arena);
  spec.add("implementationDigest", parts.implementation.text());
  spec.add("workloadDigest", parts.workload.text());
  spec.add("protocolDigest", parts.protocol.text());
  spec.add("environmentDigest", parts.environment.text());
  spec.add("status", "passed").add("timing", timing.finish());
  if (times.low_ms && times.high_ms) {
    metrics.add("ms_20", Value(*times.low_ms)).add("ms_80", Value(*times.high_ms));
    spec.add("measurements", arena.array({percentile("p20", *times.low_ms, arena),
                                          percentile("p80", *times.high_ms, arena)}));
  }
  ObjectBuilder native(arena);
  native.add("source", kSource);
  native.add("benchmark", std::string(row.kernel) + "/" + std::string(row.mode));
  native.add("externalId", id).add("metrics", metrics.finish());
  spec.add("sourceNative", native.finish()).add("observedAt", observed_at);

  ObjectBuilder metadata(arena);
  metadata.add("name", kebab("liger-" + id));
  metadata.add("title",
               title_cut(std::string(row.provider) + std::string(kDot) + std::string(row.kernel) +
                         std::string(kDot) + std::string(row.mode)));
  if (!row.version.empty()) {
    const std::string_view version = first_utf16(row.version, 200);
    metadata.add("labels", ObjectBuilder(arena).add("liger_version", version).finish());
  }
  return make_manifest(
      manifest_document(ManifestKind::benchmark_run, metadata.finish(), spec.finish(), arena),
      arena);
}

class LigerImport {
 public:
  LigerImport(std::span<const RecordedFile> files, const LigerKernelBenchOptions& options,
              DraftSink& sink)
      : files_(files),
        options_(options),
        sink_(sink),
        writer_(kSource, locators_of(files), sink),
        drift_(sink) {}

  Status run() {
    bool any = false;
    for (std::size_t file = 0; file < files_.size(); ++file) {
      const Result<std::string> beginning = read_beginning(files_[file], kBeginningBytes);
      if (!beginning) return fail(beginning.error());
      if (!begins_liger_table(*beginning)) {
        writer_.review({file, {}}, "UNKNOWN_FILE", "no table of benchmarks, so it was left aside");
        continue;
      }
      any = true;
      if (Status begun = writer_.begin(file); !begun) return begun;
      if (Status read = read_table(file); !read) return read;
    }
    if (any) return {};
    return fail(ErrorKind::invalid, "NOT_A_TABLE", {},
                "none of the files given is a table of Liger-Kernel's benchmarks",
                "Give benchmark/data/*.csv of its repository");
  }

 private:
  struct Kernel {
    Digest operation;
    std::map<std::string, Digest, std::less<>> implementations;  // by provider
    std::map<std::string, Digest, std::less<>> cases;            // by key
  };

  Status read_table(std::size_t file) {
    Result<std::unique_ptr<ByteSource>> bytes = files_[file].open();
    if (!bytes) return fail_in(files_[file].locator, std::move(bytes.error()));
    CsvSource records(**bytes);
    CsvRecord record;
    Result<bool> more = records.next(record);
    if (!more) return fail_in(files_[file].locator, std::move(more.error()));
    const std::optional<std::array<std::size_t, kColumns>> columns = columns_of(file, record);
    if (!columns) return {};
    const std::size_t width = record.fields.size();
    while (true) {
      more = records.next(record);
      if (!more) return fail_in(files_[file].locator, std::move(more.error()));
      if (!*more) return {};
      const ItemPlace place{file, std::to_string(record.line)};
      if (const std::optional<Error> fault = fault_of(record, width)) {
        writer_.quarantine(place, *fault);
        continue;
      }
      if (Status taken = take(row_of(record, *columns), place); !taken) return taken;
    }
  }

  // Where each column stands; nothing when one is missing, which is said.
  std::optional<std::array<std::size_t, kColumns>> columns_of(std::size_t file,
                                                              const CsvRecord& header) {
    std::array<std::size_t, kColumns> out{};
    for (std::size_t i = 0; i < kColumns; ++i) {
      const auto found = std::ranges::find(header.fields, kNames[i]);
      if (found == header.fields.end()) {
        writer_.quarantine({file, "1"}, {ErrorKind::invalid,
                                         "MISSING_COLUMN",
                                         {},
                                         "the column " + std::string(kNames[i]) + " is missing",
                                         {}});
        return std::nullopt;
      }
      out[i] = static_cast<std::size_t>(found - header.fields.begin());
    }
    drift_.set_place(files_[file].locator, "1");
    for (const std::string& name : header.fields) {
      if (std::ranges::find(kNames, name) == kNames.end()) drift_.unknown("row", name);
    }
    return out;
  }

  static std::optional<Error> fault_of(const CsvRecord& record, std::size_t width) {
    if (!record.fault.empty()) {
      return Error{ErrorKind::invalid, record.fault, {}, "this is no record of a CSV table", {}};
    }
    if (record.fields.size() != width) {
      return Error{ErrorKind::invalid,
                   "BAD_RECORD",
                   {},
                   "expected " + std::to_string(width) + " fields, found " +
                       std::to_string(record.fields.size()),
                   {}};
    }
    if (!std::ranges::all_of(record.fields, [](const std::string& field) {
          return utf8_prefix(field) == field.size();
        })) {
      return Error{ErrorKind::invalid, "BAD_UTF8", {}, "a field is not valid UTF-8", {}};
    }
    return std::nullopt;
  }

  static Row row_of(const CsvRecord& record, const std::array<std::size_t, kColumns>& columns) {
    const auto field = [&](std::size_t column) {
      return std::string_view(record.fields[columns[column]]);
    };
    return {field(0), field(1),  field(2),  field(3),  field(5),  field(7), field(8),
            field(9), field(10), field(11), field(12), field(13), field(14)};
  }

  Status skip(std::string_view reason) {
    sink_.skipped(reason);
    return {};
  }

  Status take(const Row& row, const ItemPlace& place) {
    if (row.metric != "speed") return skip("memory_row");
    const LigerKernel* kernel = find_liger_kernel(row.kernel);
    if (kernel == nullptr) return skip("uncurated_kernel");
    if (liger_mode_text(row.mode).empty()) return skip("unknown_config");
    const std::optional<LigerProvider> provider = find_liger_provider(row.provider);
    if (!provider) return skip("unknown_provider");
    const std::optional<LigerCase> of = case_of(*kernel, row);
    if (!of) return skip("unknown_config");
    Result<const Manifest*> environment = this->environment(row.gpu);
    if (!environment) return fail(std::move(environment.error()));
    if (*environment == nullptr) return skip("unknown_gpu");
    const std::string id = std::string(row.kernel) + "/" + std::string(row.mode) + "/" +
                           std::string(row.provider) + "/" + kebab(row.gpu) + "/" + of->key + "/" +
                           kebab(row.timestamp);
    if (!ids_.insert(id).second) return skip("duplicate_row");
    const std::optional<double> median = cell_number(row.y50);
    if (!median || *median <= 0) {
      writer_.quarantine(
          place,
          {ErrorKind::invalid, "NOT_POSITIVE", "y_value_50", "expected a number above 0", {}});
      return {};
    }
    const Times times{*median, cell_number(row.y20), cell_number(row.y80)};
    return claim(row, place, *kernel, *provider, *of, **environment, id, times);
  }

  std::optional<LigerCase> case_of(const LigerKernel& kernel, const Row& row) {
    const std::optional<double> x = cell_number(row.x_value);
    if (!x || *x <= 0 || !is_safe_integer(*x)) return std::nullopt;
    row_arena_.reset();
    const Result<Value> configuration = json::parse(row.configuration, row_arena_);
    if (!configuration || !configuration->is_object()) return std::nullopt;
    return bind_liger_case(kernel, row.x_name, *x, *configuration);
  }

  // Null when the device is not in the table.
  Result<const Manifest*> environment(std::string_view gpu) {
    const auto known = environments_.find(gpu);
    if (known != environments_.end()) return &known->second;
    arena_.reset();
    std::optional<Result<Manifest>> made = make_liger_environment(gpu, arena_);
    if (!made) return nullptr;
    if (!*made) return fail(std::move(made->error()));
    return &environments_.emplace(gpu, std::move(**made)).first->second;
  }

  Result<const Manifest*> protocol(std::string_view mode) {
    const auto known = protocols_.find(mode);
    if (known != protocols_.end()) return &known->second;
    arena_.reset();
    Result<Manifest> made = make_liger_protocol(mode, arena_);
    if (!made) return fail(std::move(made.error()));
    return &protocols_.emplace(mode, std::move(*made)).first->second;
  }

  Result<Kernel*> kernel_of(const LigerKernel& kernel, const ItemPlace& place) {
    const auto known = kernels_.find(kernel.name);
    if (known != kernels_.end()) return &known->second;
    arena_.reset();
    Result<Manifest> made = make_liger_operation(kernel, options_.commit, arena_);
    if (!made) return fail(std::move(made.error()));
    Kernel out;
    out.operation = made->identity;
    Draft draft = writer_.draft_of(std::move(*made), place);
    draft.external_ids = {writer_.external_id(kernel.name)};
    draft.facts.slug = kernel.operation.slug;
    draft.facts.aliases = {std::string(kernel.name)};
    if (Status done = writer_.claim(std::move(draft)); !done) return fail(std::move(done.error()));
    return &kernels_.emplace(kernel.name, std::move(out)).first->second;
  }

  Result<Digest> implementation_of(const Row& row, const LigerKernel& kernel, Kernel& known,
                                   const LigerProvider& provider, const ItemPlace& place) {
    const auto found = known.implementations.find(row.provider);
    if (found != known.implementations.end()) return found->second;
    arena_.reset();
    const Result<Manifest> project = make_liger_project(provider.project, arena_);
    if (!project) return fail(project.error());
    Result<Manifest> made = make_liger_implementation(kernel, provider, known.operation, arena_);
    if (!made) return fail(std::move(made.error()));
    if (Status done = writer_.claim_once(*project, place, provider.project); !done) {
      return fail(std::move(done.error()));
    }
    const Digest identity = made->identity;
    const std::string id = std::string(row.kernel) + "/" + std::string(row.provider);
    Draft draft = writer_.draft_of(std::move(*made), place);
    draft.external_ids = {writer_.external_id(id)};
    draft.facts.project = project->identity;
    draft.facts.slug = kebab("liger-" + id);
    if (Status done = writer_.claim(std::move(draft)); !done) return fail(std::move(done.error()));
    known.implementations.emplace(row.provider, identity);
    return identity;
  }

  // Nothing when the case was quarantined.
  Result<std::optional<Digest>> case_digest(const LigerKernel& kernel, Kernel& known,
                                            const LigerCase& of, const ItemPlace& place) {
    const std::string key = of.key + scalar_key(of);
    const auto found = known.cases.find(key);
    if (found != known.cases.end()) return found->second;
    arena_.reset();
    Result<Manifest> made = make_liger_case(kernel, known.operation, of, arena_);
    if (!made) {
      writer_.quarantine(place, made.error());
      return std::nullopt;
    }
    const Digest identity = made->identity;
    Draft draft = writer_.draft_of(std::move(*made), place);
    draft.external_ids = {writer_.external_id(std::string(kernel.name) + "/" + of.key)};
    if (Status done = writer_.claim(std::move(draft)); !done) return fail(std::move(done.error()));
    known.cases.emplace(key, identity);
    return identity;
  }

  // Scalars are not in the key that the source's ids have; cases that differ in them are others.
  static std::string scalar_key(const LigerCase& of) {
    std::string out;
    for (const auto& [name, value] : of.scalars) {
      out += '\0' + std::string(name) + '=' + std::to_string(std::bit_cast<std::uint64_t>(value));
    }
    return out;
  }

  Status claim(const Row& row, const ItemPlace& place, const LigerKernel& kernel,
               const LigerProvider& provider, const LigerCase& of, const Manifest& environment,
               const std::string& id, const Times& times) {
    std::string stamp(row.timestamp);
    if (const std::size_t space = stamp.find(' '); space != std::string::npos) stamp[space] = 'T';
    const Result<SourceTime> time = parse_source_time(stamp);
    if (!time) {
      writer_.quarantine(place, fail_in("timestamp", time.error()).error());
      return {};
    }
    const Result<Kernel*> known = kernel_of(kernel, place);
    if (!known) return fail(known.error());
    const Result<Digest> implementation = implementation_of(row, kernel, **known, provider, place);
    if (!implementation) return fail(implementation.error());
    const Result<std::optional<Digest>> workload = case_digest(kernel, **known, of, place);
    if (!workload) return fail(workload.error());
    if (!*workload) return {};
    const Result<const Manifest*> protocol = this->protocol(row.mode);
    if (!protocol) return fail(protocol.error());
    arena_.reset();
    Result<Manifest> run = make_run(
        row, id, times, {*implementation, **workload, (*protocol)->identity, environment.identity},
        time->text, arena_);
    if (!run) {
      writer_.quarantine(place, run.error());
      return {};
    }
    sink_.selected();
    if (Status done = writer_.claim_once(**protocol, place); !done) return done;
    if (Status done = writer_.claim_once(environment, place); !done) return done;
    Draft draft = writer_.draft_of(std::move(*run), place);
    draft.external_ids = {writer_.external_id(id)};
    if (time->zone_assumed) draft.facts.marks = {"zone_assumed"};
    return writer_.claim(std::move(draft));
  }

  std::span<const RecordedFile> files_;
  const LigerKernelBenchOptions& options_;
  DraftSink& sink_;
  ClaimWriter writer_;
  DriftLog drift_;
  Arena row_arena_;  // the configuration of a row
  Arena arena_;      // for the manifest being made
  std::map<std::string_view, Kernel> kernels_;
  std::map<std::string, Manifest, std::less<>> protocols_;     // by mode
  std::map<std::string, Manifest, std::less<>> environments_;  // by device
  std::unordered_set<std::string> ids_;
};

}  // namespace

Status import_liger_kernel_bench(std::span<const RecordedFile> files,
                                 const LigerKernelBenchOptions& options, DraftSink& sink) {
  return LigerImport(files, options, sink).run();
}

bool begins_liger_table(std::string_view beginning) {
  const std::string_view header = beginning.substr(0, beginning.find_first_of("\r\n"));
  return header.find("kernel_name") != std::string_view::npos &&
         header.find("kernel_provider") != std::string_view::npos;
}

}  // namespace kernelindex::ingest
