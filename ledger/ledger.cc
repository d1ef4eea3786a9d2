// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "ledger/appender.h"
#include "ledger/key_layout.h"
#include "ledger/role_keys.h"
#include "ledger/stored_object.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

constexpr int kFormatVersion = 1;
constexpr const char* kHowToGoOn =
    "signing here would fork the log: bring the lost entries back with `kernelindex restore` and a "
    "newer backup; where there is none, found a new ledger and take this one over with "
    "`kernelindex import kernelindex-ledger`";

std::unexpected<Error> unknown_format(std::string message) {
  return fail(ErrorKind::invalid, "UNKNOWN_FORMAT", {}, std::move(message),
              "use the version of this program that made the ledger, or a newer one");
}

// The index in a key of the statements' tables.
Result<std::uint64_t> index_of(std::string_view key) {
  if (key.size() == 9) return key_layout::from_big_endian(key.substr(1));
  return fail(ErrorKind::corrupt, "DAMAGED_ROW", {}, "a key of derived data is damaged",
              "`kernelindex reindex` makes derived data anew");
}

// The key file of a role; made when there is none.
Result<KeyFile> existing_or_new_key(const LedgerOptions& options, Role role,
                                    const std::string& owner) {
  Result<KeyFile> existing = read_role_key(options.keys, role, options.passphrase);
  if (existing || existing.error().code != "NO_KEY_FILE") return existing;
  KeyFile fresh{role, owner, SigningKey::generate()};
  if (Status status = create_key_file(key_file_path(options.keys, role), fresh, options.passphrase);
      !status) {
    return fail(status.error());
  }
  return fresh;
}

// The folders of a ledger that is about to be founded. Error LEDGER_EXISTS.
Status make_place(const LedgerOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(options.directory / "db", error)) {
    return fail(ErrorKind::refused, "LEDGER_EXISTS", options.directory.string(),
                "there is a ledger here already", "use it, or name another directory");
  }
  for (const std::filesystem::path& folder : {options.directory, options.keys}) {
    std::filesystem::create_directories(folder, error);
    if (error) {
      return fail(ErrorKind::system, "PERMISSION", folder.string(),
                  "cannot make the directory: " + error.message());
    }
  }
  std::filesystem::permissions(options.keys, std::filesystem::perms::owner_all, error);
  return {};
}

}  // namespace

Clock system_clock() {
  return [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  };
}

Clock fixed_clock(UtcMicros time) {
  return [time] { return time; };
}

// ---- the two fixed texts ----

std::string encode_head(const TreeHead& head) {
  json::Arena arena;
  return json::canonical(arena.object({{"v", json::Value(1.0)},
                                       {"size", json::Value(static_cast<double>(head.size))},
                                       {"root", arena.string(head.root.text())}}));
}

Result<TreeHead> decode_head(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena);
  if (value) {
    const json::Value* size = value->find("size");
    const Result<Digest> root = Digest::parse(value->text("root"));
    if (size != nullptr && size->is_number() && root) {
      const TreeHead head{static_cast<std::uint64_t>(size->number()), *root};
      if (encode_head(head) == text) return head;
    }
  }
  return fail(ErrorKind::corrupt, "DAMAGED_HEAD", {}, "the head of the log is damaged",
              "run `kernelindex audit`");
}

std::string encode_format(const LedgerFormat& format) {
  json::Arena arena;
  return json::canonical(
      arena.object({{"v", json::Value(static_cast<double>(kFormatVersion))},
                    {"entryVersion", json::Value(static_cast<double>(kEntryVersion))},
                    {"tileHeight", json::Value(static_cast<double>(kTileHeight))},
                    {"origin", arena.string(format.origin)},
                    {"owner", arena.string(format.owner)},
                    {"ledgerId", arena.string(format.ledger_id.text())}}));
}

