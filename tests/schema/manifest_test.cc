// SPDX-License-Identifier: Apache-2.0
#include "schema/manifest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/yaml_reader.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

const std::string kDigestA = "sha256:" + std::string(64, 'a');
const std::string kDigestB = "sha256:" + std::string(64, 'b');
const std::string kDigestC = "sha256:" + std::string(64, 'c');
const std::string kDigestD = "sha256:" + std::string(64, 'd');

std::string document(std::string_view kind, std::string_view spec,
                     std::string_view metadata = R"({"name":"n"})") {
  return R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":")" + std::string(kind) +
         R"(","metadata":)" + std::string(metadata) + R"(,"spec":)" + std::string(spec) + "}";
}

// The spec of a run; `rest` are further members.
std::string run_spec(const std::string& rest) {
  return R"({"implementationDigest":")" + kDigestA + R"(","workloadDigest":")" + kDigestB +
         R"(","protocolDigest":")" + kDigestC + R"(","environmentDigest":")" + kDigestD +
         R"(","status":"passed","observedAt":"2026-06-29T21:49:23.345Z")" + rest + "}";
}

Manifest manifest(const std::string& text) {
  Result<Manifest> read = read_manifest(text);
  if (!read) throw std::runtime_error(read.error().text());
  return *std::move(read);
}

// "place CODE" of the first fault; empty when there is none.
std::string fault(const std::string& text) {
  const Result<Manifest> read = read_manifest(text);
  return read ? "" : read.error().place + " " + read.error().code;
}

// The vector of IMPORT section 1.2.
TEST(Manifest, IdentityDigestOfThePinnedProject) {
  const std::string spec =
      R"({"name":"Vector Project","repository":"https://example.invalid/vector/project"})";
  const Manifest project = manifest(document("SoftwareProject", spec));
  EXPECT_EQ(project.identity.text(),
            "sha256:bea60af06f12216679b113d6624c5293d59bef2104ccc27cd33c992d124e039d");
  EXPECT_EQ(
      identity_body(project),
      R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","spec":)" + spec + "}");
  EXPECT_EQ(sha256(identity_body(project)), project.identity);
}

TEST(Manifest, MetadataChangesTheDocumentAndNotTheIdentity) {
  const Manifest one = manifest(document("SoftwareProject", R"({"name":"P"})"));
  const Manifest two = manifest(document("SoftwareProject", R"({"name":"P"})",
                                         R"({"name":"m","labels":{"a":"x","spec":"y"}})"));
  EXPECT_EQ(one.identity, two.identity);
  EXPECT_NE(one.document, two.document);
  EXPECT_EQ(identity_body(one), identity_body(two));
  EXPECT_EQ(two.document, sha256(two.bytes));
}

TEST(Manifest, OrderSpacesAndEscapesOfTheTextDoNotMatter) {
  const Manifest one = manifest(document("SoftwareProject", R"({"name":"P","kind":"vendor"})"));
  const Manifest two = manifest(
      "{ \"spec\": {\"kind\" :\"vendor\", \"name\":\"\\u0050\"},\n \"metadata\":{\"name\":\"n\"},"
      "\"kind\":\"SoftwareProject\",\"apiVersion\":\"kernelindex.dev\\/v1alpha1\"}");
  EXPECT_EQ(one.bytes, two.bytes);
  EXPECT_EQ(one.identity, two.identity);
}

TEST(Manifest, CanonicalBytesReadBackToTheSameManifest) {
  const Manifest first = manifest(
      document("BenchmarkRun",
               run_spec(R"(,"timing":{"primaryStatistic":"mean","latencyNs":{"mean":"1.5 ms"}})")));
  const Manifest again = manifest(first.bytes);
  EXPECT_EQ(again.bytes, first.bytes);
  EXPECT_EQ(again.identity, first.identity);
  EXPECT_NE(first.bytes.find(R"("mean":1500000)"), std::string::npos);
}

TEST(Manifest, ADurationTextAndItsNanosecondsAreOneIdentity) {
  const auto run = [](const std::string& value) {
    return manifest(document("BenchmarkRun", run_spec(R"(,"timing":{"primaryStatistic":"median",)"
                                                      R"("latencyNs":{"median":)" +
                                                      value + "}}")))
        .identity;
  };
  EXPECT_EQ(run("\"8.5 us\""), run("8500"));
  EXPECT_NE(run("\"8.5 us\""), run("8501"));
}

