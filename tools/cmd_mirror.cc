// SPDX-License-Identifier: Apache-2.0
// mirror: another ledger's log, fetched, judged byte by byte, and kept as files.
#include "ledger/entry.h"
#include "ledger/tile_export.h"
#include "ledger/tile_reader.h"
#include "ledger/witness_state_file.h"
#include "tools/cosigning.h"
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
    {.name = "--cosign",
     .value = "FILE",
     .help = "your key file: when all was checked, be a witness of the log and add your line to "
             "DIR/checkpoint; needs --state",
     .kind = ValueKind::file},
    {.name = "--state",
     .value = "DIR",
     .help = "with --cosign: what was cosigned before, by log; made when it is not there, and kept "
             "up to date",
     .kind = ValueKind::folder},
    {.name = "--name",
     .value = "NAME",
     .help =
         "with --cosign: your name as a witness, by custom a URL without its scheme; by default "
         "the owner that the key file names"},
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
    "mirror https://example.org/log copy --key \"$(cat log.vkey)\" --cosign w.key --state witness",
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

// ---- being a witness ----

// Who cosigns, opened before anything is fetched: what is wrong with it is said at once.
struct Witness {
  WitnessKey key;
  WitnessStateFile state;
};

Result<std::optional<Witness>> open_witness(const Session& session, const Arguments& arguments,
                                            const std::vector<VerifierKey>& keys) {
  const bool cosigns = arguments.given("--cosign");
  if (cosigns != arguments.given("--state") || (!cosigns && arguments.given("--name"))) {
    return fail(ErrorKind::usage, "USAGE", "", "mirror: --cosign and --state belong together",
                "Try 'kernelindex mirror --help'");
  }
  if (!cosigns) return std::nullopt;
  Result<WitnessKey> key = read_witness_key(session, arguments, "--cosign", "--name", keys);
  if (!key) return fail(key.error());
  Result<WitnessStateFile> state =
      WitnessStateFile::open(arguments.text("--state"), key->identity().verifier());
  if (!state) return fail(state.error());
  return Witness{std::move(*key), std::move(*state)};
}

// From the tree of `older` leaves to the mirrored one, read from the folder that holds it.
Result<Proof> prove_growth(const std::filesystem::path& folder, std::uint64_t older,
                           const TreeHead& head) {
  // Nothing to prove; whether the sizes are right is for the decision to say.
  if (older == 0 || older >= head.size) return Proof();
  DirectorySource files(folder);
  Result<TileReader> tree = TileReader::open(
      head, [&](unsigned level, std::uint64_t index, unsigned width) -> Result<std::string> {
        const std::string path = tile_path_text({false, level, index, width});
        Result<std::optional<std::string>> bytes = files.get(path, kTileBytes);
        if (!bytes) return fail(bytes.error());
        if (*bytes) return std::move(**bytes);
        return fail(ErrorKind::not_found, "NO_FILE", path, "the folder has no such file");
      });
  if (!tree) return fail(tree.error());
  return prove_consistency(older, head.size, *tree);
}

// Cosigns what the folder holds, and writes the line into its checkpoint: a mirror that is served
// then carries it. Requires: every byte of the folder was checked.
Result<CosignDecision> cosign(const Session& session, Witness& witness,
                              const std::filesystem::path& folder,
                              const SignedCheckpoint& checkpoint,
                              const std::vector<VerifierKey>& keys) {
  if (Status room = check_room(checkpoint); !room) return fail(room.error());
  const Result<std::optional<WitnessRecord>> stored =
      witness.state.latest(checkpoint.checkpoint.origin);
  if (!stored) return fail(stored.error());
  AddCheckpoint request{*stored ? (*stored)->checkpoint.checkpoint.head.size : 0, {}, checkpoint};
  Result<Proof> proof = prove_growth(folder, request.old_size, checkpoint.checkpoint.head);
  if (!proof) return fail(proof.error());
  request.proof = std::move(*proof);
  Result<CosignDecision> decision = cosign_checkpoint(
      request, witness.state, keys, witness.key.identity(), witness_time(session.now()));
  if (!decision || !decision->ok()) return decision;
  const std::string note = cosigned_note(checkpoint, *decision->signature);
  if (Status written = write_file_durably(folder / kCheckpointPath, note); !written) {
    return fail(written.error());
  }
  return decision;
}

void print(Output& out, const SignedCheckpoint& checkpoint, const TileExportReport& report,
           const std::optional<CosignDecision>& decision) {
  const TreeHead& head = checkpoint.checkpoint.head;
  if (out.for_people()) {
    out.write("fetched  " + counted(report.written.tiles, "tile") + ", " +
              counted(report.written.bundles, "bundle") + ", " +
              counted(report.written.objects, "object") + "\n");
    if (report.objects_absent != 0) {
      out.write("absent   " + counted(report.objects_absent, "object") + " that are not held\n");
    }
    out.write("size " + grouped(head.size) + ", root " + head.root.text() + "\n");
    if (!decision) return;
    out.write(decision->ok() ? "cosigned as " + escape_text(decision->signature->name) + "\n"
                             : refusal_text(out.terminal(), *decision));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder document = json.object();
  document.add("origin", json.text(checkpoint.checkpoint.origin))
      .add("size", json.count(head.size))
      .add("root", json.digest(head.root))
      .add("objectsAbsent", json.count(report.objects_absent));
  if (decision && decision->ok()) {
    document.add("cosignature", json.object()
                                    .add("ok", json::Value(true))
                                    .add("time", json.count(cosignature_time(*decision->signature)))
                                    .add("line", json.text(decision->signature->line()))
                                    .finish());
  } else if (decision) {
    document.add("cosignature", refusal_document(json, *decision));
  }
  out.document(document.finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::vector<VerifierKey>> keys = trusted_log_keys(arguments, "mirror");
  if (!keys) return fail(keys.error());
  Result<std::optional<Witness>> witness = open_witness(session, arguments, *keys);
  if (!witness) return fail(witness.error());
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
  std::optional<CosignDecision> decision;
  if (*witness) {
    Result<CosignDecision> made =
        cosign(session, **witness, arguments.text("DIR"), *checkpoint, *keys);
    if (!made) return fail(made.error());
    decision = std::move(*made);
  }
  print(session.out(), *checkpoint, *report, decision);
  return !decision || decision->ok() ? ExitCode::done : ExitCode::check_failed;
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
        "is kept. A mirror that was broken off goes on. 'verify tiles DIR' judges the folder.\n"
        "\n"
        "--cosign makes you a witness of the log, as 'cosign' does by hand: your line says that "
        "this\n"
        "is the largest tree of it that you saw, and that it continues the last one that you "
        "cosigned.\n"
        "It is made after all checks; when it is refused, the exit status is 1 and the mirror "
        "stays.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