Result<LedgerFormat> decode_format(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena);
  if (!value) return fail(value.error());
  const auto number = [&](std::string_view name) {
    const json::Value* member = value->find(name);
    return member != nullptr && member->is_number() ? member->number() : -1.0;
  };
  if (number("v") != kFormatVersion) {
    return unknown_format("the ledger has format version " +
                          std::to_string(static_cast<int>(number("v"))) + ", this program knows 1");
  }
  if (number("tileHeight") != kTileHeight) {
    return unknown_format("the ledger has tiles of another height than 8");
  }
  if (number("entryVersion") != kEntryVersion) {
    return unknown_format("the ledger has entries of another version than 1");
  }
  const Result<Digest> ledger_id = Digest::parse(value->text("ledgerId"));
  if (!ledger_id) return fail(ledger_id.error());
  LedgerFormat format{std::string(value->text("origin")), std::string(value->text("owner")),
                      *ledger_id};
  if (encode_format(format) != text) {
    return unknown_format("the format of the ledger has members that this program does not know");
  }
  return format;
}

// ---- opening ----

Ledger::Ledger(LedgerOptions options, std::unique_ptr<Store> store)
    : options_(std::move(options)), store_(std::move(store)) {}

Ledger::~Ledger() = default;

Result<LedgerOptions> Ledger::complete(LedgerOptions options) {
  if (options.directory.empty()) {
    return fail(ErrorKind::usage, "NO_DIRECTORY", {}, "a ledger needs a directory");
  }
  if (options.keys.empty()) options.keys = options.directory / "keys";
  if (options.state.empty()) options.state = user_state_directory();
  if (!options.clock) options.clock = system_clock();
  return options;
}

Result<std::vector<Attestation>> Ledger::prepare(const LedgerOptions& given,
                                                 const FoundingOptions& founding,
                                                 const PublicKey& root) {
  const Result<LedgerOptions> options = complete(given);
  if (!options) return fail(options.error());
  if (Status status = make_place(*options); !status) return fail(status.error());
  std::array<PublicKey, kFoundingRoles.size()> keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Result<KeyFile> key = existing_or_new_key(*options, kFoundingRoles[i], founding.owner);
    if (!key) return fail(key.error());
    keys[i] = key->key.public_key();
  }
  return founding_statements(founding, root, keys);
}

Result<std::unique_ptr<Ledger>> Ledger::create(const LedgerOptions& given,
                                               const FoundingOptions& founding) {
  const Result<LedgerOptions> options = complete(given);
  if (!options) return fail(options.error());
  if (Status status = make_place(*options); !status) return fail(status.error());
  const Result<KeyFile> root = existing_or_new_key(*options, Role::root, founding.owner);
  if (!root) return fail(root.error());
  const Result<std::vector<Attestation>> statements =
      prepare(*options, founding, root->key.public_key());
  if (!statements) return fail(statements.error());
  std::vector<Envelope> envelopes;
  for (const Attestation& statement : *statements) {
    Result<std::string> payload = statement.encode();
    if (!payload) return fail(payload.error());
    Result<Envelope> envelope = sign_envelope(std::move(*payload), root->key);
    if (!envelope) return fail(envelope.error());
    envelopes.push_back(std::move(*envelope));
  }
  return create_from(*options, envelopes);
}

Result<std::unique_ptr<Ledger>> Ledger::create_from(const LedgerOptions& given,
                                                    std::span<const Envelope> envelopes) {
  Result<LedgerOptions> options = complete(given);
  if (!options) return fail(options.error());
  const Result<Founding> founding = read_founding(envelopes);
  if (!founding) return fail(founding.error());
  if (Status status = make_place(*options); !status) return fail(status.error());
  // Without it the first checkpoint could not be signed, after everything was written.
  const Result<KeyFile> log = read_role_key(options->keys, Role::log, options->passphrase);
  if (!log) return fail(log.error());
  if (log->key.public_key() != founding->terms.log_key) {
    return fail(ErrorKind::refused, "KEY_DIFFERS", key_file_path(options->keys, Role::log).string(),
                "the founding names another log key: " + founding->terms.log_key.base64(),
                "bring the key file that `kernelindex init --root` made");
  }
  StoreOptions store_options;
  store_options.create = true;
  store_options.file_system = options->file_system;
  Result<std::unique_ptr<Store>> store =
      Store::open((options->directory / "db").string(), store_options);
  if (!store) return fail(store.error());
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(*options), std::move(*store)));
  if (Status status = ledger->found(*founding); !status) return fail(status.error());
  return ledger;
}

