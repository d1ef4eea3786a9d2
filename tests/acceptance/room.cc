// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/room.h"

#include <gtest/gtest.h>

#include "ledger/key_layout.h"
#include "tests/support/corpus.h"
#include "tools/source_files.h"
#include "verify/audit.h"

namespace kernelindex::test {

namespace fs = std::filesystem;

void must(Status status) {
  if (!status) throw std::runtime_error(status.error().text());
}

UtcMicros fixed_now() { return must(parse_utc_instant(kNowText)); }

const fs::path& shared_keys() {
  static const TempDir folder;
  static const fs::path keys = [] {
    LedgerOptions options;
    options.directory = folder / "ledger";
    options.state = folder / "state";
    options.clock = fixed_clock(fixed_now());
    must(Ledger::create(options, {}));
    return options.directory / "keys";
  }();
  return keys;
}

void copy_keys(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const fs::directory_entry& file : fs::directory_iterator(from)) {
    if (file.path().extension() == ".key") fs::copy_file(file, to / file.path().filename());
  }
}

fs::path catalog_file() {
  return corpus_path("data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst");
}
fs::path dump_folder() { return corpus_path("data/sol-dump"); }
fs::path sample_folder() { return source_root() / "tools/sample"; }

Room::Room() : directory_(temp_ / "ledger") {
  copy_keys(shared_keys(), directory_ / "keys");
  ledger_ = must(Ledger::create(options(), {}));
}

Room::Room(TempDir temp) : temp_(std::move(temp)), directory_(temp_ / "ledger") {}

Room Room::copy() const {
  TempDir folder;
  fs::copy(temp_.path(), folder.path(), fs::copy_options::recursive);
  return Room(std::move(folder));
}

LedgerOptions Room::options() const {
  LedgerOptions options;
  options.directory = directory_;
  options.state = temp_ / "state";
  options.clock = fixed_clock(fixed_now());
  return options;
}

Ledger& Room::ledger() {
  if (!ledger_) ledger_ = must(Ledger::open(options()));
  return *ledger_;
}

ingest::ImportRequest import_request(std::string_view source, const fs::path& path,
                                     ingest::ImportOptions options) {
  ingest::ImportRequest request;
  request.source = ingest::find_source(source);
  if (request.source == nullptr) throw std::runtime_error("no source " + std::string(source));
  request.options = std::move(options);
  request.files = must(tools::collect_files({path.string()}));
  return request;
}

ingest::ImportReport Room::import(std::string_view source, const fs::path& path,
                                  ingest::ImportOptions options, bool dry_run) {
  ingest::ImportRequest request = import_request(source, path, std::move(options));
  request.dry_run = dry_run;
  return must(ingest::import_source(ledger(), request));
}

ingest::ImportReport Room::import_dump(std::optional<std::size_t> top) {
  ingest::ImportOptions options;
  options.top = top;
  return import("sol-execbench", dump_folder(), options);
}

std::map<std::string, std::string> Room::environment() const {
  return {{"XDG_STATE_HOME", (temp_ / "state").string()},
          {"KERNELINDEX_LEDGER", directory_.string()},
          {"KERNELINDEX_NOW", std::string(kNowText)}};
}

Outcome Room::run(std::vector<std::string> words, RunOptions options) const {
  words.insert(words.begin(), KERNELINDEX_PROGRAM);
  options.environment.merge(environment());
  return run_program(words, options);
}

std::map<std::string, std::string> contents(const StoreView& view, Space space) {
  std::map<std::string, std::string> out;
  for (char table = 'a'; table <= 'z'; ++table) {
    StoreCursor cursor = view.scan(space, std::string(1, table));
    for (; cursor.valid(); cursor.next()) out.emplace(cursor.key(), cursor.value());
    must(cursor.status());
  }
  return out;
}

std::vector<Digest> objects(const Reader& reader) {
  std::vector<Digest> out;
  StoreCursor cursor = reader.view().scan(Space::evidence, "o");
  for (; cursor.valid(); cursor.next()) out.push_back(key_layout::last_digest(cursor.key()));
  must(cursor.status());
  return out;
}

void expect_sound(const Room& room) { expect_sound(room.options()); }

void expect_sound(const LedgerOptions& options) {
  const Result<AuditReport> report = audit_directory(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->ok()) << report->json().substr(0, 2000);
}

}  // namespace kernelindex::test
