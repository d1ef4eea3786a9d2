// SPDX-License-Identifier: Apache-2.0
#include "ledger/static_log.h"

#include <cassert>
#include <optional>
#include <unordered_set>
#include <utility>

#include "ledger/tile.h"
#include "ledger/tile_walk.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

static_assert(kBundleBytes == kTileWidth * (2 + limits::kEntryBytes));

constexpr std::size_t kRememberedObjects = 1 << 16;  // 2 MiB of digests

class Judge {
 public:
  Judge(ResourceSource& source, const StaticLogOptions& options, StaticLogReport& report)
      : source_(source), options_(options), report_(report) {}

  Status run() {
    TileWalk walk;
    walk.fetch = [this](const TilePath& path) { return fetch_tile(path); };
    walk.tile = [this](const TilePath& path, std::string_view bytes) { return tile(path, bytes); };
    walk.fault = [this](const TilePath* path, const Error& error, const Digest& expected,
                        const Digest& found, std::uint64_t leaves) -> Status {
      const bool differ = error.code == "TILE_MISMATCH" || error.code == "ROOT_MISMATCH";
      add({path != nullptr ? tile_path_text(*path) : std::string(kCheckpointPath), error.code,
           error.message, differ ? expected.text() : "", differ ? found.text() : ""});
      skip(leaves);
      return {};
    };
    return walk_tiles(report_.checkpoint.head, walk);
  }

  void add(StaticLogFault fault) {
    if (report_.faults.size() < options_.faults_max) {
      report_.faults.push_back(std::move(fault));
    } else {
      ++report_.faults_left_out;
    }
  }

 private:
  void skip(std::uint64_t leaves) {
    report_.unjudged += leaves;
    progress();
  }

  void progress() {
    if (options_.progress) {
      options_.progress(report_.leaves + report_.unjudged, report_.checkpoint.head.size);
    }
  }

  // The file itself, or the full one that took its place; which of them, and its bytes.
  struct Found {
    TilePath path;
    std::string bytes;
  };

  Result<Found> fetch(const TilePath& path, std::size_t limit) {
    TilePath full = path;
    full.width = kTileWidth;
    for (const TilePath& one : {path, full}) {
      Result<std::optional<std::string>> bytes = source_.get(tile_path_text(one), limit);
      if (!bytes) return fail(bytes.error());
      if (*bytes) return Found{one, std::move(**bytes)};
    }
    return fail(ErrorKind::not_found, "NO_FILE", {}, "the file is missing");
  }

  Result<std::string> fetch_tile(const TilePath& path) {
    Result<Found> found = fetch(path, kTileBytes);
    if (!found && found.error().code == "RESOURCE_TOO_LARGE") {
      return fail(ErrorKind::corrupt, "TILE_LENGTH", {}, "a tile has at most 8192 bytes");
    }
    if (!found) return fail(found.error());
    // At the path of a full tile only a full one is right, whoever asks.
    const std::size_t due = found->path.width * kHashBytes;
    if (found->bytes.size() != due) {
      return fail(ErrorKind::corrupt, "TILE_LENGTH", {},
                  tile_path_text(found->path) + " has " + std::to_string(found->bytes.size()) +
                      " bytes where " + std::to_string(due) + " belong");
    }
    found->bytes.resize(path.width * kHashBytes);
    return std::move(found->bytes);
  }

  Status tile(const TilePath& path, std::string_view hashes) {
    ++report_.tiles;
    if (path.level > 0) return {};
    if (options_.entries) return bundle({true, 0, path.index, path.width}, hashes);
    report_.leaves += path.width;
    progress();
    return {};
  }