// The founding is one batch.
Status Ledger::found(const Founding& founding) {
  format_ = {founding.terms.origin, founding.terms.owner, founding.ledger_id};
  auto state = std::make_shared<LogState>();
  state->head.root = empty_root();
  state->format = format_;
  set_state(state);
  Appender appender(*this, {});
  if (Status status = appender.open(); !status) return status;
  for (const FoundingEntry& entry : founding.entries) {
    const Result<std::uint64_t> index = appender.add_attestation(
        entry.envelope, entry.said.subject, predicate_type(entry.said.predicate).uri(),
        entry.said.binding.signer, &entry.said);
    if (!index) return fail(index.error());
  }
  return appender.found(encode_format(format_));
}

Result<std::unique_ptr<Ledger>> Ledger::open(const LedgerOptions& given) {
  Result<LedgerOptions> options = complete(given);
  if (!options) return fail(options.error());
  const std::string database = (options->directory / "db").string();
  std::error_code ignored;
  if (!options->read_only && std::filesystem::exists(options->directory / "backup.json", ignored)) {
    return fail(ErrorKind::refused, "IS_BACKUP", options->directory.string(),
                "this is a backup, which is never written to",
                "bring it back as a ledger with `kernelindex restore`");
  }
  StoreOptions store_options;
  store_options.read_only = options->read_only;
  store_options.file_system = options->file_system;
  Result<std::unique_ptr<Store>> store = Store::open(database, store_options);
  std::optional<Error> damage;
  if (!store && store.error().kind == ErrorKind::corrupt) {
    // Damage to derived data must not keep the log from being read.
    damage = store.error();
    store_options.evidence_only = true;
    Result<std::unique_ptr<Store>> evidence = Store::open(database, store_options);
    if (evidence) store = std::move(evidence);
  }
  if (!store) return fail(store.error());
  std::unique_ptr<Ledger> ledger(new Ledger(std::move(*options), std::move(*store)));
  ledger->derived_fault_ = damage;
  if (Status status = ledger->load(!damage); !status) return fail(status.error());
  const std::string& expected = ledger->options_.expect_origin;
  if (!expected.empty() && expected != ledger->format_.origin) {
    return fail(ErrorKind::refused, "ORIGIN_DIFFERS", ledger->options_.directory.string(),
                "the ledger's origin is " + ledger->format_.origin + ", not " + expected);
  }
  ledger->compare_marks();
  if (!ledger->options_.read_only && !damage) {
    if (Status status = ledger->collect_unnamed_chunks(); !status) return fail(status.error());
    if (Status status = ledger->remove_withheld(); !status) return fail(status.error());
  }
  return ledger;
}

Status Ledger::load(bool derived) {
  const StoreView view = store_->view();
  Result<std::optional<std::string>> format = view.get(Space::evidence, key_layout::format());
  if (!format) return fail(format.error());
  Result<std::optional<std::string>> head = view.get(Space::evidence, key_layout::head());
  if (!head) return fail(head.error());
  if (!*format || !*head) {
    return fail(ErrorKind::not_found, "NO_LEDGER", options_.directory.string(),
                "the ledger was never founded: `init` did not finish",
                "remove the directory and run `kernelindex init` again");
  }
  Result<LedgerFormat> read_format = decode_format(**format);
  if (!read_format) return fail_in(options_.directory.string(), read_format.error());
  format_ = *read_format;
  Result<TreeHead> read_head = decode_head(**head);
  if (!read_head) return fail_in(options_.directory.string(), read_head.error());
  auto state = std::make_shared<LogState>();
  state->format = format_;
  state->head = *read_head;
  set_state(state);
  if (!derived) return {};
  Status loaded = load_derived_state(view, *state);
  // Whatever is wrong with derived data, the log can be read and `reindex` run.
  if (!loaded && loaded.error().kind != ErrorKind::system) {
    derived_fault_ = loaded.error();
    loaded = {};
  }
  return loaded;
}