TEST(Manifest, SupportListsAreSets) {
  const auto implementation = [](const std::string& dtypes) {
    return manifest(document(
        "ImplementationRevision",
        R"({"projectRevision":{},"operation":{"specDigest":")" + kDigestA +
            R"("},"callable":{"language":"cuda"},"support":{"hardwareArchitectures":[],"dtypes":)" +
            dtypes + R"(},"licensing":{}})"));
  };
  EXPECT_EQ(implementation(R"(["fp32","bf16","fp32"])").identity,
            implementation(R"(["bf16","fp32"])").identity);
}

TEST(Manifest, InstantsAreKeptAsTheyWereWritten) {
  const auto run = [](const std::string& instant) {
    std::string text = document("BenchmarkRun", run_spec(""));
    text.replace(text.find("2026-06-29T21:49:23.345Z"), 24, instant);
    return manifest(text);
  };
  const Manifest one = run("2026-08-01T12:00:00Z");
  const Manifest two = run("2026-08-01T12:00:00.000Z");
  EXPECT_NE(one.identity, two.identity);
  EXPECT_EQ(std::get<BenchmarkRunFacts>(one.facts).observed_at,
            std::get<BenchmarkRunFacts>(two.facts).observed_at);
}

// The fault of a one-line text, with its column told by the text that stands there.
std::string at(const std::string& text, std::string_view what, std::string_view rest) {
  return "1:" + std::to_string(text.find(what) + 1) + std::string(rest);
}

TEST(Manifest, FaultsCarryLineColumnAndFieldPath) {
  const std::string unknown = document("SoftwareProject", R"({"name":"P","foo":17})");
  EXPECT_EQ(fault(unknown), at(unknown, "17}", ": spec.foo UNKNOWN_FIELD"));
  const std::string missing = document("SoftwareProject", R"({"kind":"vendor"})");
  EXPECT_EQ(fault(missing), at(missing, "{\"kind\":\"v", ": spec.name MISSING_FIELD"));
  const std::string deep =
      document("OperationSpec", R"({"family":"f","axes":{"m":{"role":"variable","type":"integer",)"
                                R"("foo":17}},"inputs":[],"outputs":[],"semantics":{}})");
  EXPECT_EQ(fault(deep), at(deep, "17}", ": spec.axes.m.foo UNKNOWN_FIELD"));
  const std::string null = document("SoftwareProject", R"({"name":null})");
  EXPECT_EQ(fault(null), at(null, "null", ": spec.name NULL_FIELD"));
  const std::string name =
      document("SoftwareProject", R"({"name":"P"})", R"({"name":"Not A Name"})");
  EXPECT_EQ(fault(name), at(name, "\"Not A", ": metadata.name BAD_TEXT"));
  const std::string lines = document("SoftwareProject", "{\n\"name\":\n  5}");
  EXPECT_EQ(fault(lines), "3:3: spec.name WRONG_TYPE");
}

TEST(Manifest, TheEnvelopeIsExact) {
  EXPECT_EQ(fault("{}"), "1:1: apiVersion MISSING_FIELD");
  EXPECT_EQ(fault("[]"), "1:1 WRONG_TYPE");
  const std::string nonsense = document("Nonsense", "{}");
  EXPECT_EQ(fault(nonsense), at(nonsense, "\"Nonsense", ": kind UNKNOWN_VALUE"));
  EXPECT_EQ(fault(R"({"apiVersion":"kernelindex.dev/v1beta1","kind":"SoftwareProject",)"
                  R"("metadata":{"name":"n"},"spec":{"name":"P"}})"),
            "1:15: apiVersion UNKNOWN_VALUE");
  std::string extra = document("SoftwareProject", R"({"name":"P"})");
  extra.insert(1, R"("status":{},)");
  EXPECT_EQ(fault(extra), "1:11: status UNKNOWN_FIELD");
}

