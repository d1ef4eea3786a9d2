// SPDX-License-Identifier: Apache-2.0
#include "tools/reparser.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ingest/import.h"
#include "tools/local_manifest.h"
#include "verify/accept_result.h"

namespace kernelindex::tools {
namespace {

using ClaimCallback = std::function<Status(ReparsedClaim)>;

// Hands claims on; what else an importer finds was said by the import's report.
class ClaimSink final : public ingest::DraftSink {
 public:
  ClaimSink(const ImportEvent& import, const ClaimCallback& claim)
      : import_(import), claim_(claim) {}

  Status begin_file(std::size_t) override { return {}; }
  Status claim(ingest::Draft draft) override {
    ReparsedClaim again{import_.snapshots.at(draft.file).digest,
                        std::move(draft.manifest),
                        std::move(draft.source),
                        std::move(draft.via),
                        std::move(draft.external_ids),
                        std::move(draft.item),
                        std::move(draft.facts)};
    return claim_(std::move(again));
  }
  Status artifact(ingest::ArtifactDraft) override { return {}; }
  Status withdrawn(ingest::WithdrawalDraft) override { return {}; }
  void finding(ingest::Finding) override {}
  void skipped(std::string_view) override {}
  void selected() override {}
  void counted(std::string_view, std::uint64_t) override {}

 private:
  const ImportEvent& import_;
  const ClaimCallback& claim_;
};

std::unexpected<Error> unknown_version(const ImportEvent& import) {
  return fail(ErrorKind::invalid, "UNKNOWN_PARSER_VERSION", import.parser,
              "this program does not have version " + import.parser_version + " of this parser");
}

Result<std::string> read_whole(const ImportedSnapshot& snapshot, std::size_t limit) {
  Result<std::unique_ptr<ByteSource>> bytes = snapshot.open();
  if (!bytes) return fail(bytes.error());
  std::string text;
  std::string buffer(limit + 1, '\0');
  while (text.size() <= limit) {
    const Result<std::size_t> count = (*bytes)->read(buffer);
    if (!count) return fail(count.error());
    if (*count == 0) return text;
    text.append(buffer, 0, *count);
  }
  return fail(ErrorKind::invalid, "TOO_LARGE", snapshot.locator,
              "this has more than " + std::to_string(limit) + " bytes");
}

Status reparse_local(const ImportEvent& import, const ClaimCallback& claim) {
  if (import.parser_version != kAddParserVersion) return unknown_version(import);
  for (const ImportedSnapshot& snapshot : import.snapshots) {
    const Result<std::string> text = read_whole(snapshot, limits::kManifestBytes);
    if (!text) return fail(text.error());
    Result<Manifest> manifest = read_local_manifest(snapshot.locator, *text);
    if (!manifest) return fail(manifest.error());
    Status status =
        claim({snapshot.digest, std::move(*manifest), std::string(kLocalSource), {}, {}, {}, {}});
    if (!status) return status;
  }
  return {};
}

// A controlled run follows from the statement and the document, which are its two snapshots.
Status reparse_controlled(const ImportEvent& import, const ClaimCallback& claim) {
  if (import.parser_version != kControlledParserVersion) return unknown_version(import);
  const auto named = [&](std::string_view locator) {
    return std::ranges::find(import.snapshots, locator, &ImportedSnapshot::locator);
  };
  const auto document = named("result.json");
  const auto statement = named("statement.dsse.json");
  if (document == import.snapshots.end() || statement == import.snapshots.end()) {
    return fail(ErrorKind::invalid, "SNAPSHOT_MISSING", import.parser,
                "a controlled run has the snapshots result.json and statement.dsse.json");
  }
  const Result<std::string> text = read_whole(*document, kResultDocumentBytes);
  if (!text) return fail(text.error());
  Result<ControlledClaims> claims = controlled_claims(import.options, *text);
  if (!claims) return fail(claims.error());
  for (Manifest* manifest : {&claims->environment, &claims->run}) {
    Status status = claim(
        {statement->digest, std::move(*manifest), std::string(kControlledSource), {}, {}, {}, {}});
    if (!status) return status;
  }
  return {};
}

}  // namespace

Status ImporterReparser::reparse(const ImportEvent& import, const ClaimCallback& claim) {
  if (import.parser == kAddParser) return reparse_local(import, claim);
  if (import.parser == kControlledParser) return reparse_controlled(import, claim);
  const auto known = ingest::sources();
  const auto source = std::ranges::find(known, import.parser, &ingest::SourceInfo::parser);
  if (source == known.end()) {
    return fail(ErrorKind::invalid, "UNKNOWN_PARSER", import.parser,
                "this program does not have this parser");
  }
  if (source->parser_version != import.parser_version) return unknown_version(import);
  const Result<ingest::ImportOptions> options = ingest::ImportOptions::parse(import.options);
  if (!options) return fail(options.error());
  std::vector<ingest::RecordedFile> files;
  for (const ImportedSnapshot& snapshot : import.snapshots) {
    files.push_back({snapshot.locator, snapshot.media_type, snapshot.fetched_at, snapshot.open});
  }
  ClaimSink sink(import, claim);
  return ingest::run_importer(*source, *options, files, sink);
}

}  // namespace kernelindex::tools
