// SPDX-License-Identifier: Apache-2.0
// The parts of a result document: shape, reader and writer of each. Internal to schema/.
//
// Readers require a value that the shape accepts.
#pragma once

#include "schema/document_schema.h"
#include "schema/json_value.h"
#include "schema/measurement_result.h"

namespace kernelindex::result_members {

// environment, sandbox, polls, build
schema::Node environment_shape();
void read_environment(const json::Value& value, MeasurementResult& out);
json::Value write_environment(const MeasurementResult& from, json::Arena& arena);

schema::Node sandbox_shape();
SandboxFacts read_sandbox(const json::Value& value);
json::Value write_sandbox(const SandboxFacts& from, json::Arena& arena);

schema::Node polls_shape();
DevicePolls read_polls(const json::Value& value);
json::Value write_polls(const DevicePolls& from, json::Arena& arena);

schema::Node build_shape();
BuildFacts read_build(const json::Value& value);
json::Value write_build(const BuildFacts& from, json::Arena& arena);

// trials, correctness
schema::Node round_shape();
CorrectnessRound read_round(const json::Value& value);
json::Value write_round(const CorrectnessRound& from, json::Arena& arena);

schema::Node control_shape();
VacuityControl read_control(const json::Value& value);
json::Value write_control(const VacuityControl& from, json::Arena& arena);

schema::Node trial_shape();
Trial read_trial(const json::Value& value);
json::Value write_trial(const Trial& from, json::Arena& arena);

schema::Node statistics_shape();
ResultStatistics read_statistics(const json::Value& value);
json::Value write_statistics(const ResultStatistics& from, json::Arena& arena);

schema::Node check_shape();
RunnerCheck read_check(const json::Value& value);
json::Value write_check(const RunnerCheck& from, json::Arena& arena);

schema::Node log_shape();
RunnerLog read_log(const json::Value& value);
json::Value write_log(const RunnerLog& from, json::Arena& arena);

}  // namespace kernelindex::result_members