// Keys and import ranges, from the derived index of the statements that make them.
Status Ledger::load_derived_state(const StoreView& view, LogState& state) {
  const Result<std::optional<std::string>> belongs =
      view.get(Space::derived, key_layout::derived_state());
  if (!belongs) return fail(belongs.error());
  if (*belongs != key_layout::derived_state_of(state.head.size)) {
    return fail(ErrorKind::corrupt, "DERIVED_STALE", {},
                "derived data is missing, of another layout, or belongs to another size of the log",
                "`kernelindex reindex` makes derived data anew");
  }
  const Reader reader(store_->latest(), std::make_shared<LogState>(state));
  StoreCursor statements = view.scan(Space::derived, "k");
  for (; statements.valid(); statements.next()) {
    const Result<std::uint64_t> index = index_of(statements.key());
    if (!index) return fail(index.error());
    Result<Attestation> statement = read_attestation(reader, *index);
    if (!statement) return fail(statement.error());
    if (Status status = state.keys.apply(*index, *statement); !status) {
      return fail(ErrorKind::corrupt, status.error().code, status.error().place,
                  status.error().message);
    }
  }
  if (Status status = statements.status(); !status) return status;
  StoreCursor imports = view.scan(Space::derived, "i");
  for (; imports.valid(); imports.next()) {
    const Result<std::uint64_t> index = index_of(imports.key());
    if (!index) return fail(index.error());
    Result<ImportRange> range = decode_import_range(*index, imports.value());
    if (!range) return fail(range.error());
    state.imports.push_back(*range);
  }
  if (Status status = imports.status(); !status) return status;
  std::vector<ChainFact> facts;
  StoreCursor said = view.scan(Space::derived, "v");
  for (; said.valid(); said.next()) {
    const Result<std::uint64_t> index = index_of(said.key());
    if (!index) return fail(index.error());
    Result<ChainFact> fact = decode_chain_fact(*index, said.value());
    if (!fact) return fail(fact.error());
    facts.push_back(std::move(*fact));
  }
  if (Status status = said.status(); !status) return status;
  state.chain_facts = std::make_shared<const std::vector<ChainFact>>(std::move(facts));
  state.judge();
  return {};
}

Result<Attestation> read_attestation(const Reader& reader, std::uint64_t index) {
  const std::string place = "entry " + std::to_string(index);
  Result<Entry> entry = reader.entry(index);
  if (!entry) return fail(entry.error());
  Result<std::optional<std::string>> bytes = reader.object(entry->content.digest);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) {
    return fail(ErrorKind::corrupt, "MISSING_OBJECT", place,
                "the envelope of an attestation is not held");
  }
  Result<Envelope> envelope = read_stored_envelope(**bytes);
  if (!envelope) return fail_in(place, envelope.error());
  Result<Attestation> statement = parse_attestation(envelope->payload);
  if (!statement) return fail_in(place, statement.error());
  return statement;
}

void Ledger::compare_marks() {
  const std::shared_ptr<const LogState> now = state();
  const TreeHead head = now->head;
  const Reader reader(store_->latest(), now);
  for (const ReleasedMark& mark : read_marks(mark_places(), format_.ledger_id)) {
    if (!mark.checkpoint || mark.checkpoint->checkpoint.origin != format_.origin) continue;
    const TreeHead& released = mark.checkpoint->checkpoint.head;
    if (released.size > head.size) {
      if (read_only_reason_ && read_only_reason_->released >= released.size) continue;
      read_only_reason_ = ReadOnlyReason{
          "RECORDS_LOST",
          "a checkpoint of size " + std::to_string(released.size) + " was released (" +
              mark.path.string() + ") and the store has " + std::to_string(head.size) +
              " entries: records are lost from index " + std::to_string(head.size) + " on",
          head.size, released.size};
      continue;
    }
    const Result<Digest> root = reader.root_at(released.size);
    if (root && *root != released.root && !read_only_reason_) {
      read_only_reason_ = ReadOnlyReason{"FORKED",
                                         "a checkpoint of size " + std::to_string(released.size) +
                                             " was released (" + mark.path.string() +
                                             ") with another root than the store has at that size",
                                         head.size, released.size};
    }
  }
}

