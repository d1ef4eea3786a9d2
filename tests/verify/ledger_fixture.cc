// SPDX-License-Identifier: Apache-2.0
#include "tests/verify/ledger_fixture.h"

#include <array>
#include <fstream>
#include <map>
#include <stdexcept>

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"

namespace kernelindex::test {
namespace {

template <typename T>
T need(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::string quoted(const Digest& digest) { return "\"" + digest.text() + "\""; }

void make_keys(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Role role : {Role::root, Role::log, Role::importer, Role::contributor,
                          Role::controller, Role::maintainer, Role::status}) {
    need(create_key_file(key_file_path(folder, role), {role, "tester", fixture_key(role)}, {}));
  }
}

// One import, told claim by claim.
class Import {
 public:
  Import(Ledger& ledger, std::string parser) {
    appender_ = need(ledger.append({std::move(parser), "1", "{}"}));
  }

  void snapshot(const std::string& bytes, SnapshotEntry entry) {
    source_ = entry.source;
    MemorySource reader(bytes);
    need(appender_->snapshot(entry, "application/json", reader));
    snapshot_ = sha256(bytes);
  }
  void artifact(const std::string& bytes) { need(appender_->artifact(bytes, "text/plain")); }
  void claim(const Manifest& manifest, const std::string& external_id, ClaimFacts facts = {}) {
    ManifestEntry entry;
    entry.source = source_;
    if (!external_id.empty()) entry.external_ids = {source_ + ":" + external_id};
    entry.snapshot = snapshot_;
    entry.item = "/" + std::to_string(item_++);
    entry.facts = std::move(facts);
    need(appender_->claim(std::move(entry), manifest));
  }
  void finish(const std::optional<std::string>& report) { need(appender_->finish(report)); }

 private:
  std::unique_ptr<Appender> appender_;
  std::string source_;
  Digest snapshot_;
  int item_ = 0;
};

ClaimFacts slug(std::string text) {
  ClaimFacts facts;
  facts.slug = std::move(text);
  return facts;
}

void record(Ledger& ledger, const SmallRecords& records) {
  Import first(ledger, "board");
  first.snapshot(records.snapshot, {"board", "dump.json", "", "supplied"});
  first.artifact(records.source);
  if (!records.large.empty()) first.artifact(records.large);
  first.claim(records.operation, "operation/1", slug("vector-add"));
  first.claim(records.project, "project/1", slug("adders"));
  first.claim(records.workload, "case/1");
  first.claim(records.protocol, "");
  first.claim(records.environment, "");
  ClaimFacts implementation = slug("fast-add");
  implementation.project = records.project.identity;
  implementation.artifacts = {{"source", sha256(records.source), "add.cu", {}, {}, {}}};
  first.claim(records.implementation, "implementation/1", implementation);
  first.claim(records.replaced_run, "submission/1");
  ClaimFacts run;
  run.supersedes = "board:submission/1";
  run.published_at = "2025-12-31T00:00:00Z";
  first.claim(records.run, "submission/2", run);
  first.claim(records.model, "model/1");
  first.claim(records.stack, "");
  first.claim(records.configuration, "");
  first.claim(records.serving_workload, "");
  first.claim(records.serving_run, "result/1");
  first.finish("{\"report\":\"of the first import\"}");

  Import second(ledger, "mirror");
  second.snapshot(records.fetched,
                  {"mirror", "https://example.org/runs", "2025-12-31T00:00:00Z", "fetched"});
  second.claim(records.run, "run/2");
  second.finish(std::nullopt);
}

}  // namespace

SigningKey fixture_key(Role role) {
  const Digest seed = sha256("key of the tests: " + std::string(role_name(role)));
  return need(SigningKey::from_seed(seed.raw()));
}

Manifest make_document(ManifestKind kind, std::string_view name, const std::string& spec) {
  return need(read_manifest(R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":")" +
                            std::string(kind_name(kind)) + R"(","metadata":{"name":")" +
                            std::string(name) + R"("},"spec":)" + spec + "}"));
}

