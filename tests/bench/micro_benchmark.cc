// SPDX-License-Identifier: Apache-2.0
// The small steps that everything is made of, one by one, over the manifests of the published
// catalog (every tenth line).
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "ingest/zstd_source.h"
#include "ledger/merkle.h"
#include "ledger/proof.h"
#include "ledger/signing_key.h"
#include "ledger/tile.h"
#include "ledger/tile_reader.h"
#include "schema/canonical_json.h"
#include "schema/digest.h"
#include "schema/json_reader.h"
#include "schema/manifest.h"
#include "tests/bench/catalog_lines.h"
#include "tests/support/corpus.h"

namespace kernelindex::bench {
namespace {

constexpr std::string_view kCatalog = "data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst";

std::string read_catalog() {
  const std::string file = test::read_file(test::corpus_path(kCatalog));
  MemorySource memory(file);
  ingest::ZstdSource source(memory);
  std::string text;
  std::string piece(1 << 20, '\0');
  while (const std::size_t size = source.read(piece).value()) text.append(piece, 0, size);
  return text;
}

void add_manifest(const json::Value* value, std::vector<std::string>& out) {
  if (value == nullptr) return;
  if (value->find("spec") != nullptr) {
    out.push_back(json::canonical(*value));
    return;
  }
  for (const char* part : {"run", "protocol", "environment"}) add_manifest(value->find(part), out);
}

// Canonical documents.
const std::vector<std::string>& manifests() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    const std::string text = read_catalog();
    json::Arena arena;
    std::size_t number = 0;
    for (CatalogLines lines(text); lines.next();) {
      if (number++ % 10 != 0) continue;
      arena.reset();
      const json::Value document = json::parse(lines.line(), arena).value();
      add_manifest(document.find({"row", "manifest"}), out);
    }
    return out;
  }();
  return all;
}

void set_bytes(benchmark::State& state) {
  std::size_t bytes = 0;
  for (const std::string& text : manifests()) bytes += text.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) *
                          static_cast<std::int64_t>(state.iterations()));
}

void parse_json(benchmark::State& state) {
  json::Arena arena;
  for (auto _ : state) {
    for (const std::string& text : manifests()) {
      arena.reset();
      benchmark::DoNotOptimize(json::parse(text, arena).value());
    }
  }
  set_bytes(state);
}
BENCHMARK(parse_json)->Unit(benchmark::kMillisecond);

void canonical_json(benchmark::State& state) {
  json::Arena arena;
  std::vector<json::Value> values;
  for (const std::string& text : manifests()) values.push_back(json::parse(text, arena).value());
  std::string out;
  for (auto _ : state) {
    for (const json::Value& value : values) {
      out.clear();
      json::append_canonical(value, out);
      benchmark::DoNotOptimize(out.data());
    }
  }
  set_bytes(state);
}
BENCHMARK(canonical_json)->Unit(benchmark::kMillisecond);

void make_manifests(benchmark::State& state) {
  json::Arena kept;
  std::vector<json::Value> values;
  for (const std::string& text : manifests()) values.push_back(json::parse(text, kept).value());
  json::Arena arena;
  for (auto _ : state) {
    for (const json::Value& value : values) {
      arena.reset();
      benchmark::DoNotOptimize(make_manifest(value, arena).value());
    }
  }
  set_bytes(state);
}
BENCHMARK(make_manifests)->Unit(benchmark::kMillisecond);

void read_manifests(benchmark::State& state) {
  for (auto _ : state) {
    for (const std::string& text : manifests()) {
      benchmark::DoNotOptimize(read_manifest(text).value());
    }
  }
  set_bytes(state);
}
BENCHMARK(read_manifests)->Unit(benchmark::kMillisecond);

void hash(benchmark::State& state) {
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(sha256(bytes));
  state.SetBytesProcessed(state.range(0) * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(hash)->Arg(64)->Arg(1 << 10)->Arg(1 << 20);

void append_leaf(benchmark::State& state) {
  const LeafHash leaf = leaf_hash(std::string(600, 'x'));
  TileTree tree;
  for (auto _ : state) {
    tree.append(leaf);
    if (tree.size() % 1000 == 0) benchmark::DoNotOptimize(tree.take_changed_tiles());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(append_leaf);

// Tiles in memory: what a proof costs beside the reading.
class Log {
 public:
  explicit Log(std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i) tree_.append(leaf_hash(std::to_string(i)));
    for (Tile& tile : tree_.take_changed_tiles()) {
      tiles_[{tile.level, tile.index}] = std::move(tile.bytes);
    }
  }
  TreeHead head() const { return tree_.head(); }
  TileSource tiles() const {
    return [this](unsigned level, std::uint64_t index, unsigned) -> Result<std::string> {
      return tiles_.at({level, index});
    };
  }

 private:
  TileTree tree_;
  std::map<std::pair<unsigned, std::uint64_t>, std::string> tiles_;
};

void prove(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  const Log log(size);
  std::uint64_t index = 0;
  for (auto _ : state) {
    TileReader nodes = TileReader::open(log.head(), log.tiles()).value();
    benchmark::DoNotOptimize(prove_inclusion(index, size, nodes).value());
    index = (index + 7919) % size;
  }
}
BENCHMARK(prove)->Arg(20'000)->Unit(benchmark::kMicrosecond);

void verify_proof(benchmark::State& state) {
  const auto size = static_cast<std::uint64_t>(state.range(0));
  const Log log(size);
  TileReader nodes = TileReader::open(log.head(), log.tiles()).value();
  const Proof proof = prove_inclusion(size / 3, size, nodes).value();
  const LeafHash leaf = leaf_hash(std::to_string(size / 3));
  for (auto _ : state) {
    const bool holds = verify_inclusion(leaf, size / 3, log.head(), proof).ok();
    if (!holds) state.SkipWithError("the proof does not hold");
  }
}
BENCHMARK(verify_proof)->Arg(20'000)->Unit(benchmark::kMicrosecond);

void sign(benchmark::State& state) {
  const SigningKey key = SigningKey::generate();
  const std::string message(1000, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(key.sign(message));
}
BENCHMARK(sign)->Unit(benchmark::kMicrosecond);

void verify(benchmark::State& state) {
  const SigningKey key = SigningKey::generate();
  const std::string message(1000, 'x');
  const std::string signature = key.sign(message);
  for (auto _ : state) {
    if (!verify_signature(key.public_key(), message, signature)) {
      state.SkipWithError("the signature does not hold");
    }
  }
}
BENCHMARK(verify)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kernelindex::bench

int main(int argc, char** argv) {
  if (!kernelindex::test::have_corpus()) {
    std::fputs("the corpora are missing: set KERNELINDEX_CORPUS\n", stderr);
    return 77;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