Status Ledger::collect_unnamed_chunks() {
  const StoreView view = store_->latest();
  StoreCursor markers = view.scan(Space::evidence, "u");
  for (; markers.valid(); markers.next()) {
    const Digest digest = key_layout::last_digest(markers.key());
    StoreBatch batch;
    StoreCursor chunks = view.scan(Space::evidence, key_layout::join("c", digest.raw()));
    for (; chunks.valid(); chunks.next()) batch.remove(Space::evidence, chunks.key());
    if (Status status = chunks.status(); !status) return status;
    batch.remove(Space::evidence, key_layout::unnamed(digest));
    if (Status status = store_->write(batch); !status) return status;
  }
  return markers.status();
}

Status Ledger::remove_withheld() {
  const std::shared_ptr<const LogState> now = state();
  const StoreView view = store_->latest();
  StoreBatch batch;
  for (const Digest& object : now->judgements->withheld()) {
    std::string value;
    const Result<bool> found = view.get(Space::evidence, key_layout::object(object), value);
    if (!found) return fail(found.error());
    if (!*found || stored_object::is_withheld(value)) continue;
    batch.put(Space::evidence, key_layout::object(object), stored_object::withheld());
    StoreCursor chunks = view.scan(Space::evidence, key_layout::join("c", object.raw()));
    for (; chunks.valid(); chunks.next()) batch.remove(Space::evidence, chunks.key());
    if (Status status = chunks.status(); !status) return status;
  }
  if (batch.empty()) return {};
  // Rows that were joined with these bytes are made anew; until then derived data is stale.
  batch.remove(Space::derived, key_layout::derived_state());
  if (Status status = store_->write(batch); !status) return status;
  if (Status status = store_->purge_deleted(); !status) return status;
  return reindex();
}

// ---- reading and writing ----

std::shared_ptr<const LogState> Ledger::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

void Ledger::set_state(std::shared_ptr<const LogState> state) {
  const MutexLock lock(mutex_);
  state_ = std::move(state);
}

Reader Ledger::read() const {
  const MutexLock lock(mutex_);
  return Reader(store_->view(), state_);
}

Status Ledger::commit(StoreBatch& batch, std::shared_ptr<const LogState> next) {
  const MutexLock lock(mutex_);
  if (Status status = store_->write(batch); !status) return status;
  state_ = std::move(next);
  return {};
}

Status Ledger::require_writable() const {
  if (read_only_reason_) {
    return fail(ErrorKind::refused, "READ_ONLY", options_.directory.string(),
                read_only_reason_->message, kHowToGoOn);
  }
  if (options_.read_only || store_->read_only()) {
    return fail(ErrorKind::refused, "READ_ONLY", options_.directory.string(),
                derived_fault_ ? derived_fault_->message : "the ledger was opened for reading");
  }
  if (derived_fault_) return fail(*derived_fault_);
  return {};
}

Result<std::unique_ptr<Appender>> Ledger::start_appender(ImportIdentity identity, bool imports) {
  if (Status status = acquire_writer(); !status) return fail(status.error());
  std::unique_ptr<Appender> appender(new Appender(*this, std::move(identity)));
  appender->holds_writer_ = true;
  if (Status status = require_writable(); !status) return fail(status.error());
  if (imports) {
    const std::shared_ptr<const LogState> now = state();
    // Nothing is recorded that could not be signed afterwards.
    Result<KeyFile> log = log_key(*now);
    if (!log) return fail(log.error());
    Result<KeyFile> importer = read_valid_key(options_.keys, Role::importer, now->keys,
                                              now->head.size, options_.passphrase);
    if (!importer) return fail(importer.error());
    appender->importer_ = std::move(*importer);
    appender->log_ = std::move(*log);
  }
  if (Status status = appender->open(); !status) return fail(status.error());
  return appender;
}

Status Ledger::acquire_writer() {
  if (writing_thread_.load() == std::this_thread::get_id()) {
    return fail(ErrorKind::usage, "WRITER_BUSY", options_.directory.string(),
                "this thread has an unfinished Appender, and would wait for itself",
                "finish it first");
  }
  writer_.acquire();
  writing_thread_ = std::this_thread::get_id();
  return {};
}