TEST(Manifest, CrossFieldRulesHold) {
  const auto operation = [](const std::string& axis, const std::string& input) {
    return fault(document("OperationSpec",
                          R"({"family":"f","axes":{"m":)" + axis + R"(},"inputs":[)" + input +
                              R"(],"outputs":[{"name":"o","scalar":{"dtype":"fp32"}}],"semantics":)"
                              R"({"mutation":"none","determinism":"unspecified"}})"));
  };
  const std::string scalar = R"({"name":"i","scalar":{"dtype":"fp32"}})";
  const std::string tensor = R"({"name":"i","tensor":{"shape":["m",4],"dtype":"fp32"}})";
  const std::string variable = R"({"role":"variable","type":"integer"})";
  EXPECT_EQ(operation(variable, scalar), "");
  EXPECT_EQ(operation(variable, tensor), "");
  EXPECT_NE(operation(R"({"role":"constant","type":"integer"})", scalar).find("RULE_BROKEN"),
            std::string::npos);
  EXPECT_EQ(operation(R"({"role":"constant","type":"integer","value":4})", scalar), "");
  EXPECT_NE(operation(R"({"role":"derived","type":"integer"})", scalar).find("RULE_BROKEN"),
            std::string::npos);
  EXPECT_EQ(operation(R"({"role":"derived","type":"integer","expression":"2*m"})", scalar), "");
  EXPECT_NE(operation(variable, R"({"name":"i"})").find("spec.inputs[0] RULE_BROKEN"),
            std::string::npos);
  EXPECT_NE(operation(variable, R"({"name":"i","scalar":{"dtype":"fp32"},"tensor":{"shape":[1],)"
                                R"("dtype":"fp32"}})")
                .find("spec.inputs[0] RULE_BROKEN"),
            std::string::npos);
  EXPECT_NE(
      fault(document("BenchmarkRun",
                     run_spec(R"(,"timing":{"primaryStatistic":"p95","latencyNs":{"p95":1}})")))
          .find("spec.timing.latencyNs RULE_BROKEN"),
      std::string::npos);
}

TEST(Manifest, AllFaultsAreListedUpToALimit) {
  json::Arena arena;
  const std::string text = document("SoftwareProject", R"({"foo":1,"name":3,"kind":"x"})");
  const Result<json::Value> value = json::parse(text, arena);
  std::vector<std::string> places;
  for (const Error& error : validate_manifest(*value)) places.push_back(error.place);
  EXPECT_EQ(places, (std::vector<std::string>{"spec.foo", "spec.name", "spec.kind"}));
  EXPECT_EQ(validate_manifest(*value, 2).size(), 2u);
  EXPECT_EQ(validate_manifest(*value, 1, text)[0].place, at(text, "1,\"name", ": spec.foo"));
  const Result<json::Value> good =
      json::parse(document("SoftwareProject", R"({"name":"P"})"), arena);
  EXPECT_TRUE(validate_manifest(*good).empty());
}

TEST(Manifest, ACanonicalTextAboveTheLimitIsRefused) {
  std::string packages;
  for (int i = 0; i < 5600; ++i) {
    packages += std::string(i > 0 ? "," : "") + R"({"ecosystem":"p","name":")" +
                std::string(170, 'x') + "\"}";
  }
  const std::string text =
      document("SoftwareProject", R"({"name":"P","packages":[)" + packages + "]}");
  ASSERT_GT(text.size(), limits::kManifestBytes);
  EXPECT_EQ(fault(text), " TOO_LARGE");
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena, {limits::kAnyJsonBytes});
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(make_manifest(*value, arena).error().code, "TOO_LARGE");
}

std::optional<PrimaryMeasurement> primary(const std::string& rest) {
  return std::get<BenchmarkRunFacts>(manifest(document("BenchmarkRun", run_spec(rest))).facts)
      .primary;
}

