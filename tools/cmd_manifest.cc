// SPDX-License-Identifier: Apache-2.0
// manifest validate, digest, canonicalize: what needs no ledger.
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/manifest.h"
#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kFileOption{
    .name = "FILE",
    .help = "a manifest in JSON or YAML; - for standard input",
    .kind = ValueKind::file,
    .required = true,
};

Result<Manifest> read(const std::string& path) {
  const Result<std::string> bytes = read_input(path, limits::kManifestBytes);
  if (!bytes) return fail(bytes.error());
  Result<Manifest> manifest = read_manifest_file_text(*bytes, manifest_syntax(path));
  if (!manifest) return fail_in(input_name(path), manifest.error());
  return manifest;
}

json::Value fault_document(const Error& fault, json::Arena& arena) {
  return json::ObjectBuilder(arena)
      .add("code", fault.code)
      .add_if(!fault.place.empty(), "place", fault.place)
      .add("message", fault.message)
      .finish();
}

// One file's verdict: a line for people, or a document. True when the manifest is valid.
Result<bool> validate_one(Session& session, const std::string& path) {
  const Result<std::string> bytes = read_input(path, limits::kManifestBytes);
  if (!bytes) return fail(bytes.error());
  json::Arena arena;
  std::vector<Error> faults;
  const Result<json::Value> document =
      parse_manifest_file_text(*bytes, arena, manifest_syntax(path));
  if (document) {
    faults = validate_manifest(*document);
  } else {
    faults.push_back(document.error());
  }

  Output& out = session.out();
  json::ObjectBuilder verdict(arena);
  verdict.add("file", path).add("valid", json::Value(faults.empty()));
  std::vector<json::Value> list;
  for (const Error& fault : faults) {
    list.push_back(fault_document(fault, arena));
    if (out.for_people()) out.write(escape_text(input_name(path) + ": " + fault.text()) + "\n");
  }
  if (faults.empty()) {
    const Result<Manifest> manifest = make_manifest(*document, arena);
    if (!manifest) return fail_in(input_name(path), manifest.error());
    verdict.add("kind", kind_name(manifest->kind))
        .add("digest", arena.copy(manifest->identity.text()))
        .add("document", arena.copy(manifest->document.text()));
    if (out.for_people()) {
      out.write(escape_text(input_name(path)) + ": valid " +
                std::string(kind_name(manifest->kind)) + ", " + manifest->identity.text() + "\n");
    }
  }
  if (!out.for_people()) out.document(verdict.add("faults", arena.array(list)).finish());
  return faults.empty();
}

constexpr OptionSpec kValidateOptions[] = {{
    .name = "FILE",
    .help = "manifests in JSON or YAML; - for standard input",
    .kind = ValueKind::file,
    .required = true,
    .repeated = true,
}};
constexpr std::string_view kValidateExamples[] = {"manifest validate run.yaml environment.json"};

Result<ExitCode> validate(Session& session, const Arguments& arguments) {
  ExitCode code = ExitCode::done;
  for (const std::string& path : arguments.list("FILE")) {
    const Result<bool> valid = validate_one(session, path);
    if (!valid) return fail(valid.error());
    if (!*valid) code = ExitCode::bad_input;
  }
  return code;
}

constexpr OptionSpec kDigestOptions[] = {kFileOption};
constexpr std::string_view kDigestExamples[] = {"manifest digest run.yaml"};

Result<ExitCode> digest(Session& session, const Arguments& arguments) {
  const Result<Manifest> manifest = read(arguments.text("FILE"));
  if (!manifest) return fail(manifest.error());
  if (session.out().for_people()) {
    session.out().write(manifest->identity.text() + "\n");
    return ExitCode::done;
  }
  json::Arena arena;
  session.out().document(json::ObjectBuilder(arena)
                             .add("kind", kind_name(manifest->kind))
                             .add("digest", arena.copy(manifest->identity.text()))
                             .add("document", arena.copy(manifest->document.text()))
                             .finish());
  return ExitCode::done;
}

constexpr OptionSpec kCanonicalizeOptions[] = {
    {.name = "--identity", .help = "of the identity body {apiVersion, kind, spec} alone"},
    {.name = "--any", .help = "of any JSON document up to 16 MiB, without a schema"},
    kFileOption,
};
constexpr std::string_view kCanonicalizeExamples[] = {
    "manifest canonicalize --identity run.json | sha256sum",
    "manifest canonicalize --any - < document.json",
};

Result<ExitCode> canonicalize(Session& session, const Arguments& arguments) {
  const std::string path = arguments.text("FILE");
  if (arguments.given("--identity") && arguments.given("--any")) {
    return fail(ErrorKind::usage, "USAGE", "", "--identity and --any exclude each other",
                "A document of no kind has no identity; give one of them");
  }
  if (arguments.given("--any")) {
    const Result<std::string> bytes = read_input(path, limits::kAnyJsonBytes);
    if (!bytes) return fail(bytes.error());
    json::Arena arena;
    const Result<json::Value> value = json::parse(*bytes, arena, {.bytes = limits::kAnyJsonBytes});
    if (!value) return fail_in(input_name(path), value.error());
    session.out().write(json::canonical(*value));
    return ExitCode::done;
  }
  const Result<Manifest> manifest = read(path);
  if (!manifest) return fail(manifest.error());
  session.out().write(arguments.given("--identity") ? identity_body(*manifest) : manifest->bytes);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kManifestValidateVerb{
    .name = "manifest validate",
    .summary = "check manifests against the schema of their kind",
    .details = "Every fault is listed with its field path. Exit 3 when a manifest is not valid.",
    .options = kValidateOptions,
    .examples = kValidateExamples,
    .run = validate,
};

constexpr Verb kManifestDigestVerb{
    .name = "manifest digest",
    .summary = "print the identity digest of a manifest",
    .details =
        "The SHA-256 of the canonical JSON of {apiVersion, kind, spec}; metadata never counts.",
    .options = kDigestOptions,
    .examples = kDigestExamples,
    .run = digest,
};

constexpr Verb kManifestCanonicalizeVerb{
    .name = "manifest canonicalize",
    .summary = "print the canonical bytes of a manifest, with no newline added",
    .details = "Canonical JSON is RFC 8785 after the manifest was validated and normalised.",
    .options = kCanonicalizeOptions,
    .examples = kCanonicalizeExamples,
    .run = canonicalize,
};

}  // namespace kernelindex::tools
