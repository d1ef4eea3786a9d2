// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <random>
#include <thread>

#include "schema/canonical_json.h"
#include "tools/display_text.h"
#include "tools/fetch/fetch_repositories.h"
#include "tools/fetch/fetch_sol_execbench.h"
#include "tools/http/http_url.h"
#include "tools/json_output.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--to", .value = "DIR", .help = "the folder to fetch into", .kind = ValueKind::output},
    {.name = "--kernel",
     .value = "K",
     .help = "only this kernel, by id or name (sol-execbench)",
     .repeated = true},
    {.name = "--round", .value = "V", .help = "of the benchmark: v5.1, ... (mlperf)"},
    {.name = "--revision",
     .value = "REV",
     .help = "branch, tag or commit; by default the newest (flashinfer-bench, liger, mlperf, "
             "kernelbench)"},
    {.name = "--config",
     .value = "NAME",
     .help = "only this configuration of the data set (gpumode)",
     .repeated = true},
    {.name = "--pause",
     .value = "MS",
     .help = "milliseconds between two requests; by default 500",
     .kind = ValueKind::count},
    {.name = "--base-url",
     .value = "URL",
     .help = "where the leaderboard's API is, when not at its own place (sol-execbench)"},
    {.name = "--allow-host",
     .value = "HOST",
     .help = "may lie at a loopback, private, link-local or reserved address",
     .repeated = true},
    {.name = "--trust",
     .value = "FILE",
     .help = "certificates in PEM to trust beside the system's",
     .kind = ValueKind::file},
    {.name = "SOURCE",
     .help = "what to fetch",
     .kind = ValueKind::choice,
     .choices = "sol-execbench|flashinfer-bench|gpumode|liger|mlperf|kernelbench",
     .required = true},
};
constexpr std::string_view kExamples[] = {
    "fetch sol-execbench --to dump",
    "fetch mlperf --round v5.1 --to mlperf-v5.1",
    "fetch flashinfer-bench --to flashinfer-trace",
};

using std::chrono::milliseconds;

constexpr std::string_view kFlashinferDataSet = "flashinfer-ai/flashinfer-trace";
constexpr std::string_view kKernelbotDataSet = "GPUMODE/kernelbot-data";

// What one source needs beside the folder.
struct Plan {
  std::string slug;                // of the source
  std::vector<std::string> hosts;  // that may be asked, redirects included
  bool whole = true;               // all of the source is asked for
  // Fetches; the commit that was fetched, empty where there is none.
  std::function<Result<std::string>(Fetcher&)> walk;
};

std::vector<std::string> github_hosts() { return {"api.github.com", "raw.githubusercontent.com"}; }

// Large files are answered by hosts of their own.
std::vector<std::string> hugging_face_hosts() {
  return {"huggingface.co",         "datasets-server.huggingface.co",
          "cdn-lfs.huggingface.co", "cdn-lfs.hf.co",
          "cdn-lfs-us-1.hf.co",     "cdn-lfs-eu-1.hf.co",
          "cas-bridge.xethub.hf.co"};
}

Plan github_plan(std::string slug, GithubFiles files) {
  return {std::move(slug), github_hosts(), true, [files = std::move(files)](Fetcher& fetcher) {
            return fetch_github({}, files, fetcher);
          }};
}

Result<Plan> sol_execbench_plan(const Arguments& arguments) {
  SolExecbenchFetch what;
  if (arguments.given("--base-url")) what.api = arguments.text("--base-url");
  while (what.api.ends_with('/')) what.api.pop_back();
  what.kernels = arguments.list("--kernel");
  const Result<HttpUrl> url = parse_http_url(what.api);
  if (!url) return fail_in("--base-url", url.error());
  return Plan{"sol-execbench",
              {url->authority()},
              what.kernels.empty(),
              [what](Fetcher& fetcher) -> Result<std::string> {
                if (Status done = fetch_sol_execbench(what, fetcher); !done) {
                  return fail(done.error());
                }
                return std::string();
              }};
}

Plan gpumode_plan(const Arguments& arguments) {
  std::vector<std::string> configurations = arguments.list("--config");
  const bool whole = configurations.empty();
  if (whole) configurations = {"leaderboards", "amd_successful_submissions"};
  return {"gpumode-kernelbot", hugging_face_hosts(), whole,
          [configurations](Fetcher& fetcher) -> Result<std::string> {
            for (const std::string& name : configurations) {
              const Status done = fetch_data_set_rows({}, kKernelbotDataSet, name, fetcher);
              if (!done) return fail(done.error());
            }
            return std::string();
          }};
}

Result<Plan> plan_of(const Arguments& arguments) {
  const std::string source = arguments.text("SOURCE");
  const auto revision = [&](const std::string& otherwise) {
    return arguments.given("--revision") ? arguments.text("--revision") : otherwise;
  };
  if (source == "sol-execbench") return sol_execbench_plan(arguments);
  if (source == "gpumode") return gpumode_plan(arguments);
  if (source == "flashinfer-bench") {
    return Plan{source, hugging_face_hosts(), true, [name = revision("")](Fetcher& fetcher) {
                  return fetch_hugging_face({}, kFlashinferDataSet, name, fetcher);
                }};
  }
  if (source == "liger") {
    return github_plan("liger-kernel-bench",
                       {"linkedin/Liger-Kernel", revision("main"), "benchmark/data/", ".csv"});
  }
  if (source == "kernelbench") {
    return github_plan("kernelbench", {"ScalingIntelligence/KernelBench", revision("main"),
                                       "results/timing/", ".json"});
  }
  const std::string round = arguments.text("--round");
  if (round.empty() || !is_plain_path(round) || round.find('/') != std::string::npos) {
    return fail(ErrorKind::usage, "USAGE", "--round", "name the round whose results are meant",
                "for example: --round v5.1");
  }
  return github_plan("mlperf-inference", {"mlcommons/inference_results_" + round, revision("main"),
                                          "summary_results.json", ""});
}

