// SPDX-License-Identifier: Apache-2.0
// The JSON Schemas of predicates, manifests and documents of runners: what needs no ledger.
#include <filesystem>
#include <string>
#include <vector>

#include "ledger/predicate_schemas.h"
#include "schema/json_reader.h"
#include "schema/json_schema.h"
#include "schema/launch_manifest.h"
#include "schema/manifest_schema.h"
#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/sentinel_session.h"
#include "tools/output_file.h"
#include "tools/pretty_json.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--to",
     .value = "DIR",
     .help = "write all of them as files: predicates/<name>-v<version>.schema.json,\n"
             "manifests/<kind>.schema.json and runner/<document>.schema.json",
     .kind = ValueKind::output},
    {.name = "NAME",
     .help = "a predicate, \"note/v1\", a kind, \"BenchmarkRun\", or a document of a runner,\n"
             "\"job\"; none: list all"},
};
constexpr std::string_view kExamples[] = {"schema", "schema note/v1", "schema --to schemas"};

struct NamedSchema {
  std::string name;   // "note/v1", "BenchmarkRun"
  std::string about;  // one line
  std::string file;   // below the folder of schemas
  json::Value schema;
};

NamedSchema predicate_schema(const PredicateType& type, json::Arena& arena) {
  const Result<json::Value> schema = json::parse(arena.copy(predicate_json_schema(type)), arena);
  return {std::string(type.name),
          "predicate, signed in the role " + std::string(role_name(type.signers[0])),
          "predicates/" + predicate_schema_file(type), schema.value()};
}

NamedSchema manifest_schema(ManifestKind kind, json::Arena& arena) {
  const std::string name(kind_name(kind));
  const std::string file = "manifests/" + name + ".schema.json";
  const json::Value schema = schema::json_schema_document(
      schema::document_schema(kind), "https://kernelindex.dev/schemas/" + file, name,
      "A manifest of the kind " + name + " in its normal form, " + std::string(kApiVersion) + ".",
      arena);
  return {name, "manifest", file, schema};
}

// A document that passes between a ledger and a runner.
struct RunnerDocument {
  std::string_view name;  // also of the file
  std::string_view about;
  schema::Node (*shape)();
};
constexpr RunnerDocument kRunnerDocuments[] = {
    {"job", "what a runner is handed", job_document_shape},
    {"build", "how the sources of a job are built", build_recipe_shape},
    {"launch", "how kernels without host code are launched", launch_manifest_shape},
    {"result", "what a runner measured", measurement_result_shape},
    {"calibration-request", "which sentinel sessions a runner is to run",
     calibration_request_shape},
    {"calibration", "sentinel sessions of a runner", calibration_document_shape},
};

NamedSchema runner_schema(const RunnerDocument& document, json::Arena& arena) {
  const std::string file = "runner/" + std::string(document.name) + ".schema.json";
  const json::Value schema = schema::json_schema_document(
      document.shape(), "https://kernelindex.dev/schemas/" + file, document.name,
      "A document of controlled measurement: " + std::string(document.about) + ".", arena);
  return {std::string(document.name), "document: " + std::string(document.about), file, schema};
}

std::vector<NamedSchema> all_schemas(json::Arena& arena) {
  std::vector<NamedSchema> schemas;
  for (const PredicateType& type : predicate_types()) {
    schemas.push_back(predicate_schema(type, arena));
  }
  for (std::size_t i = 1; i <= kManifestKinds; ++i) {
    schemas.push_back(manifest_schema(static_cast<ManifestKind>(i), arena));
  }
  for (const RunnerDocument& document : kRunnerDocuments) {
    schemas.push_back(runner_schema(document, arena));
  }
  return schemas;
}

Status write_all(const std::vector<NamedSchema>& schemas, const std::filesystem::path& folder) {
  for (const NamedSchema& one : schemas) {
    const std::filesystem::path path = folder / one.file;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return fail(ErrorKind::system, "CANNOT_WRITE", path.parent_path().string(), error.message());
    }
    OutputFile file(path.string());
    if (Status ok = file.open(); !ok) return ok;
    if (Status ok = file.write(pretty_json(one.schema)); !ok) return ok;
    if (Status ok = file.commit(); !ok) return ok;
  }
  return {};
}

void list_all(const std::vector<NamedSchema>& schemas, Output& out, json::Arena& arena) {
  std::vector<json::Value> list;
  for (const NamedSchema& one : schemas) {
    if (out.for_people()) {
      out.write(one.name + std::string(one.name.size() < 24 ? 24 - one.name.size() : 1, ' ') +
                one.about + "\n");
    }
    list.push_back(json::ObjectBuilder(arena)
                       .add("name", arena.copy(one.name))
                       .add("file", arena.copy(one.file))
                       .finish());
  }
  if (!out.for_people()) {
    out.document(json::ObjectBuilder(arena).add("schemas", arena.array(list)).finish());
  }
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  json::Arena arena;
  const std::vector<NamedSchema> schemas = all_schemas(arena);
  const std::string name = arguments.text("NAME");
  if (arguments.given("--to")) {
    if (!name.empty()) {
      return fail(ErrorKind::usage, "USAGE", "", "--to writes all schemas, not one",
                  "Leave NAME out, or redirect the output of `schema NAME`");
    }
    if (Status ok = write_all(schemas, arguments.text("--to")); !ok) return fail(ok.error());
    return ExitCode::done;
  }
  if (name.empty()) {
    list_all(schemas, session.out(), arena);
    return ExitCode::done;
  }
  for (const NamedSchema& one : schemas) {
    if (one.name != name) continue;
    if (session.out().for_people()) {
      session.out().write(pretty_json(one.schema));
    } else {
      session.out().document(one.schema);
    }
    return ExitCode::done;
  }
  return fail(ErrorKind::not_found, "UNKNOWN_SCHEMA", name, "there is no schema of this name",
              "`kernelindex schema` lists the names");
}

}  // namespace

constexpr Verb kSchemaVerb{
    .name = "schema",
    .summary = "print the JSON Schema of a predicate, a kind of manifest or a document of a runner",
    .details =
        "JSON Schema, draft 2020-12, for programs in other languages. A schema refuses only\n"
        "what kernelindex refuses; some rules, such as the order of a list, it cannot say.\n"
        "An installed kernelindex has them in share/kernelindex/schemas.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