TEST(Manifest, ThePrimaryMeasurementIsTheTimingThatTheStatisticNames) {
  const auto timing = [](const std::string& statistic, const std::string& latency) {
    return primary(R"(,"timing":{"primaryStatistic":")" + statistic + R"(","latencyNs":)" +
                   latency +
                   R"(,"samples":200},"measurements":[{"metric":"m","unit":"u","statistic":"s",)"
                   R"("value":1}])")
        .value();
  };
  const std::string both = R"({"mean":10,"median":20,"p95":30})";
  EXPECT_EQ(timing("mean", both).key(), "latency:mean:ns");
  EXPECT_EQ(timing("mean", both).value, 10);
  EXPECT_EQ(timing("median", both).value, 20);
  EXPECT_EQ(timing("median", both).sample_count, 200);
  EXPECT_TRUE(timing("median", both).statistic_present);
  EXPECT_EQ(timing("p95", both).value, 20) << "any other statistic takes the median";
  EXPECT_FALSE(timing("p95", both).statistic_present);
  EXPECT_EQ(timing("p95", both).key(), "latency:p95:ns");
  EXPECT_EQ(timing("mean", R"({"median":20})").value, 20);
  EXPECT_FALSE(timing("mean", R"({"median":20})").statistic_present);
  EXPECT_EQ(timing("median", R"({"mean":10})").value, 10);
  EXPECT_FALSE(timing("median", R"({"mean":10})").statistic_present);
}

TEST(Manifest, WithoutTimingTheFirstMeasurementIsPrimary) {
  const auto measured =
      primary(R"(,"measurements":[{"metric":"score","unit":"s","statistic":"geomean","value":0.5,)"
              R"("sampleCount":3},{"metric":"x","unit":"y","statistic":"z","value":1}])");
  ASSERT_TRUE(measured.has_value());
  EXPECT_EQ(measured->key(), "score:geomean:s");
  EXPECT_EQ(measured->value, 0.5);
  EXPECT_EQ(measured->sample_count, 3);
  EXPECT_TRUE(measured->statistic_present);
  EXPECT_FALSE(primary("").has_value());
  EXPECT_FALSE(primary(R"(,"measurements":[])").has_value());
}

TEST(Manifest, RunFactsNameEverythingTheRunRefersTo) {
  const std::string artifact = R"({"uri":"u","digest":")";
  const Manifest run = manifest(document(
      "BenchmarkRun",
      run_spec(R"(,"timing":{"primaryStatistic":"mean","latencyNs":{"mean":1},"rawSamples":)" +
               artifact + kDigestA + R"("}},"evidence":{"logs":)" + artifact + kDigestB +
               R"("},"rawSamples":)" + artifact + kDigestC +
               R"("}},"sourceNative":{"source":"src","externalId":"e"})")));
  const auto& facts = std::get<BenchmarkRunFacts>(run.facts);
  EXPECT_EQ(facts.implementation.text(), kDigestA);
  EXPECT_EQ(facts.workload.text(), kDigestB);
  EXPECT_EQ(facts.protocol.text(), kDigestC);
  EXPECT_EQ(facts.environment.text(), kDigestD);
  ASSERT_EQ(facts.raw_samples.size(), 2u);
  EXPECT_EQ(facts.raw_samples[0].text(), kDigestA);
  EXPECT_EQ(facts.raw_samples[1].text(), kDigestC);
  ASSERT_EQ(facts.logs.size(), 1u);
  EXPECT_EQ(facts.source_native->source, "src");
  EXPECT_EQ(facts.source_native->external_id, "e");
  EXPECT_EQ(facts.source_native->benchmark, "");
  EXPECT_EQ(format_utc_millis(facts.observed_at), "2026-06-29T21:49:23.345Z");
  std::vector<std::string> fields;
  for (const Reference& reference : run.references) fields.push_back(reference.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"spec.environmentDigest", "spec.implementationDigest",
                                              "spec.protocolDigest", "spec.workloadDigest"}));
}

TEST(Manifest, ServingFactsGiveTheTextsOfTheCohortKey) {
  const Manifest run = manifest(document(
      "ServingRun",
      R"({"modelDigest":")" + kDigestA + R"(","configurationDigest":")" + kDigestB +
          R"(","workloadDigest":")" + kDigestC +
          R"(","topology":{"acceleratorModel":"H200","acceleratorsPerNode":8,"nodeCount":2},)"
          R"("harness":{"name":"h","version":"v1"},"qualityPolicy":"q","status":"valid",)"
          R"("measurements":[{"metric":"b","unit":"u","statistic":"s","value":2},)"
          R"({"metric":"a","unit":"u","statistic":"s","value":3},)"
          R"({"metric":"b","unit":"u","statistic":"s","value":4}],)"
          R"("observedAt":"2026-06-29T21:49Z"})"));
  const auto& facts = std::get<ServingRunFacts>(run.facts);
  EXPECT_EQ(facts.topology_key, "unknown/H200/8x2/unspecified");
  EXPECT_EQ(facts.metric_set_key, "a\xC2\xB7s,b\xC2\xB7s");
  EXPECT_EQ(facts.harness, "h/v1");
  EXPECT_EQ(facts.placement, "unspecified");
  EXPECT_EQ(facts.primary->value, 2);
  EXPECT_EQ(run.references.size(), 3u);
}

