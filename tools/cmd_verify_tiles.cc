// SPDX-License-Identifier: Apache-2.0
// verify tiles: a log in a folder or on a server, judged without any ledger of one's own.
#include "ledger/entry.h"
#include "ledger/static_log.h"
#include "tools/display_text.h"
#include "tools/http_source.h"
#include "tools/json_output.h"
#include "tools/log_keys.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--key",
     .value = "VKEY",
     .help = "a key of the log, name+hex+base64, from somewhere else than the log; repeat it "
             "for each key of a log that changed keys",
     .repeated = true},
    {.name = "--hashes-only",
     .help = "the tree alone: for logs whose entry bundles are of another format"},
    {.name = "--allow-host",
     .value = "HOST",
     .help = "ask this host also without TLS and at a private address",
     .repeated = true},
    {.name = "LOG",
     .help = "the folder, or the URL, that has the log's checkpoint",
     .kind = ValueKind::folder,
     .required = true},
};
constexpr std::string_view kExamples[] = {
    "verify tiles public/log --key \"$(cat log.vkey)\"",
    "verify tiles https://example.org/log --key example.org/log+47c1c1b2+AddamAGC... --json",
};

struct Judgement {
  StaticLogReport report;
  std::uint64_t other_entries = 0;  // that are none of ours, or of a version to come
};

// A folder, or what a server has.
Result<std::unique_ptr<ResourceSource>> open_log(const Arguments& arguments) {
  const std::string where = arguments.text("LOG");
  if (!where.starts_with("https://") && !where.starts_with("http://")) {
    return std::make_unique<DirectorySource>(where);
  }
  Result<HttpSource> source = HttpSource::open(where, arguments.list("--allow-host"));
  if (!source) return fail(source.error());
  return std::make_unique<HttpSource>(std::move(*source));
}

Result<Judgement> judge(Session& session, const Arguments& arguments) {
  const Result<std::vector<VerifierKey>> keys = trusted_log_keys(arguments, "verify tiles");
  if (!keys) return fail(keys.error());
  const Result<std::unique_ptr<ResourceSource>> source = open_log(arguments);
  if (!source) return fail(source.error());
  Judgement judgement;
  StaticLogOptions options;
  options.entries = !arguments.given("--hashes-only");
  options.objects = [&](std::string_view leaf) -> Result<std::vector<Digest>> {
    const Result<Entry> entry = decode_entry(leaf);
    if (entry) return std::vector{entry->content.digest};
    ++judgement.other_entries;
    return std::vector<Digest>();
  };
  Progress progress("verifying", session.quiet());
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total, "leaves");
  };
  Result<StaticLogReport> report = verify_static_log(**source, *keys, options);
  if (!report) return fail_in(arguments.text("LOG"), report.error());
  judgement.report = std::move(*report);
  return judgement;
}

void print_text(Output& out, const Judgement& judgement) {
  const StaticLogReport& report = judgement.report;
  for (const StaticLogFault& fault : report.faults) {
    out.write(out.terminal().tinted(fault.code, Tone::bad) + "  " +
              escape_text(fault.path + ": " + fault.what) + "\n");
    if (!fault.expected.empty()) out.write("    expected  " + escape_text(fault.expected) + "\n");
    if (!fault.found.empty()) out.write("    found     " + escape_text(fault.found) + "\n");
  }
  if (report.faults_left_out != 0) {
    out.write("and " + counted(report.faults_left_out, "more", "more") + "\n");
  }
  out.write("origin   " + escape_text(report.checkpoint.origin) + "\n");
  out.write("size     " + grouped(report.checkpoint.head.size) + "\n");
  out.write("root     " + report.checkpoint.head.root.text() + "\n");
  out.write("checked  " + counted(report.leaves, "leaf", "leaves") + ", " +
            counted(report.tiles, "tile") + ", " + counted(report.bundles, "bundle") + ", " +
            counted(report.objects, "object") + "\n");
  if (report.unjudged != 0) {
    out.write("left     " + counted(report.unjudged, "leaf", "leaves") + " could not be judged\n");
  }
  if (report.objects_absent != 0) {
    out.write("absent   " + counted(report.objects_absent, "object") +
              " that entries name: withheld, or not exported\n");
  }
  if (judgement.other_entries != 0) {
    out.write("unread   " + counted(judgement.other_entries, "entry", "entries") +
              " of no kind known here; their objects were not looked at\n");
  }
  const std::uint64_t faults = report.faults.size() + report.faults_left_out;
  out.write(report.ok() ? out.terminal().tinted("OK", Tone::good) + "\n"
                        : out.terminal().tinted(counted(faults, "fault"), Tone::bad) + "\n");
}

void print_json(Output& out, const Judgement& judgement) {
  const StaticLogReport& report = judgement.report;
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> faults;
  for (const StaticLogFault& fault : report.faults) {
    faults.push_back(json.object()
                         .add("path", json.text(fault.path))
                         .add("code", json.text(fault.code))
                         .add("what", json.text(fault.what))
                         .add_if(!fault.expected.empty(), "expected", fault.expected)
                         .add_if(!fault.found.empty(), "found", fault.found)
                         .finish());
  }
  out.document(json.object()
                   .add("ok", json::Value(report.ok()))
                   .add("origin", json.text(report.checkpoint.origin))
                   .add("size", json.count(report.checkpoint.head.size))
                   .add("root", json.digest(report.checkpoint.head.root))
                   .add("checked", json.object()
                                       .add("leaves", json.count(report.leaves))
                                       .add("tiles", json.count(report.tiles))
                                       .add("bundles", json.count(report.bundles))
                                       .add("objects", json.count(report.objects))
                                       .finish())
                   .add("unjudged", json.count(report.unjudged))
                   .add("objectsAbsent", json.count(report.objects_absent))
                   .add("otherEntries", json.count(judgement.other_entries))
                   .add("faults", json.array(faults))
                   .add("faultsLeftOut", json.count(report.faults_left_out))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<Judgement> judgement = judge(session, arguments);
  if (!judgement) return fail(judgement.error());
  if (session.out().for_people()) {
    print_text(session.out(), *judgement);
  } else {
    print_json(session.out(), *judgement);
  }
  return judgement->report.ok() ? ExitCode::done : ExitCode::check_failed;
}

}  // namespace

constexpr Verb kVerifyTilesVerb{
    .name = "verify tiles",
    .summary = "check a log that lies in a folder or on a server as static files",
    .details =
        "The layout is C2SP tlog-tiles, as 'export tiles' writes it. The checkpoint's signature, "
        "each\n"
        "tile against its parent, each entry against its leaf hash, and each object that an entry "
        "of\n"
        "ours names against its digest. Nothing that lies there is trusted; exit 1 when something "
        "is\n"
        "false or missing, and the path of each fault. Objects may be withheld: they are counted.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