SmallRecords::SmallRecords() {
  operation =
      make_document(ManifestKind::operation_spec, "vector-add",
                    R"({"family":"elementwise","axes":{"n":{"role":"variable","type":"integer"}},)"
                    R"("inputs":[{"name":"a","tensor":{"dtype":"fp32","shape":["n"]}}],)"
                    R"("outputs":[{"name":"b","tensor":{"dtype":"fp32","shape":["n"]}}],)"
                    R"("semantics":{"mutation":"none","determinism":"unspecified"}})");
  project = make_document(ManifestKind::software_project, "adders", R"({"name":"Adders"})");
  workload = make_document(ManifestKind::workload_case, "n-1024",
                           R"({"operationSpecDigest":)" + quoted(operation.identity) +
                               R"(,"axes":{"n":1024},"tensors":{},)"
                               R"("correctness":{"comparator":"exact"}})");
  protocol =
      make_document(ManifestKind::benchmark_protocol, "board-protocol",
                    R"({"harness":{"name":"board","repository":"https://example.org/board"},)"
                    R"("correctness":{"reference":"loop","comparator":"exact"},)"
                    R"("measurement":{"timer":"cuda_event","primaryStatistic":"median"},)"
                    R"("comparability":{"family":"board"}})");
  environment = make_document(
      ManifestKind::execution_environment, "l4",
      R"({"hardware":{"vendor":"nvidia","product":"NVIDIA L4","architecture":"sm_89"},)"
      R"("software":{}})");
  implementation =
      make_document(ManifestKind::implementation_revision, "fast-add",
                    R"({"support":{"dtypes":["fp32"],"hardwareArchitectures":["sm_89"]},)"
                    R"("callable":{"language":"cuda"},"licensing":{},"operation":{"specDigest":)" +
                        quoted(operation.identity) + R"(},"projectRevision":{"version":"1"}})");
  const auto run_of = [&](const std::string& id, int nanoseconds) {
    return make_document(
        ManifestKind::benchmark_run, "run-" + id,
        R"({"implementationDigest":)" + quoted(implementation.identity) + R"(,"workloadDigest":)" +
            quoted(workload.identity) + R"(,"protocolDigest":)" + quoted(protocol.identity) +
            R"(,"environmentDigest":)" + quoted(environment.identity) +
            R"(,"status":"passed","observedAt":"2025-12-30T12:00:00Z","timing":)"
            R"({"primaryStatistic":"median","latencyNs":{"median":)" +
            std::to_string(nanoseconds) +
            R"(}},"sourceNative":{"source":"board","benchmark":"add","metrics":{},)"
            R"("externalId":"submission/)" +
            id + R"("}})");
  };
  replaced_run = run_of("1", 2000);
  run = run_of("2", 1000);
  model = make_document(ManifestKind::model_revision, "small-model", R"({"model":"Small"})");
  stack = make_document(ManifestKind::serving_stack_revision, "stack",
                        R"({"project":{"name":"Server"},"revision":{"version":"1"},)"
                        R"("apiProtocol":"loadgen_sut"})");
  configuration = make_document(ManifestKind::serving_configuration, "configuration",
                                R"({"dtype":"fp8","stackDigest":)" + quoted(stack.identity) + "}");
  serving_workload =
      make_document(ManifestKind::serving_workload, "offline",
                    R"({"dataset":{"name":"texts"},"streaming":false,"loadGeneration":"offline"})");
  serving_run = make_document(
      ManifestKind::serving_run, "result-1",
      R"({"status":"valid","harness":{"name":"loadgen","version":"v1"},)"
      R"("topology":{"nodeCount":1,"acceleratorModel":"NVIDIA L4","acceleratorsPerNode":1},)"
      R"("observedAt":"2025-12-30T12:00:00Z","modelDigest":)" +
          quoted(model.identity) +
          R"(,"measurements":[{"unit":"tokens_s","value":100.5,)"
          R"("metric":"output_token_throughput_tps","statistic":"reported"}],)"
          R"("qualityPolicy":"closed","workloadDigest":)" +
          quoted(serving_workload.identity) + R"(,"configurationDigest":)" +
          quoted(configuration.identity) + "}");
}

