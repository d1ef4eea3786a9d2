// SPDX-License-Identifier: Apache-2.0
// Columns of a catalog that follow from a manifest, for the two who need them: the import, which
// holds what a row says against them, and the export, which writes them. IMPORT sections 4 and 12.
//
// All of it is pure. Requires, throughout: a document that make_manifest() took.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/json_value.h"
#include "schema/manifest.h"

namespace kernelindex::ingest {

// A member of an object as text, or nothing when it is absent.
std::optional<std::string> text_member(const json::Value& object, std::string_view name);
std::optional<double> number_member(const json::Value& object, std::string_view name);

// The name of the first input of an operation that is a tensor; empty when there is none.
std::string first_tensor_name(const json::Value& operation);

struct TensorColumns {
  std::vector<std::string> dtypes;   // sorted, without duplicates
  std::vector<std::string> layouts;  // the same
  std::string shapes;                // "name\n[4, 8]\n" for each tensor
};
TensorColumns tensor_columns(const json::Value& workload_spec);
// "[4, 8]" of the tensor `name` in TensorColumns::shapes; "[]" when there is none of that name.
std::string shape_of(std::string_view shapes, std::string_view name);
// "suite of 12 cases".
std::string suite_summary(const WorkloadFacts& suite);

struct ImplementationColumns {
  std::optional<std::string> revision;
  std::optional<std::string> framework;
  std::vector<std::string> architectures;  // sorted, without duplicates
  bool source_available = false;
  bool installable = false;
  // Not checked by the import, since the forerunner's list of licences is not ours: the concluded
  // licence, else the declared one, when it is formed as an SPDX expression.
  std::optional<std::string> license;
  std::optional<std::string> license_declared;
  std::optional<std::string> install_kind;  // of the first build variant
  std::optional<std::string> install_command;
};
ImplementationColumns implementation_columns(const ImplementationFacts& facts,
                                             const json::Value& spec);

struct EnvironmentColumns {
  std::string_view vendor;
  std::string_view product;
  std::string_view architecture;
  std::optional<double> driver_major;
  std::optional<double> cuda_major;
  std::string summary;  // "CUDA 12.8 · pytorch 2.8.0 · harness"
};
// The texts are views of the documents.
EnvironmentColumns environment_columns(const json::Value& environment, const json::Value& protocol);

struct PrimaryColumns {
  std::string metric;  // "none" when the run has no primary measurement
  std::optional<std::string> statistic;
  std::optional<std::string> unit;
  std::optional<double> value;
  std::optional<double> sample_count;
};
PrimaryColumns primary_columns(const BenchmarkRunFacts& run);
bool has_raw_evidence(const BenchmarkRunFacts& run);

// "AMD · Supermicro AS-8125GS": what MLPerf configurations are called, by the project of their
// stack and the system; others by their title, else their name.
std::string configuration_summary(const json::Value& configuration, const json::Value& stack);

struct TopologyColumns {
  std::optional<std::string> vendor;
  double accelerators = 0;  // of a node
  double nodes = 0;
};
TopologyColumns topology_columns(const json::Value& serving_run_spec);

// One number of a run: a row of `measurements`, or what the run's manifest says of it.
struct CatalogMeasurement {
  std::string metric;
  std::string statistic;
  std::string unit;
  double value = 0;
  std::optional<double> sample_count;
};
// The entries of a manifest's `measurements`: all that a serving run has.
std::vector<CatalogMeasurement> listed_measurements(const json::Value& spec);
// All of a benchmark run: its latencies, then what is listed.
std::vector<CatalogMeasurement> run_measurements(const json::Value& spec);

}  // namespace kernelindex::ingest
