// SPDX-License-Identifier: Apache-2.0
// A small ledger on disk with fixed keys and a fixed clock, and the verbs to spoil it.
//
// Nothing stays open between two verbs, so each one is also a reopening. A forged record is one
// that an insider could make: leaf, object, tiles, head and checkpoint are right, only what it says
// is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/appender.h"
#include "ledger/ledger.h"
#include "tests/support/temp_dir.h"
#include "verify/audit.h"

namespace kernelindex::test {

// 2026-01-01T00:00:00Z
inline constexpr UtcMicros kFixtureTime = 1'767'225'600'000'000;

// The key of a role that all fixtures share.
SigningKey fixture_key(Role role);
// A manifest of {kind, metadata {name}, spec}. Throws when it is not valid.
Manifest make_document(ManifestKind kind, std::string_view name, const std::string& spec);

// What the small ledger holds, by the names of the tests.
struct SmallRecords {
  Manifest operation;
  Manifest project;
  Manifest workload;
  Manifest protocol;
  Manifest environment;
  Manifest implementation;
  Manifest run;           // claimed twice: by its own source, and by another
  Manifest replaced_run;  // whose source names `run` as its successor
  Manifest model;
  Manifest stack;
  Manifest configuration;
  Manifest serving_workload;
  Manifest serving_run;
  std::string snapshot = "the bytes that the first import read\n";
  std::string fetched = "the bytes that the second import read\n";
  std::string source = "__global__ void add() {}\n";  // an artifact
  std::string large;                                  // an artifact of more than 1 MiB, or empty

  SmallRecords();
  void add_large();
};

enum class Shape {
  plain,         // in table files
  large_object,  // the same, and one of the artifacts has more than 1 MiB
  killed,        // as a kill leaves it: the records lie in the write-ahead log
};

class LedgerFixture {
 public:
  // Makes the ledger: two imports, of which the first has a report.
  explicit LedgerFixture(Shape shape = Shape::plain);
  // A copy of a ledger that lies elsewhere.
  explicit LedgerFixture(const std::filesystem::path& original);

  const SmallRecords& records() const { return records_; }
  const std::filesystem::path& directory() const { return directory_; }
  LedgerOptions options() const;
  std::unique_ptr<Ledger> open() const;

  AuditReport audit(const AuditOptions& options = {}) const;

  // ---- damage to the store ----
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  std::string get(Space space, std::string_view key) const;
  void put(Space space, std::string_view key, std::string_view value);
  void erase(Space space, std::string_view key);
  void erase_all(Space space);
  // Changes a value in place.
  void edit(Space space, std::string_view key, const std::function<void(std::string&)>& change);
  // All keys that begin with `prefix`.
  Pairs scan(Space space, std::string_view prefix) const;
  Pairs all(Space space) const;
  // Moves everything from the write-ahead log into table files.
  void flush();

  // ---- damage to files ----
  void flip_bit(const std::filesystem::path& file, std::uint64_t offset, unsigned bit = 0);
  void truncate(const std::filesystem::path& file, std::uint64_t size);

  // ---- an insider's records ----
  // Adds an entry about `object` and a right tree over it. Ends with seal().
  std::uint64_t forge(Entry entry, std::string_view object);
  // Adds a statement signed by `key` as the entry after the last.
  std::uint64_t forge_statement(const Attestation& statement, const SigningKey& key);
  // A binding that is right for what comes next.
  Binding binding(Role signer) const;
  // Makes derived data anew and signs the checkpoint.
  void seal();

  Digest ledger_id() const;
  TreeHead head() const;

 private:
  // Reading leaves every file as it is.
  std::unique_ptr<Store> store(bool read_only) const;

  TempDir place_;
  std::filesystem::path directory_;
  SmallRecords records_;
};

}  // namespace kernelindex::test