void SmallRecords::add_large() {
  while (large.size() <= limits::kObjectChunkBytes) {
    large += "line " + std::to_string(large.size() % 1000) + "\n";
  }
}

LedgerFixture::LedgerFixture(Shape shape) : directory_(place_ / "ledger") {
  if (shape == Shape::large_object) records_.add_large();
  // Made once for all cases of a program.
  static std::map<Shape, TempDir> originals;
  const bool fresh = !originals.contains(shape);
  const std::filesystem::path original = originals[shape].path();
  const auto copy = [&](const std::filesystem::path& from, const std::filesystem::path& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
  };
  if (fresh) {
    const TempDir work;
    LedgerOptions where = options();
    where.directory = work / "ledger";
    where.state = work / "state";
    make_keys(where.directory / "keys");
    FoundingOptions founding;
    founding.origin = "example.org/tests";
    founding.owner = "tester";
    std::unique_ptr<Ledger> ledger = need(Ledger::create(where, founding));
    record(*ledger, records_);
    if (shape != Shape::killed) {
      ledger.reset();
      need(need(Store::open((where.directory / "db").string(), {}))->flush());
    }
    copy(work.path(), original);
  }
  copy(original, place_.path());
}

LedgerFixture::LedgerFixture(const std::filesystem::path& original)
    : directory_(place_ / "ledger") {
  std::filesystem::copy(original, directory_, std::filesystem::copy_options::recursive);
}

LedgerOptions LedgerFixture::options() const {
  LedgerOptions options;
  options.directory = directory_;
  options.state = place_ / "state";
  options.clock = fixed_clock(kFixtureTime);
  return options;
}

std::unique_ptr<Ledger> LedgerFixture::open() const { return need(Ledger::open(options())); }

AuditReport LedgerFixture::audit(const AuditOptions& given) const {
  return need(audit_directory(options(), given));
}

// ---- damage to the store ----

std::unique_ptr<Store> LedgerFixture::store(bool read_only) const {
  StoreOptions options;
  options.read_only = read_only;
  return need(Store::open((directory_ / "db").string(), options));
}

std::string LedgerFixture::get(Space space, std::string_view key) const {
  std::optional<std::string> value = need(store(true)->view().get(space, key));
  if (!value) throw std::runtime_error("no such key: " + to_hex(key));
  return *value;
}

void LedgerFixture::put(Space space, std::string_view key, std::string_view value) {
  StoreBatch batch;
  batch.put(space, key, value);
  need(store(false)->write(batch));
}

void LedgerFixture::erase(Space space, std::string_view key) {
  StoreBatch batch;
  batch.remove(space, key);
  need(store(false)->write(batch));
}

void LedgerFixture::erase_all(Space space) {
  StoreBatch batch;
  for (const auto& [key, value] : all(space)) batch.remove(space, key);
  need(store(false)->write(batch));
}

void LedgerFixture::edit(Space space, std::string_view key,
                         const std::function<void(std::string&)>& change) {
  std::string value = get(space, key);
  change(value);
  put(space, key, value);
}

LedgerFixture::Pairs LedgerFixture::scan(Space space, std::string_view prefix) const {
  const std::unique_ptr<Store> store = this->store(true);
  const StoreView view = store->view();
  Pairs out;
  StoreCursor cursor = view.scan(space, prefix);
  for (; cursor.valid(); cursor.next()) out.emplace_back(cursor.key(), cursor.value());
  need(cursor.status());
  return out;
}

