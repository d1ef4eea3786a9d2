// SPDX-License-Identifier: Apache-2.0
// replay_store LEDGER WORK REPEATS: what a finished ledger holds, put into fresh databases again.
//
// The yardstick of an import: the same keys and values through the same Store, in as many synced
// batches as the import made, with nothing computed. Objects written ahead in chunks are written
// ahead here too. Entries go in their order; keys that begin with a digest are spread evenly, as
// their digests are. Values that the import replaced on its way are put once. Then the bare
// documents of all manifests, under their digests, in as many batches.
//
// Prints two lines, "everything" and "documents": the fewest seconds of wall and of processor time
// from opening to having closed the database, then keys, bytes and batches.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "ledger/key_layout.h"
#include "ledger/store.h"
#include "schema/digest.h"

namespace kernelindex::bench {
namespace {

namespace fs = std::filesystem;

struct Pair {
  Space space{};
  std::string key;
  std::string value;
  double place = 0;  // in the import, from 0 to 1

  bool is_chunk() const { return space == Space::evidence && key.front() == 'c'; }
};

struct Times {
  double wall = std::numeric_limits<double>::infinity();
  double processor = std::numeric_limits<double>::infinity();
};

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::exit(6);
}

std::unique_ptr<Store> open_store(const fs::path& directory, const StoreOptions& options) {
  Result<std::unique_ptr<Store>> store = Store::open(directory.string(), options);
  if (!store) give_up(store.error());
  return std::move(*store);
}

std::vector<Pair> read_all(const Store& store) {
  std::vector<Pair> pairs;
  const StoreView view = store.view();
  for (const Space space : {Space::evidence, Space::derived}) {
    for (char table = 'a'; table <= 'z'; ++table) {
      StoreCursor cursor = view.scan(space, std::string(1, table));
      for (; cursor.valid(); cursor.next()) {
        pairs.push_back({space, std::string(cursor.key()), std::string(cursor.value()), 0});
      }
      if (const Status status = cursor.status(); !status) give_up(status.error());
    }
  }
  return pairs;
}

void place(std::vector<Pair>& pairs) {
  double leaves = 0;
  for (const Pair& pair : pairs) {
    leaves += pair.space == Space::evidence && pair.key.front() == 'e' ? 1 : 0;
  }
  for (Pair& pair : pairs) {
    if (pair.space == Space::evidence && pair.key.front() == 'e') {
      const std::string_view index = std::string_view(pair.key).substr(1);
      pair.place = static_cast<double>(key_layout::from_big_endian(index)) / leaves;
    } else {
      const Digest spread = sha256(pair.key);
      pair.place = static_cast<double>(key_layout::from_big_endian(spread.raw())) /
                   static_cast<double>(std::numeric_limits<std::uint64_t>::max());
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::place);
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void put_all(Store& store, const std::vector<Pair>& pairs, std::size_t batches) {
  StoreBatch batch;
  const auto write = [&](bool ahead) {
    const Status status = ahead ? store.write_ahead(batch) : store.write(batch);
    if (!status) give_up(status.error());
  };
  for (const Pair& pair : pairs) {
    if (!pair.is_chunk()) continue;
    batch.put(pair.space, pair.key, pair.value);
    write(true);
  }
  std::size_t number = 0;
  for (const Pair& pair : pairs) {
    if (pair.is_chunk()) continue;
    const auto due = static_cast<std::size_t>(pair.place * static_cast<double>(batches));
    if (due > number && !batch.empty()) {
      write(false);
      number = due;
    }
    batch.put(pair.space, pair.key, pair.value);
  }
  if (!batch.empty()) write(false);
}

Times replay(const std::vector<Pair>& pairs, std::size_t batches, const fs::path& directory,
             int repeats) {
  Times least;
  for (int i = 0; i < repeats; ++i) {
    fs::remove_all(directory);
    const auto start = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    {
      StoreOptions options;
      options.create = true;
      const std::unique_ptr<Store> store = open_store(directory, options);
      put_all(*store, pairs, batches);
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    least.wall = std::min(least.wall, wall.count());
    least.processor = std::min(least.processor, processor_seconds() - processor);
  }
  fs::remove_all(directory);
  return least;
}

void print(const char* name, const Times& times, const std::vector<Pair>& pairs,
           std::size_t batches) {
  std::size_t bytes = 0;
  for (const Pair& pair : pairs) bytes += pair.key.size() + pair.value.size();
  std::printf("%s %.4f %.4f %zu %zu %zu\n", name, times.wall, times.processor, pairs.size(), bytes,
              batches);
}

void run(const fs::path& ledger, const fs::path& work, int repeats) {
  std::vector<Pair> pairs;
  {
    StoreOptions options;
    options.read_only = true;
    pairs = read_all(*open_store(ledger / "db", options));
  }
  place(pairs);
  // One for each import statement; founding made one more, with a handful of keys.
  std::vector<Pair> documents;
  std::size_t batches = 0;
  for (const Pair& pair : pairs) {
    batches += pair.space == Space::derived && pair.key.front() == 'i' ? 1 : 0;
    const bool document = pair.space == Space::evidence && pair.key.front() == 'o' &&
                          pair.value.starts_with("w{\"apiVersion\":");
    if (document)
      documents.push_back({pair.space, pair.key.substr(1), pair.value.substr(1), pair.place});
  }
  const fs::path directory = work / "replayed";
  print("everything", replay(pairs, batches, directory, repeats), pairs, batches);
  print("documents", replay(documents, batches, directory, repeats), documents, batches);
}

}  // namespace
}  // namespace kernelindex::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: replay_store LEDGER WORK REPEATS\n", stderr);
    return 2;
  }
  kernelindex::bench::run(argv[1], argv[2], std::max(1, std::atoi(argv[3])));
  return 0;
}
