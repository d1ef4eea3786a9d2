// SPDX-License-Identifier: Apache-2.0
#include "ledger/tile_export.h"

#include <cassert>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ledger/proof.h"
#include "ledger/resource_source.h"
#include "ledger/tile_reader.h"
#include "ledger/tile_walk.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

constexpr std::size_t kRememberedObjects = 1 << 16;  // 2 MiB of digests

// Without a final slash, so that going up from a file in it comes to it.
std::filesystem::path plain(const std::filesystem::path& folder) {
  const std::filesystem::path normal = (folder / ".").lexically_normal();
  const std::filesystem::path out = normal.has_filename() ? normal : normal.parent_path();
  return out.empty() ? std::filesystem::path(".") : out;
}

class Exporter {
 public:
  Exporter(const TileExport& log, const std::filesystem::path& folder, FileSteps& steps)
      : log_(log),
        head_(log.checkpoint.checkpoint.head),
        folder_(plain(folder)),
        there_(folder_),
        steps_(steps) {}

  Result<TileExportReport> run() {
    if (Status may = check_published(); !may) return fail(may.error());
    if (Status made = steps_.make_folder(folder_); !made) return fail(made.error());
    TileWalk walk;
    walk.fetch = [this](const TilePath& path) -> Result<std::string> {
      Result<std::string> bytes = log_.tiles(path.level, path.index, path.width);
      if (!bytes) return fail_in(tile_path_text(path), bytes.error());
      return cut_tile(std::move(*bytes), path.level, path.index, path.width);
    };
    walk.tile = [this](const TilePath& path, std::string_view bytes) { return tile(path, bytes); };
    walk.fault = [](const TilePath* path, Error error, const Digest& expected, const Digest& found,
                    std::uint64_t) -> Status {
      if (path != nullptr && error.place.empty()) error.place = tile_path_text(*path);
      if (expected != found) {
        error.message += ": expected " + expected.text() + ", found " + found.text();
      }
      return fail(std::move(error));
    };
    if (Status walked = walk_tiles(head_, walk); !walked) return fail(walked.error());
    if (Status synced = sync_folders(); !synced) return fail(synced.error());
    const Status published =
        write_file_durably(folder_ / kCheckpointPath, log_.checkpoint.format(), steps_);
    if (!published) return fail(published.error());
    return report_;
  }

