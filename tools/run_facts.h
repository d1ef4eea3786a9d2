// SPDX-License-Identifier: Apache-2.0
// A run and what it refers to, as names and texts for people: what the page of a run lists and what
// a comparison aligns. Nothing of a document is left out: what has no name of its own here is
// listed under its field path. Names and texts are from outside and not escaped.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/query.h"
#include "schema/json_value.h"

namespace kernelindex::tools {

struct Fact {
  std::string name;
  std::string value;
};
using Facts = std::vector<Fact>;

// The shown documents of manifests, each read and parsed once. Values live as long as this.
class Documents {
 public:
  explicit Documents(const Reader& reader) : reader_(reader) {}
  // Null when the ledger holds no such manifest, or its bytes are withheld. Errors: those of
  // show_manifest(), and DAMAGED_OBJECT for bytes that are no document.
  Result<json::Value> read(const Digest& identity);
  json::Arena& arena() { return arena_; }

 private:
  const Reader& reader_;
  json::Arena arena_;
  std::map<Digest, json::Value> known_;
};

// Every plain value of a document's spec by its field path, but for those below `left_out` paths
// and for digests of manifests.
Facts field_facts(const json::Value& document, const std::vector<std::string_view>& left_out = {});

// Each takes a document of its kind, or null, of which there are no facts.
Facts protocol_facts(const json::Value& protocol);        // harness, timer, primaryStatistic, ...
Facts environment_facts(const json::Value& environment);  // gpu, ...
Facts workload_facts(const json::Value& workload);        // of a case its axes, of a suite its rule
Facts correctness_facts(const json::Value& workload);     // the rule of a case or suite
Facts implementation_facts(const json::Value& implementation);
Facts measurement_facts(const json::Value& run);  // "latency · mean", "59.8 µs"
// What the run itself says of its errors; empty when it says nothing.
Facts run_correctness_facts(const json::Value& run);
// sourceNative.metrics, each under the source's own name, in its own numbers.
Facts source_metric_facts(const json::Value& run);
// "SOL 0.7008", "2.28× reference", "16/16 cases faster": what is known by name, then the others as
// "name value". Only what no measurement says already.
std::vector<std::string> source_metric_line(const json::Value& run);

// Spread of the primary measurement, "95 % interval 59.1 µs to 60.4 µs"; empty when none is said.
std::vector<std::string> spread_texts(const json::Value& run);

// "suite of 16 cases · mean latency" of a suite; of a case its axes, "hidden_dim=768, …".
std::string workload_text(const json::Value& workload);

// A plain value as text: strings as they are, numbers in their shortest form.
std::string plain_text(const json::Value& value);

}  // namespace kernelindex::tools