void Ledger::release_writer() {
  writing_thread_ = std::thread::id();
  writer_.release();
}

Result<std::unique_ptr<Appender>> Ledger::append(ImportIdentity identity) {
  return start_appender(std::move(identity), true);
}

Result<std::unique_ptr<Appender>> Ledger::append_attestations() {
  return start_appender({}, false);
}

// ---- checkpoints ----

MarkPlaces Ledger::mark_places() const {
  return {options_.directory, options_.keys, options_.state};
}

Result<KeyFile> Ledger::log_key(const LogState& state) const {
  return read_valid_key(options_.keys, Role::log, state.keys, state.head.size, options_.passphrase);
}

std::vector<KeyFile> Ledger::replaced_log_keys(const LogState& state,
                                               const PublicKey& current) const {
  const auto log_keys = std::ranges::count_if(
      state.keys.all(), [](const auto& item) { return item.second.role == Role::log; });
  if (log_keys == 1) return {};  // there never was another
  std::optional<SignedCheckpoint> newest;
  for (ReleasedMark& mark : read_marks(mark_places(), format_.ledger_id)) {
    if (!mark.checkpoint || mark.checkpoint->checkpoint.origin != format_.origin) continue;
    if (newest && mark.checkpoint->checkpoint.head.size <= newest->checkpoint.head.size) continue;
    newest = std::move(*mark.checkpoint);
  }
  std::vector<KeyFile> out;
  if (!newest) return out;
  for (const auto& [id, record] : state.keys.all()) {
    if (record.role != Role::log) continue;
    const std::array verifier = {log_verifier_key(format_.origin, record.key)};
    if (!verify_checkpoint(*newest, verifier).ok()) continue;
    if (record.key == current) return {};
    const std::optional<std::filesystem::path> path =
        find_key_file(options_.keys, Role::log, record.key);
    if (!path) continue;
    Result<KeyFile> file = read_key_file(*path, options_.passphrase);
    if (file) out.push_back(std::move(*file));
  }
  return out;
}

Status Ledger::check_log_key(const KeyFile& log, const LogState& state) const {
  const KeyRecord* record = state.keys.find(log.key.public_key().id());
  if (record != nullptr && record->role == Role::log && record->valid_at(state.head.size))
    return {};
  return fail(ErrorKind::refused, "KEY_NOT_ENROLLED",
              key_file_path(options_.keys, Role::log).string(),
              "the log key is not enrolled in this ledger, or was revoked");
}

Result<SignedCheckpoint> Ledger::checkpoint() { return checkpoint(nullptr); }

Result<SignedCheckpoint> Ledger::checkpoint(const KeyFile* held) {
  const std::shared_ptr<const LogState> now = state();
  const Checkpoint body{format_.origin, now->head};
  for (const ReleasedMark& mark : read_marks(mark_places(), format_.ledger_id)) {
    if (mark.path == options_.directory / "checkpoint" && mark.checkpoint &&
        mark.checkpoint->checkpoint == body) {
      return *mark.checkpoint;
    }
  }
  if (read_only_reason_) {
    return fail(ErrorKind::refused, "READ_ONLY", options_.directory.string(),
                read_only_reason_->message, kHowToGoOn);
  }
  std::optional<KeyFile> read;
  if (held == nullptr) {
    Result<KeyFile> log = log_key(*now);
    if (!log) return fail(log.error());
    held = &read.emplace(std::move(*log));
  } else if (Status status = check_log_key(*held, *now); !status) {
    return fail(status.error());
  }
  const std::vector<KeyFile> replaced = replaced_log_keys(*now, held->key.public_key());
  std::vector<const SigningKey*> keys = {&held->key};
  for (const KeyFile& file : replaced) keys.push_back(&file.key);
  const SignedCheckpoint checkpoint = sign_checkpoint(body, keys);
  if (Status status = write_marks(mark_places(), format_.ledger_id, checkpoint); !status) {
    return fail(status.error());
  }
  return checkpoint;
}

}  // namespace kernelindex