 private:
  // What a reader of this folder may already hold must stay true.
  Status check_published() {
    const auto refuse = [&](std::string code, std::string message, std::string remedy) {
      return fail(ErrorKind::refused, std::move(code), (folder_ / kCheckpointPath).string(),
                  std::move(message), std::move(remedy));
    };
    const Result<std::optional<std::string>> bytes =
        there_.get(std::string(kCheckpointPath), limits::kNoteBytes);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) return {};
    const Result<SignedCheckpoint> old = parse_checkpoint(**bytes);
    if (!old || old->checkpoint.origin != log_.checkpoint.checkpoint.origin) {
      return refuse("EXPORT_OF_ANOTHER_LOG", "the folder holds something else than this log",
                    "name a folder of its own for each log");
    }
    const TreeHead& published = old->checkpoint.head;
    if (published.size > head_.size) {
      return refuse("EXPORT_IS_NEWER",
                    "size " + std::to_string(published.size) + " is published there, and this is " +
                        std::to_string(head_.size),
                    "if entries were lost, bring them back before anything is published");
    }
    Result<TileReader> reader = TileReader::open(head_, log_.tiles);
    if (!reader) return fail(reader.error());
    const Result<Digest> root = tree_root(published.size, *reader);
    if (!root) return fail(root.error());
    if (*root == published.root) return {};
    return refuse("EXPORT_FORKED",
                  "at size " + std::to_string(published.size) + " the published root is " +
                      published.root.text() + ", and that of this log " + root->text(),
                  "run 'kernelindex audit': one of the two is not this log's history");
  }

  Status tile(const TilePath& path, std::string_view bytes) {
    if (path.level == 0) {
      if (Status done = bundle({true, 0, path.index, path.width}, bytes); !done) return done;
    }
    return put(tile_path_text(path), bytes, report_.written.tiles, report_.kept.tiles);
  }

  Status bundle(const TilePath& path, std::string_view hashes) {
    std::vector<std::string> leaves;
    for (unsigned i = 0; i < path.width; ++i) {
      const std::uint64_t index = path.index * kTileWidth + i;
      Result<std::string> leaf = log_.leaf(index);
      if (!leaf) return fail_in("entry " + std::to_string(index), leaf.error());
      const Digest expected = Digest::from_raw(hashes.substr(i * kHashBytes, kHashBytes));
      const Digest found = leaf_hash(*leaf).digest();
      if (found != expected) {
        return fail(ErrorKind::corrupt, "LEAF_MISMATCH", "entry " + std::to_string(index),
                    "the entry hashes to " + found.text() + ", the log says " + expected.text());
      }
      if (Status done = objects(index, *leaf); !done) return done;
      leaves.push_back(std::move(*leaf));
    }
    const std::vector<std::string_view> views(leaves.begin(), leaves.end());
    const Result<std::string> bytes = encode_bundle(views);
    if (!bytes) return fail(bytes.error());
    const Status done =
        put(tile_path_text(path), *bytes, report_.written.bundles, report_.kept.bundles);
    if (done && log_.progress) {
      log_.progress(path.index * kTileWidth + path.width, head_.size);
    }
    return done;
  }

  Status objects(std::uint64_t index, std::string_view leaf) {
    if (!log_.objects) return {};
    const Result<std::vector<Digest>> named = log_.objects(leaf);
    if (!named) return fail_in("entry " + std::to_string(index), named.error());
    for (const Digest& digest : *named) {
      if (seen_.contains(digest)) continue;
      if (seen_.size() >= kRememberedObjects) seen_.clear();
      seen_.insert(digest);
      if (Status done = object(digest); !done) return done;
    }
    return {};
  }

  Status object(const Digest& digest) {
    const std::string path = object_path(digest);
    Sha256 hash;
    const Result<bool> there =
        there_.stream(path, limits::kObjectBytes, [&](std::string_view piece) -> Status {
          hash.update(piece);
          return {};
        });
    if (!there && there.error().kind == ErrorKind::system) return fail(there.error());
    if (there && *there && hash.finish() == digest) {
      ++report_.kept.objects;
      return touch(path);
    }
    bool held = true;
    Sha256 written;
    const ByteProducer content = [&](const ByteSink& sink) -> Status {
      const Result<bool> given = log_.object(digest, [&](std::string_view piece) {
        written.update(piece);
        return sink(piece);
      });
      if (!given) return fail(given.error());
      held = *given;
      if (held && written.finish() == digest) return {};
      // Not an object: the temporary file is not to be renamed.
      return fail(ErrorKind::corrupt, "OBJECT_MISMATCH", digest.text(),
                  "the source gave other bytes than those of this digest");
    };
    const Status put = replace(path, content);
    if (!held) {
      ++report_.objects_absent;
      std::error_code ignored;
      std::filesystem::remove(temporary_path(folder_ / path), ignored);
      return {};
    }
    if (put) ++report_.written.objects;
    return put;
  }

  Status put(const std::string& path, std::string_view bytes, std::uint64_t& written,
             std::uint64_t& kept) {
    const Result<std::optional<std::string>> there = there_.get(path, bytes.size());
    if (!there && there.error().kind == ErrorKind::system) return fail(there.error());
    if (there && *there == bytes) {
      ++kept;
      return touch(path);
    }
    const Status done = replace(path, [&](const ByteSink& sink) { return sink(bytes); });
    if (done) ++written;
    return done;
  }

  Status replace(const std::string& path, const ByteProducer& content) {
    const std::filesystem::path whole = folder_ / path;
    if (made_.insert(whole.parent_path()).second) {
      if (Status made = steps_.make_folder(whole.parent_path()); !made) return made;
    }
    if (Status replaced = replace_file(whole, content, steps_); !replaced) return replaced;
    return touch(path);
  }

  // Remembers a folder to be synced before the checkpoint: also that of a file which was there, for
  // an export that broke off may have renamed it and not come so far.
  Status touch(const std::string& path) {
    touched_.insert((folder_ / path).parent_path());
    return {};
  }

  Status sync_folders() {
    for (const std::filesystem::path& folder : touched_) {
      // An export that broke off may have made the folder itself and not synced the one above it.
      for (std::filesystem::path at = folder; at != folder_; at = at.parent_path()) {
        if (!synced_.insert(at).second) break;
        if (Status synced = steps_.sync_folder(at); !synced) return synced;
      }
    }
    return steps_.sync_folder(folder_);
  }

  const TileExport& log_;
  const TreeHead head_;
  const std::filesystem::path folder_;
  DirectorySource there_;
  FileSteps& steps_;
  std::unordered_set<Digest> seen_;
  std::set<std::filesystem::path> made_;     // folders that are there
  std::set<std::filesystem::path> touched_;  // folders that hold what the checkpoint speaks of
  std::set<std::filesystem::path> synced_;
  TileExportReport report_;
};

}  // namespace

Result<TileExportReport> export_tiles(const TileExport& log, const std::filesystem::path& folder,
                                      FileSteps& steps) {
  assert(!log.objects || log.object);
  return Exporter(log, folder, steps).run();
}

}  // namespace kernelindex
