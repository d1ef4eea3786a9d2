// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "ledger/appender.h"
#include "schema/canonical_json.h"
#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/local_manifest.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::string_view kArtifact = "artifact";
constexpr std::size_t kArtifactBytes = 64 * limits::kMiB;

constexpr OptionSpec kOptions[] = {
    {.name = "--artifact",
     .value = "FILE",
     .help = "keep these bytes by their digest: kernel source, a log, raw samples",
     .kind = ValueKind::file,
     .repeated = true},
    {.name = "FILE",
     .help = "a manifest in JSON or YAML",
     .kind = ValueKind::file,
     .repeated = true},
};
constexpr std::string_view kExamples[] = {
    "add operation.yaml workload.yaml implementation.yaml run.yaml",
    "add --artifact kernel.cu",
};

struct Added {
  std::string path;
  std::string what;  // kind of manifest, or "artifact"
  Digest digest;
  Recorded recorded;
};

// A file to be recorded. All are read and checked before the first is.
struct Input {
  std::string path;
  std::string bytes;
  std::optional<Manifest> manifest;  // absent: an artifact
};

Result<Input> read(const std::string& path, bool artifact) {
  Result<std::string> bytes = read_input(path, artifact ? kArtifactBytes : limits::kManifestBytes);
  if (!bytes) return fail(bytes.error());
  Input input{path, std::move(*bytes), std::nullopt};
  if (artifact) return input;
  Result<Manifest> manifest = read_local_manifest(path, input.bytes);
  if (!manifest) return fail(manifest.error());
  input.manifest = std::move(*manifest);
  return input;
}

std::string media_type(const Input& input) {
  if (!input.manifest) return "application/octet-stream";
  const std::size_t first = input.bytes.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && input.bytes[first] == '{';
  return json ? "application/json" : "application/yaml";
}

Result<Added> record(Appender& appender, const Input& input) {
  if (!input.manifest) {
    Result<Recorded> recorded = appender.artifact(input.bytes, media_type(input));
    if (!recorded) return fail_in(input_name(input.path), recorded.error());
    return Added{input.path, std::string(kArtifact), sha256(input.bytes), *recorded};
  }
  SnapshotEntry snapshot;
  snapshot.source = std::string(kLocalSource);
  snapshot.locator = std::filesystem::path(input.path).filename().string();
  snapshot.acquired = "supplied";
  MemorySource source(input.bytes);
  const Result<Recorded> kept = appender.snapshot(snapshot, media_type(input), source);
  if (!kept) return fail_in(input_name(input.path), kept.error());
  ManifestEntry claim;
  claim.source = std::string(kLocalSource);
  claim.snapshot = sha256(input.bytes);
  const Result<Recorded> recorded = appender.claim(std::move(claim), *input.manifest);
  if (!recorded) return fail_in(input_name(input.path), recorded.error());
  return Added{input.path, std::string(kind_name(input.manifest->kind)), input.manifest->identity,
               *recorded};
}

// What the import statement keeps as its report; none for artifacts alone, which are no claims.
std::optional<std::string> kept_report(const std::vector<Added>& all) {
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> claims;
  for (const Added& added : all) {
    if (added.what == kArtifact) continue;
    claims.push_back(
        json.object().add("digest", json.digest(added.digest)).add("kind", added.what).finish());
  }
  if (claims.empty()) return std::nullopt;
  return json::canonical(
      json.object().add("source", kLocalSource).add("claims", json.array(claims)).finish());
}

void print(Output& out, const std::vector<Added>& all, const TreeHead& head) {
  if (out.for_people()) {
    for (const Added& added : all) {
      out.write(added.digest.text() + "  " + added.what + ", " +
                (added.recorded.existing ? "known already: entry " : "entry ") +
                std::to_string(added.recorded.index) + "  " + escape_text(added.path) + "\n");
    }
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> list;
  for (const Added& added : all) {
    list.push_back(json.object()
                       .add("file", added.path)
                       .add("kind", added.what)
                       .add("digest", json.digest(added.digest))
                       .add("index", json.count(added.recorded.index))
                       .add("existing", json::Value(added.recorded.existing))
                       .finish());
  }
  out.document(json.object()
                   .add("added", json.array(list))
                   .add("size", json.count(head.size))
                   .add("root", json.digest(head.root))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  std::vector<Input> inputs;
  for (const auto& [name, artifact] : {std::pair{"--artifact", true}, std::pair{"FILE", false}}) {
    for (const std::string& path : arguments.list(name)) {
      Result<Input> input = read(path, artifact);
      if (!input) return fail(input.error());
      inputs.push_back(std::move(*input));
    }
  }
  if (inputs.empty()) {
    return fail(ErrorKind::usage, "USAGE", "", "add: no file is given",
                "Try 'kernelindex add --help'");
  }
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  Result<std::unique_ptr<Appender>> appender =
      (*ledger)->append({std::string(kAddParser), std::string(kAddParserVersion)});
  if (!appender) return fail(appender.error());
  std::vector<Added> all;
  for (const Input& input : inputs) {
    Result<Added> added = record(**appender, input);
    if (!added) return fail(added.error());
    all.push_back(std::move(*added));
  }
  if (Status status = (*appender)->finish(kept_report(all)); !status) return fail(status.error());
  const Result<SignedCheckpoint> checkpoint = (*ledger)->checkpoint();
  if (!checkpoint) return fail(checkpoint.error());
  print(session.out(), all, checkpoint->checkpoint.head);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kAddVerb{
    .name = "add",
    .summary = "record manifests from files, or keep artifacts",
    .details =
        "The file is kept as the snapshot of a claim whose source is local; it can name no other.\n"
        "A number from another source has a level only when it is imported from that source's "
        "bytes.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