  Status bundle(const TilePath& path, std::string_view hashes) {
    const auto spoilt = [&](const std::string& code, const std::string& what) {
      add({tile_path_text(path), code, what, {}, {}});
      skip(path.width);
    };
    const Result<Found> found = fetch(path, kBundleBytes);
    if (!found) {
      if (found.error().kind == ErrorKind::system) return fail(found.error());
      spoilt(found.error().code == "RESOURCE_TOO_LARGE" ? "BAD_BUNDLE" : found.error().code,
             found.error().message);
      return {};
    }
    const Result<std::vector<std::string_view>> entries =
        decode_bundle(found->bytes, found->path.width);
    if (!entries) {
      spoilt(entries.error().code, entries.error().message);
      return {};
    }
    bool whole = true;
    for (unsigned i = 0; i < path.width; ++i) {
      const Digest expected = Digest::from_raw(hashes.substr(i * kHashBytes, kHashBytes));
      const Digest leaf = leaf_hash((*entries)[i]).digest();
      if (leaf != expected) {
        whole = false;
        ++report_.unjudged;
        add({tile_path_text(path), "LEAF_MISMATCH",
             "entry " + std::to_string(path.index * kTileWidth + i) +
                 " does not hash to the leaf of the log",
             expected.text(), leaf.text()});
        continue;
      }
      ++report_.leaves;
      if (Status checked = objects(path, path.index * kTileWidth + i, (*entries)[i]); !checked) {
        return checked;
      }
    }
    report_.bundles += whole ? 1 : 0;
    progress();
    return {};
  }

  Status objects(const TilePath& bundle, std::uint64_t index, std::string_view entry) {
    if (!options_.objects) return {};
    const Result<std::vector<Digest>> named = options_.objects(entry);
    if (!named) {
      add({tile_path_text(bundle),
           "UNREADABLE_ENTRY",
           "entry " + std::to_string(index) + ": " + named.error().text(),
           {},
           {}});
      return {};
    }
    for (const Digest& digest : *named) {
      if (Status checked = object(digest); !checked) return checked;
    }
    return {};
  }

  Status object(const Digest& digest) {
    // Many entries name one object. What is forgotten is read again, no more.
    if (seen_.contains(digest)) return {};
    if (seen_.size() >= kRememberedObjects) seen_.clear();
    seen_.insert(digest);
    const std::string path = object_path(digest);
    Sha256 hash;
    const Result<bool> there =
        source_.stream(path, limits::kObjectBytes, [&](std::string_view piece) -> Status {
          hash.update(piece);
          return {};
        });
    if (!there && there.error().kind == ErrorKind::system) return fail(there.error());
    if (!there) {
      const bool large = there.error().code == "RESOURCE_TOO_LARGE";
      add({path, large ? "OBJECT_TOO_LARGE" : there.error().code, there.error().message, {}, {}});
      return {};
    }
    if (!*there) {
      ++report_.objects_absent;
      return {};
    }
    const Digest found = hash.finish();
    if (found == digest) {
      ++report_.objects;
      return {};
    }
    add({path, "OBJECT_MISMATCH", "the bytes are not those of the digest that names them",
         digest.text(), found.text()});
    return {};
  }

  ResourceSource& source_;
  const StaticLogOptions& options_;
  StaticLogReport& report_;
  std::unordered_set<Digest> seen_;
};

}  // namespace

std::string object_path(const Digest& digest) {
  const std::string hex = digest.hex();
  return "object/" + hex.substr(0, 2) + "/" + hex.substr(2);
}

Result<StaticLogReport> verify_static_log(ResourceSource& source,
                                          std::span<const VerifierKey> log_keys,
                                          const StaticLogOptions& options) {
  const std::string path(kCheckpointPath);
  const Result<std::optional<std::string>> bytes = source.get(path, limits::kNoteBytes);
  if (!bytes) return fail_in(path, bytes.error());
  if (!*bytes) {
    return fail(ErrorKind::not_found, "NO_FILE", path, "there is no checkpoint",
                "name the folder that holds the file 'checkpoint' of the log");
  }
  const Result<SignedCheckpoint> checkpoint = parse_checkpoint(**bytes);
  if (!checkpoint) return fail_in(path, checkpoint.error());
  StaticLogReport report;
  report.checkpoint = checkpoint->checkpoint;
  Judge judge(source, options, report);
  // Not signed: nothing that its root says would mean anything.
  const CheckpointVerdict signatures = verify_checkpoint(*checkpoint, log_keys);
  if (!signatures.ok()) {
    judge.add({path, std::string(signatures.code), signatures.detail, {}, {}});
    report.unjudged = report.checkpoint.head.size;
    return report;
  }
  if (Status judged = judge.run(); !judged) return fail(judged.error());
  return report;
}

}  // namespace kernelindex
