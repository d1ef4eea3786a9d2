// SPDX-License-Identifier: Apache-2.0
// A job for tests of the flow.
#pragma once

#include <string>

#include "schema/manifest.h"
#include "schema/measurement_job.h"
#include "tests/support/corpus.h"

namespace kernelindex::runner::test {

// A job about rmsnorm, made of the manifests that importers give.
inline JobDocument rmsnorm_job() {
  const auto carried = [](const std::string& text) {
    const Manifest manifest = read_manifest(text).value();
    return JobManifest{manifest.identity, manifest.name, manifest.bytes};
  };
  JobDocument job;
  job.ledger = sha256("ledger");
  job.job = sha256("job");
  job.seen_size = 20;
  job.seen_root = sha256("root");
  job.run = sha256("run");
  job.implementation = sha256("implementation");
  job.runner = sha256("runner");
  job.protocol = sha256("protocol");
  job.harness = sha256("harness");
  job.nonce = sha256("nonce").bytes;
  job.expires_at = parse_utc_instant("2099-12-01T12:00:00.000000Z").value();
  job.source_reviewed = true;
  job.device = {"NVIDIA H200", "sm_90", std::nullopt, "", 1};
  job.limits.output_bytes = 1 << 23;
  job.limits.vram_bytes = std::int64_t{16} << 30;
  job.operation = carried(kernelindex::test::read_file(
      kernelindex::test::source_root() / "tests/cuda/data/operations/rmsnorm-h4096.json"));
  job.workloads = {carried(
      R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"WorkloadCase",
          "metadata":{"name":"rmsnorm-h4096-33bf737d"},
          "spec":{"axes":{"batch_size":7},"correctness":{"comparator":"sol_execbench_eval"},
                  "operationSpecDigest":")" +
      job.operation.digest.text() +
      R"(","tensors":{"hidden_states":{"dtype":"bf16","shape":[7,4096]},
                      "weight":{"dtype":"bf16","shape":[4096]}}}})")};
  job.recipe.binding = BuildRecipe::Binding::torch;
  job.recipe.language = "cuda_cpp";
  job.recipe.entry_path = "main.cpp";
  job.recipe.entry_symbol = "run";
  const auto file = [](std::string path, std::string content) {
    return JobSourceFile{std::move(path), sha256(content), content};
  };
  job.sources = {file("kernel.cu", "__global__ void k();\n"),
                 file(std::string(kRecipePath), write_build_recipe(job.recipe)),
                 file("main.cpp", "void run() { getenv(\"X\"); }\n")};
  return job;
}

}  // namespace kernelindex::runner::test
