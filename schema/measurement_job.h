// SPDX-License-Identifier: Apache-2.0
// The job document: all that a runner is handed, in one JSON document. PROTOCOL section 2.
//
// It says again what the signed measurement-job/v1 says and carries the bytes that the job names by
// digest. The reader holds each against its digest, so that a runner need trust nobody: sources
// are those of the job, operation and workloads have the identities that it names. That the job
// is a controller's, in the log and not spent, is for those who accept the result.
//
//   {"format":"kernelindex.job/1",
//    "ledger":D,"job":D,"seen":{"size":N,"root":D},
//    "run":D,"implementation":D,"runner":"<64 hex>","protocol":D,"harness":D,"clocks":"unlocked",
//    "nonce":"<base64 of 32 bytes>","expiresAt":"2026-11-30T15:10:40.123456Z",
//    "sourceReviewed":true,
//    "device":{"product":"NVIDIA H200","architecture":"sm_90","memoryBytes":N,"migProfile":T,
//              "count":1},
//    "limits":{"buildSeconds":600,"wallSeconds":900,"childSeconds":120,"outputBytes":N,
//              "vramBytes":N,"pids":64,"logBytes":16777216},
//    "operation":<OperationSpec manifest>,
//    "workloads":[<WorkloadCase manifest>,…],
//    "sources":[{"path":"kernel.cu","digest":D,"content":"<base64>"},…]}
//
// D is "sha256:" and 64 hex digits. Members that are not known are refused, absent ones are absent,
// never null. The tolerance of the source's own comparator is spec.correctness of a workload.
//
// One of the sources is the build recipe: the file kRecipePath, a document of its own:
//
//   {"format":"kernelindex.build/1","binding":"torch","language":"cuda_cpp",
//    "entry":{"path":"main.cpp","symbol":"run"},"destinationPassing":false,
//    "compileOptions":{"cflags":[T,…],"cudaCflags":[T,…],"ldFlags":[T,…]}}
//
// so that the signed job covers it. It is not compiled. Three cases of flags are kept apart
// (PROTOCOL section 4): `compileOptions` absent; present without `cudaCflags`; with a list, which
// may be empty. With binding "ki-kernel" the entry names the launch manifest (launch_manifest.h),
// and has no symbol.
//
// A runner gets no key: the process that started it and holds the key signs what it gives back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/measurement_terms.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

namespace schema {
struct Node;
}

inline constexpr std::string_view kJobFormat = "kernelindex.job/1";
inline constexpr std::string_view kRecipeFormat = "kernelindex.build/1";
inline constexpr std::string_view kRecipePath = "kernelindex.build.json";
inline constexpr std::size_t kJobDocumentBytes = 32 * limits::kMiB;
inline constexpr std::size_t kJobSourceBytes = 16 * limits::kMiB;  // all sources together
inline constexpr std::size_t kRecipeFlags = 64;                    // of each list
inline constexpr std::size_t kRecipeFlagBytes = 500;

// How the sources become something that can be called.
struct BuildRecipe {
  enum class Binding : std::uint8_t {
    torch,     // the torch shim: PYBIND11_MODULE and torch::Tensor. native_host
    ki_abi,    // ki-abi/1: extern "C" ki_run. native_host
    ki_kernel  // ki-kernel/1: kernels alone, launched by the runner. device_only
  };
  // Absent lists are not empty ones.
  struct CompileOptions {
    std::optional<std::vector<std::string>> cflags;
    std::optional<std::vector<std::string>> cuda_cflags;
    std::optional<std::vector<std::string>> ld_flags;

    bool operator==(const CompileOptions&) const = default;
  };

  Binding binding{};
  std::string language;              // a token: "cuda_cpp", "cuda"
  std::string entry_path;            // is_source_path(); a file of the sources
  std::string entry_symbol;          // the function; empty with ki_kernel
  bool destination_passing = false;  // outputs are arguments, after the inputs
  std::optional<CompileOptions> compile_options;

  TrustMode trust() const {
    return binding == Binding::ki_kernel ? TrustMode::device_only : TrustMode::native_host;
  }
  bool operator==(const BuildRecipe&) const = default;
};

std::string_view binding_name(BuildRecipe::Binding binding);  // "torch", "ki-abi", "ki-kernel"

// Reads a recipe. Errors (invalid): those of json::parse and of the schema, with the path of the
// field; WRONG_FORMAT; BAD_MEMBER.
Result<BuildRecipe> read_build_recipe(std::string_view text);
// Canonical JSON. Requires: what read_build_recipe() would accept.
std::string write_build_recipe(const BuildRecipe& recipe);

// A manifest that the job carries.
struct JobManifest {
  Digest digest;     // identity
  std::string name;  // metadata.name: "rmsnorm-h4096"; the native references go by it
  std::string text;  // the whole manifest in canonical JSON: {apiVersion, kind, metadata, spec}

  bool operator==(const JobManifest&) const = default;
};

// A file with its bytes.
struct JobSourceFile {
  std::string path;     // is_source_path()
  Digest digest;        // of the bytes
  std::string content;  // the bytes; base64 in the document

  bool operator==(const JobSourceFile&) const = default;
};

struct JobDocument {
  Digest ledger;                // ledger id
  Digest job;                   // attestation id of the measurement-job/v1: the id of the job
  std::uint64_t seen_size = 0;  // a checkpoint of the log after the job's entry
  Digest seen_root;
  Digest run;             // identity of the reported run
  Digest implementation;  // identity of what that run measured
  Digest runner;          // key id of the runner
  Digest protocol;        // identity of the controlled protocol
  Digest harness;         // SHA-256 of the runner's executable
  ClockVariant clocks{};
  JobNonce nonce{};
  UtcMicros expires_at = 0;
  bool source_reviewed = false;  // a person read the sources: host code of others may run
  JobDevice device;
  JobLimits limits;
  JobManifest operation;
  std::vector<JobManifest> workloads;  // sorted by digest, 1..kJobWorkloads
  std::vector<JobSourceFile> sources;  // sorted by path, 1..kJobSources, the recipe among them
  BuildRecipe recipe;                  // as read from the sources

  bool operator==(const JobDocument&) const = default;
};

// Reads a job and holds what it carries against the digests in it. Errors (invalid), with the path
// of the field: those of json::parse and of the schema; WRONG_FORMAT; BAD_MEMBER (order, a path
// twice); DIGEST_MISMATCH (the bytes of a source); WRONG_MANIFEST (operation or workload are of
// another kind, or a workload is of another operation); NO_RECIPE; faults of the recipe.
Result<JobDocument> read_job_document(std::string_view text);
// Canonical JSON. `recipe` is not written: it is one of the sources. Error: what
// read_job_document() says about it.
Result<std::string> write_job_document(const JobDocument& job);

// The shapes, from which `kernelindex schema` makes JSON Schema.
schema::Node job_document_shape();
schema::Node build_recipe_shape();

}  // namespace kernelindex
