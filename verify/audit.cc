// SPDX-License-Identifier: Apache-2.0
#include "verify/audit.h"

#include <algorithm>

#include "ledger/key_layout.h"
#include "verify/audit_passes.h"

namespace kernelindex {
namespace {

using auditing::AuditState;

// Attempts to open a ledger whose marks are ahead: a writer may have moved it on in between.
constexpr int kOpenings = 5;

struct Stored {
  std::optional<LedgerFormat> format;
  std::optional<TreeHead> head;
  std::vector<std::pair<std::string, Error>> errors;
};

template <typename Value, typename Decode>
void read_fixed(const StoreView& view, const std::string& key, const char* name, Decode decode,
                std::optional<Value>& out, Stored& stored) {
  const Result<std::optional<std::string>> text = view.get(Space::evidence, key);
  if (!text) {
    stored.errors.emplace_back(name, text.error());
    return;
  }
  if (!*text) {
    stored.errors.emplace_back(name,
                               Error{ErrorKind::corrupt, "MISSING_RECORD", {}, "is lost", {}});
    return;
  }
  Result<Value> value = decode(**text);
  if (value) {
    out = std::move(*value);
  } else {
    stored.errors.emplace_back(name, value.error());
  }
}

Stored read_stored(const StoreView& view) {
  Stored stored;
  read_fixed(view, key_layout::format(), "the format", decode_format, stored.format, stored);
  read_fixed(view, key_layout::head(), "the head", decode_head, stored.head, stored);
  return stored;
}

std::vector<ReleasedMark> marks_of(const LedgerOptions& places, const Stored& stored) {
  const Digest id = stored.format ? stored.format->ledger_id : Digest{};
  return read_marks({places.directory, places.keys, places.state}, id);
}

std::uint64_t largest(const std::vector<ReleasedMark>& marks) {
  std::uint64_t size = 0;
  for (const ReleasedMark& mark : marks) {
    if (mark.checkpoint) size = std::max(size, mark.checkpoint->checkpoint.head.size);
  }
  return size;
}

// A reader of leaves and objects, whatever the head says.
Reader reader_of(StoreView view, const Stored& stored) {
  auto state = std::make_shared<LogState>();
  if (stored.format) state->format = *stored.format;
  state->head = stored.head.value_or(TreeHead{limits::kTreeSize, {}});
  return Reader(std::move(view), std::move(state));
}

AuditReport audit_store(const Store& store, const LedgerOptions& places,
                        const AuditOptions& options, Stored stored, std::vector<ReleasedMark> marks,
                        const std::optional<Error>& damage) {
  AuditState state(store, places, options, reader_of(store.view(), stored));
  state.format = stored.format;
  state.head = stored.head;
  state.marks = std::move(marks);
  for (const auto& [name, error] : stored.errors) {
    state.faults.add(Fault{}, error.code, name + ": " + error.message);
  }
  if (damage) {
    state.faults.add_derived(Fault{}, "DERIVED_UNREADABLE",
                             "derived data cannot be opened: " + damage->message);
  }
  const std::uint64_t size = stored.head ? stored.head->size : 0;
  state.workers.expect(3 * size);
  state.workers.next_worth(size);
  scan_log_and_objects(state);
  state.workers.next_worth(size);
  check_entries(state);
  check_chains(state);
  check_statements(state);
  check_imports(state);
  check_orphans(state);
  check_places(state);
  state.workers.next_worth(size);
  check_derived(state);
  state.faults.move_to(state.report);
  return std::move(state.report);
}

// Whether something of a database lies here, even if it is damaged.
bool database_there(const std::filesystem::path& directory) {
  std::error_code error;
  for (std::filesystem::directory_iterator file(directory, error), end; file != end;
       file.increment(error)) {
    if (error) break;
    const std::string name = file->path().filename().string();
    if (name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".sst") ||
        name.ends_with(".log")) {
      return true;
    }
  }
  return false;
}

struct Opened {
  std::unique_ptr<Store> store;
  std::optional<Error> damage;  // of derived data: only the evidence could be opened
};

Result<Opened> open_store(const LedgerOptions& ledger) {
  const std::string database = (ledger.directory / "db").string();
  StoreOptions options;
  options.read_only = true;
  options.file_system = ledger.file_system;
  Result<std::unique_ptr<Store>> store = Store::open(database, options);
  if (store) return Opened{std::move(*store), std::nullopt};
  options.evidence_only = true;
  Result<std::unique_ptr<Store>> evidence = Store::open(database, options);
  if (!evidence) return fail(store.error());
  return Opened{std::move(*evidence), store.error()};
}

// The report of a ledger that cannot be opened at all.
AuditReport unopened(const Error& error) {
  AuditReport report;
  report.root = empty_root();
  Fault fault;
  fault.code = error.code == "NO_LEDGER" ? "DAMAGED_STORE" : error.code;
  fault.what = error.code == "NO_LEDGER" ? "the database cannot be opened: its file CURRENT is lost"
                                         : "the database cannot be opened: " + error.message;
  report.faults.push_back(std::move(fault));
  return report;
}

}  // namespace

Result<AuditReport> audit_directory(const LedgerOptions& given, const AuditOptions& options) {
  LedgerOptions ledger = given;
  if (ledger.keys.empty()) ledger.keys = ledger.directory / "keys";
  if (ledger.state.empty()) ledger.state = user_state_directory();
  for (int opening = 1;; ++opening) {
    Result<Opened> opened = open_store(ledger);
    if (!opened) {
      const Error& error = opened.error();
      const bool nothing = error.code == "NO_LEDGER" && !database_there(ledger.directory / "db");
      if (nothing || error.code == "PERMISSION") return fail(error);
      return unopened(error);
    }
    Stored stored = read_stored(opened->store->view());
    if (stored.format && !ledger.expect_origin.empty() &&
        stored.format->origin != ledger.expect_origin) {
      return fail(
          ErrorKind::refused, "ORIGIN_DIFFERS", ledger.directory.string(),
          "the ledger's origin is " + stored.format->origin + ", not " + ledger.expect_origin);
    }
    std::vector<ReleasedMark> marks = marks_of(ledger, stored);
    // The store is a picture of the moment when it was opened; marks are read later.
    if (stored.head && largest(marks) > stored.head->size && opening < kOpenings) continue;
    return audit_store(*opened->store, ledger, options, std::move(stored), std::move(marks),
                       opened->damage);
  }
}

AuditReport audit(const Ledger& ledger, const AuditOptions& options) {
  Stored stored = read_stored(ledger.store().view());
  std::vector<ReleasedMark> marks = marks_of(ledger.options(), stored);
  std::optional<Error> damage;
  if (!ledger.store().has_derived()) damage = ledger.derived_fault();
  return audit_store(ledger.store(), ledger.options(), options, std::move(stored), std::move(marks),
                     damage);
}

}  // namespace kernelindex