json::Value counts_document(const JsonOutput& json, const FetchCounts& counts) {
  return json.object()
      .add("new", json.count(counts.fresh))
      .add("changed", json.count(counts.changed))
      .add("unchanged", json.count(counts.unchanged))
      .add("resumed", json.count(counts.resumed))
      .finish();
}

struct Outcome {
  std::string commit;
  bool resumed = false;
  std::uint64_t requests = 0;
  std::vector<std::string> removed;
};

void print_json(Output& out, const Plan& plan, const Fetcher& fetcher, const Outcome& outcome) {
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder document = json.object();
  document.add("source", plan.slug)
      .add_if(!outcome.commit.empty(), "commit", outcome.commit)
      .add("files", counts_document(json, fetcher.counts()))
      .add("requests", json.count(outcome.requests))
      .add("missing", json.texts(fetcher.missing()))
      .add("refusedNames", json.texts(fetcher.refused_names()))
      .add("removed", json.texts(outcome.removed));
  out.document(document.finish());
}

void print_list(Output& out, const std::vector<std::string>& items, const std::string& title,
                Tone tone) {
  if (items.empty()) return;
  out.write("\n" + out.terminal().tinted(title, tone) + "\n");
  for (const std::string& item : items) out.write("  " + escape_text(item) + "\n");
}

void print_text(Output& out, const Plan& plan, const Fetcher& fetcher, const Outcome& outcome,
                const std::string& folder) {
  const FetchCounts& counts = fetcher.counts();
  const auto line = [&](std::string_view name, const std::string& text) {
    out.write(out.terminal().tinted(pad_right(name, 10), Tone::dim) + escape_text(text) + "\n");
  };
  line("source", plan.slug);
  if (!outcome.commit.empty()) line("commit", outcome.commit);
  std::string files = counted(counts.fresh, "new file") + ", " + grouped(counts.changed) +
                      " changed, " + grouped(counts.unchanged) + " unchanged";
  if (outcome.resumed) files += ", " + grouped(counts.resumed) + " from before the break";
  line("fetched", files);
  line("requests", grouped(outcome.requests));
  line("record", folder + "/" + std::string(kFetchRecordName));
  print_list(out, outcome.removed, "removed, since the source has them no more", Tone::warning);
  print_list(out, fetcher.missing(), "named by the source, but not there", Tone::bad);
  print_list(out, fetcher.refused_names(), "left out, since the name is no plain path", Tone::bad);
}

Surroundings real_world(Session& session, HttpClient& client) {
  Surroundings world;
  world.send = [&client](const HttpRequest& request) { return client.send(request); };
  world.sleep = [](milliseconds time) { std::this_thread::sleep_for(time); };
  world.now = [&session] { return session.now(); };
  world.random = [device = std::make_shared<std::random_device>()] {
    return (std::uint64_t{(*device)()} << 32) | (*device)();
  };
  return world;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (!arguments.given("--to")) {
    return fail(ErrorKind::usage, "USAGE", "--to", "the folder to fetch into is missing",
                "for example: --to dump");
  }
  const Result<Plan> plan = plan_of(arguments);
  if (!plan) return fail(plan.error());
  HttpPolicy policy;
  policy.hosts = plan->hosts;
  policy.allow_hosts = arguments.list("--allow-host");
  if (arguments.given("--trust")) policy.trust_file = arguments.text("--trust");
  Result<HttpClient> http = HttpClient::create(policy);
  if (!http) return fail(http.error());
  const std::string to = arguments.text("--to");
  Result<FetchFolder> folder = FetchFolder::open(to, plan->slug, session.now());
  if (!folder) return fail(folder.error());

  Patience patience;
  if (const auto pause = arguments.count("--pause")) patience.pause = milliseconds(*pause);
  PatientClient client(real_world(session, *http), patience);
  Progress progress("fetching " + plan->slug, session.quiet());
  Fetcher fetcher(
      *folder, client, [&] { return session.now(); },
      [&](const FetchCounts& counts) {
        progress.update(counts.fresh + counts.changed + counts.unchanged + counts.resumed, 0,
                        "files");
      });
  const Result<std::string> commit = plan->walk(fetcher);
  progress.clear();
  if (!commit) return fail(commit.error());
  Outcome outcome{*commit, folder->resumed(), client.requests(), {}};
  Result<std::vector<std::string>> removed = folder->finish(plan->whole, session.now());
  if (!removed) return fail(removed.error());
  outcome.removed = std::move(*removed);
  if (session.out().for_people()) {
    print_text(session.out(), *plan, fetcher, outcome, to);
  } else {
    print_json(session.out(), *plan, fetcher, outcome);
  }
  const bool whole = fetcher.missing().empty() && fetcher.refused_names().empty();
  return whole ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace

constexpr Verb kFetchVerb{
    .name = "fetch",
    .summary = "keep a folder like what a source publishes",
    .details =
        "Asks the source over HTTPS and keeps each answer as a file, with a record of where and\n"
        "when it came from; `import` then records the files as fetched. A second fetch into the\n"
        "same folder asks only for what changed, and one that broke off goes on where it was.\n\n"
        "Only the hosts of the source are asked, never an address outside the public internet\n"
        "unless --allow-host names it. Exit status 1 when the source names what it does not have.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
