// SPDX-License-Identifier: Apache-2.0
// mirror: another ledger's log, fetched, judged byte by byte, and kept as files.
#include "ledger/entry.h"
#include "ledger/tile_export.h"
#include "tools/display_text.h"
#include "tools/http_source.h"
#include "tools/json_output.h"
#include "tools/log_keys.h"
#include "tools/progress.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--key",
     .value = "VKEY",
     .help = "a key of the log, name+hex+base64, from somewhere else than the server; repeat it "
             "for each key of a log that changed keys",
     .repeated = true},
    {.name = "--allow-host",
     .value = "HOST",
     .help = "ask this host also without TLS and at a private address",
     .repeated = true},
    {.name = "--hashes-only", .help = "tiles and entries, no objects"},
    {.name = "URL",
     .help = "the prefix of the log: its checkpoint is URL/checkpoint",
     .required = true},
    {.name = "DIR",
     .help = "the folder to write into; made when it is not there",
     .kind = ValueKind::folder,
     .required = true},
};
constexpr std::string_view kExamples[] = {
    "mirror https://example.org/log copy --key \"$(cat log.vkey)\"",
};

// The remote log as an export reads it. What was fetched before and is full is read from the
// folder: it is judged against the tree all the same.
class RemoteLog {
 public:
  RemoteLog(ResourceSource& remote, const std::filesystem::path& folder, std::uint64_t size)
      : remote_(remote), kept_(folder), size_(size) {}

  Result<std::string> tile(unsigned level, std::uint64_t index, unsigned width) {
    return read({false, level, index, width}, kTileBytes);
  }

  Result<std::string> leaf(std::uint64_t index) {
    const std::uint64_t number = index / kTileWidth;
    if (!bundle_ || bundle_number_ != number) {
      const unsigned width = tile_width(0, number, size_);
      Result<std::string> bytes = read({true, 0, number, width}, kBundleBytes);
      if (!bytes) return bytes;
      bundle_ = std::move(*bytes);
      bundle_number_ = number;
    }
    // A full bundle in place of a partial one holds more entries than the tree has.
    const unsigned whole = bundle_is_full_ ? kTileWidth : tile_width(0, number, size_);
    const Result<std::vector<std::string_view>> leaves = decode_bundle(*bundle_, whole);
    if (!leaves) return fail(leaves.error());
    return std::string((*leaves)[index % kTileWidth]);
  }

 private:
  Result<std::string> read(const TilePath& path, std::uint64_t limit) {
    TilePath full = path;
    full.width = kTileWidth;
    if (path.entries) bundle_is_full_ = path.width == kTileWidth;
    if (path.width == kTileWidth) {
      Result<std::optional<std::string>> kept = kept_.get(tile_path_text(path), limit);
      if (kept && *kept) return std::move(**kept);
    }
    Result<std::optional<std::string>> bytes = remote_.get(tile_path_text(path), limit);
    if (bytes && !*bytes && path.width < kTileWidth) {
      // The log has grown, and its partial files may be gone.
      bytes = remote_.get(tile_path_text(full), limit);
      if (path.entries) bundle_is_full_ = true;
    }
    if (!bytes) return fail(bytes.error());
    if (*bytes) return std::move(**bytes);
    return fail(ErrorKind::not_found, "NO_FILE", tile_path_text(path),
                "the server has no such file");
  }

  ResourceSource& remote_;
  DirectorySource kept_;
  std::uint64_t size_;
  std::optional<std::string> bundle_;
  std::uint64_t bundle_number_ = 0;
  bool bundle_is_full_ = false;
};

Result<SignedCheckpoint> fetch_checkpoint(ResourceSource& remote, const std::string& url,
                                          const std::vector<VerifierKey>& keys) {
  const Result<std::optional<std::string>> bytes =
      remote.get(std::string(kCheckpointPath), limits::kNoteBytes);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) {
    return fail(ErrorKind::not_found, "NO_FILE", url, "there is no checkpoint of a log there");
  }
  Result<SignedCheckpoint> checkpoint = parse_checkpoint(**bytes);
  if (!checkpoint) return fail_in(url, checkpoint.error());
  const CheckpointVerdict verdict = verify_checkpoint(*checkpoint, keys);
  if (verdict.ok()) return checkpoint;
  return fail(ErrorKind::corrupt, std::string(verdict.code), url, verdict.detail,
              "No key that you trust signed this checkpoint");
}

void print(Output& out, const SignedCheckpoint& checkpoint, const TileExportReport& report) {
  const TreeHead& head = checkpoint.checkpoint.head;
  if (out.for_people()) {
    out.write("fetched  " + counted(report.written.tiles, "tile") + ", " +
              counted(report.written.bundles, "bundle") + ", " +
              counted(report.written.objects, "object") + "\n");
    if (report.objects_absent != 0) {
      out.write("absent   " + counted(report.objects_absent, "object") + " that are not held\n");
    }
    out.write("size " + grouped(head.size) + ", root " + head.root.text() + "\n");
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("origin", json.text(checkpoint.checkpoint.origin))
                   .add("size", json.count(head.size))
                   .add("root", json.digest(head.root))
                   .add("objectsAbsent", json.count(report.objects_absent))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::vector<VerifierKey>> keys = trusted_log_keys(arguments, "mirror");
  if (!keys) return fail(keys.error());
  const std::string url = arguments.text("URL");
  Result<HttpSource> remote = HttpSource::open(url, arguments.list("--allow-host"));
  if (!remote) return fail(remote.error());
  const Result<SignedCheckpoint> checkpoint = fetch_checkpoint(*remote, url, *keys);
  if (!checkpoint) return fail(checkpoint.error());
  RemoteLog source(*remote, arguments.text("DIR"), checkpoint->checkpoint.head.size);
  TileExport log;
  log.checkpoint = *checkpoint;
  log.tiles = [&](unsigned level, std::uint64_t index, unsigned width) {
    return source.tile(level, index, width);
  };
  log.leaf = [&](std::uint64_t index) { return source.leaf(index); };
  if (!arguments.given("--hashes-only")) {
    log.objects = [](std::string_view leaf) -> Result<std::vector<Digest>> {
      const Result<Entry> entry = decode_entry(leaf);
      // Entries of other logs than ours name no objects that we know.
      return entry ? std::vector{entry->content.digest} : std::vector<Digest>();
    };
  }
  log.object = [&](const Digest& digest, const ByteSink& sink) {
    return remote->stream(object_path(digest), limits::kObjectBytes, sink);
  };
  Result<TileExportReport> report = TileExportReport{};
  {
    Progress progress("mirroring", session.quiet());
    log.progress = [&](std::uint64_t done, std::uint64_t total) {
      progress.update(done, total, "entries");
    };
    report = export_tiles(log, arguments.text("DIR"));
  }
  if (!report) return fail(report.error());
  print(session.out(), *checkpoint, *report);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kMirrorVerb{
    .name = "mirror",
    .summary = "follow another ledger's log: fetch it, check every byte, keep it as files",
    .details =
        "Each tile is held against its parent, each entry against its leaf hash, each object "
        "against\n"
        "its digest, and the tree that was fetched before against the new one, before anything of "
        "it\n"
        "is kept. A mirror that was broken off goes on. 'verify tiles DIR' judges the folder, and\n"
        "'cosign --checkpoint DIR/checkpoint' is a witness of what it holds.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