LedgerFixture::Pairs LedgerFixture::all(Space space) const {
  const std::unique_ptr<Store> store = this->store(true);
  const StoreView view = store->view();
  Pairs out;
  for (int letter = 0; letter < 0xff; ++letter) {
    const char prefix = static_cast<char>(letter);
    StoreCursor cursor = view.scan(space, std::string_view(&prefix, 1));
    for (; cursor.valid(); cursor.next()) out.emplace_back(cursor.key(), cursor.value());
    need(cursor.status());
  }
  return out;
}

void LedgerFixture::flush() { need(store(false)->flush()); }

// ---- damage to files ----

void LedgerFixture::flip_bit(const std::filesystem::path& file, std::uint64_t offset,
                             unsigned bit) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekg(static_cast<std::streamoff>(offset));
  const int byte = stream.get();
  if (byte < 0) throw std::runtime_error("cannot flip a bit of " + file.string());
  stream.seekp(static_cast<std::streamoff>(offset));
  stream.put(static_cast<char>(byte ^ (1 << bit)));
}

void LedgerFixture::truncate(const std::filesystem::path& file, std::uint64_t size) {
  std::filesystem::resize_file(file, size);
}

// ---- an insider's records ----

Digest LedgerFixture::ledger_id() const {
  return need(decode_format(get(Space::evidence, key_layout::format()))).ledger_id;
}

TreeHead LedgerFixture::head() const {
  return need(decode_head(get(Space::evidence, key_layout::head())));
}

Binding LedgerFixture::binding(Role signer) const {
  return {ledger_id(), fixture_key(signer).public_key().id(), head()};
}

std::uint64_t LedgerFixture::forge(Entry entry, std::string_view object) {
  entry.recorded_at = kFixtureTime;
  entry.content.digest = sha256(object);
  entry.content.size = object.size();
  const std::string leaf = need(encode_entry(entry));
  const TreeHead before = head();
  const std::unique_ptr<Store> store = this->store(false);
  const StoreView view = store->view();
  TileTree tree = need(TileTree::resume(
      before.size, [&](unsigned level, std::uint64_t index, unsigned) -> Result<std::string> {
        return *need(view.get(Space::evidence, key_layout::tile(level, index)));
      }));
  tree.append(leaf_hash(leaf));
  StoreBatch batch;
  batch.put(Space::evidence, key_layout::leaf(before.size), leaf);
  batch.put(Space::evidence, key_layout::object(entry.content.digest),
            stored_object::whole(object));
  for (const Tile& tile : tree.take_changed_tiles()) {
    batch.put(Space::evidence, key_layout::tile(tile.level, tile.index), tile.bytes);
  }
  batch.put(Space::evidence, key_layout::head(), encode_head(tree.head()));
  need(store->write(batch));
  return before.size;
}

std::uint64_t LedgerFixture::forge_statement(const Attestation& statement, const SigningKey& key) {
  const Envelope envelope =
      normalised(need(sign_envelope(need(statement.encode()), key)), key.public_key());
  std::optional<std::uint64_t> previous;
  for (const auto& [place, leaf] : scan(Space::evidence, "e")) {
    const Entry earlier = need(decode_entry(leaf));
    if (earlier.subject() == nullptr || *earlier.subject() != statement.subject) continue;
    if (earlier.on_chain()) previous = key_layout::from_big_endian(place.substr(1));
  }
  Entry entry;
  entry.content.media_type = kEnvelopeMediaType;
  entry.body =
      AttestationEntry{statement.subject, previous, predicate_type(statement.predicate).uri(),
                       statement.binding.signer.hex()};
  return forge(std::move(entry), envelope.encode());
}

void LedgerFixture::seal() {
  const std::unique_ptr<Ledger> ledger = open();
  need(ledger->reindex());
  need(ledger->checkpoint());
}

}  // namespace kernelindex::test
