// SPDX-License-Identifier: Apache-2.0
// A ledger of a test's own, with everything around it that could make two ledgers differ held
// still: the clock stands, and all rooms of a process have the same key files. So two rooms that
// recorded the same have the same root.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/import.h"
#include "ledger/ledger.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::test {

inline constexpr std::string_view kNowText = "2026-08-20T12:00:00Z";
UtcMicros fixed_now();

// A folder of key files of all roles, made once for this process.
const std::filesystem::path& shared_keys();
// Copies the key files alone: marks beside them belong to another ledger's life.
void copy_keys(const std::filesystem::path& from, const std::filesystem::path& to);

std::filesystem::path catalog_file();
std::filesystem::path dump_folder();
std::filesystem::path sample_folder();

// Throws std::runtime_error with the error's text: for steps that must succeed.
template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return std::move(*result);
}
void must(Status status);

class Room {
 public:
  // A ledger that was just founded.
  Room();
  // The same folders again, as a copy. Requires: the other one is closed.
  Room copy() const;
  Room(Room&&) = default;

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path folder() const { return temp_.path(); }
  LedgerOptions options() const;

  // Open for writing from the first use until close().
  Ledger& ledger();
  void close() { ledger_.reset(); }
  Reader read() { return ledger().read(); }
  TreeHead head() { return read().head(); }

  ingest::ImportReport import(std::string_view source, const std::filesystem::path& path,
                              ingest::ImportOptions options = {}, bool dry_run = false);
  ingest::ImportReport import_catalog() { return import("kernelindex-catalog", catalog_file()); }
  ingest::ImportReport import_dump(std::optional<std::size_t> top = 3);
  ingest::ImportReport import_sample() { return import("sol-execbench", sample_folder()); }

  // The program on this ledger. Requires: closed, when the verb writes.
  Outcome run(std::vector<std::string> words, RunOptions options = {}) const;
  std::map<std::string, std::string> environment() const;

 private:
  explicit Room(TempDir temp);

  TempDir temp_;
  std::filesystem::path directory_;
  std::unique_ptr<Ledger> ledger_;
};

ingest::ImportRequest import_request(std::string_view source, const std::filesystem::path& path,
                                     ingest::ImportOptions options = {});

// All keys and values of a space.
std::map<std::string, std::string> contents(const StoreView& view, Space space);
// The digests of all objects held.
std::vector<Digest> objects(const Reader& reader);
// Expects the audit to find nothing; what it found is in the message. Requires: closed.
void expect_sound(const Room& room);
void expect_sound(const LedgerOptions& options);

}  // namespace kernelindex::test
