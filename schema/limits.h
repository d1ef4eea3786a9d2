// SPDX-License-Identifier: Apache-2.0
// Every bound that a reader of outside bytes enforces, in one place. DESIGN sections 4, 5 and 11.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelindex::limits {

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::uint64_t kGiB = 1024 * kMiB;

// JSON, any document.
inline constexpr unsigned kJsonDepth = 64;
inline constexpr std::size_t kNumberTokenBytes = 1024;
inline constexpr double kSafeInteger = 9007199254740991.0;  // 2^53 - 1

// Document sizes in bytes.
inline constexpr std::size_t kManifestBytes = kMiB;
inline constexpr std::size_t kAnyJsonBytes = 16 * kMiB;     // `manifest canonicalize --any`
inline constexpr std::size_t kSourceJsonBytes = 64 * kMiB;  // one document of a source
inline constexpr std::size_t kSourceLineBytes = 16 * kMiB;  // one line of a JSON-lines source

// YAML authoring.
inline constexpr std::size_t kYamlAliases = 100;
inline constexpr std::size_t kYamlNodes = 100'000;

// The log.
inline constexpr std::size_t kEntryBytes = 65'535;
inline constexpr std::size_t kFactsBytes = 16 * kKiB;
inline constexpr std::size_t kObjectChunkBytes = kMiB;
inline constexpr std::uint64_t kObjectBytes = 2 * kGiB;
inline constexpr std::uint64_t kTreeSize = 0x7fff'ffff'ffff'ffff;  // others keep sizes in int64
inline constexpr std::size_t kProofHashes = 64;
inline constexpr std::size_t kBatchEntries = 1'000;
inline constexpr std::size_t kBatchBytes = 8 * kMiB;

// Signed notes.
inline constexpr std::size_t kNoteBytes = 256 * kKiB;
inline constexpr std::size_t kNoteSignatures = 64;
inline constexpr std::size_t kNoteNameBytes = 255;
inline constexpr std::size_t kEnvelopeBytes = 4 * kMiB;

static_assert(kFactsBytes < kEntryBytes);
static_assert(kEntryBytes < kManifestBytes);
static_assert(kObjectChunkBytes <= kBatchBytes);

}  // namespace kernelindex::limits