TEST(Manifest, LabelIsTheTitleElseTheName) {
  EXPECT_EQ(manifest(document("SoftwareProject", R"({"name":"P"})")).label(), "n");
  EXPECT_EQ(manifest(document("SoftwareProject", R"({"name":"P"})", R"({"name":"n","title":"T"})"))
                .label(),
            "T");
}

TEST(Manifest, KindNamesReadBack) {
  for (std::size_t i = 1; i <= kManifestKinds; ++i) {
    const auto kind = static_cast<ManifestKind>(i);
    EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  }
  EXPECT_FALSE(kind_from_name("benchmarkrun").has_value());
}

class Examples : public testing::Test {
 protected:
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }

  static Result<Manifest> read(const std::string& name) {
    return read_manifest_file_text(
        test::read_file(test::corpus_path("data/sources/kernelindex/examples/" + name)));
  }
};

// Each example names the others by digest, so the digests of most of them are published by the
// rest.
TEST_F(Examples, TheThirteenKindsReferToEachOtherByTheDigestsThatWeCompute) {
  std::map<ManifestKind, Manifest> examples;
  for (const auto& file : std::filesystem::directory_iterator(
           test::corpus_path("data/sources/kernelindex/examples"))) {
    if (file.path().extension() != ".yaml") continue;
    Result<Manifest> example = read(file.path().filename());
    ASSERT_TRUE(example.has_value()) << file.path() << ": " << example.error().text();
    examples.emplace(example->kind, *std::move(example));
  }
  ASSERT_EQ(examples.size(), kManifestKinds);
  const std::map<std::string, ManifestKind> targets = {
      {"spec.operationSpecDigest", ManifestKind::operation_spec},
      {"spec.operation.specDigest", ManifestKind::operation_spec},
      {"spec.implementationDigest", ManifestKind::implementation_revision},
      {"spec.protocolDigest", ManifestKind::benchmark_protocol},
      {"spec.environmentDigest", ManifestKind::execution_environment},
      {"spec.stackDigest", ManifestKind::serving_stack_revision},
      {"spec.modelDigest", ManifestKind::model_revision},
      {"spec.configurationDigest", ManifestKind::serving_configuration}};
  std::size_t references = 0;
  for (const auto& [kind, example] : examples) {
    for (const Reference& reference : example.references) {
      ManifestKind target = kind == ManifestKind::serving_run ? ManifestKind::serving_workload
                                                              : ManifestKind::workload_case;
      if (reference.field != "spec.workloadDigest") target = targets.at(reference.field);
      EXPECT_EQ(reference.digest, examples.at(target).identity)
          << kind_name(kind) << " " << reference.field;
      ++references;
    }
  }
  EXPECT_EQ(references, 11u);
}

TEST_F(Examples, InvalidOnesAreRefusedForTheirReason) {
  const std::map<std::string, std::pair<std::string, std::string>> reasons = {
      {"ambiguous-duration", {"AMBIGUOUS_DURATION", "15:15: spec.timing.latencyNs.median"}},
      {"bad-digest", {"BAD_TEXT", "7:24: spec.operationSpecDigest"}},
      {"duplicate-key", {"DUPLICATE_KEY", "8:3"}},
      {"unknown-field", {"UNKNOWN_FIELD", "8:15: spec.popularity"}}};
  for (const auto& [name, reason] : reasons) {
    const Result<Manifest> example = read("invalid/" + name + ".yaml");
    ASSERT_FALSE(example.has_value()) << name;
    EXPECT_EQ(example.error().kind, ErrorKind::invalid);
    EXPECT_EQ(example.error().code, reason.first) << name;
    EXPECT_EQ(example.error().place, reason.second) << name;
  }
}

}  // namespace
}  // namespace kernelindex
