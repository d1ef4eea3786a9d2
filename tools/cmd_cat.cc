// SPDX-License-Identifier: Apache-2.0
#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/ledger_access.h"
#include "tools/named_entry.h"
#include "tools/output_file.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "-o",
     .value = "FILE",
     .help = "write to a file, which appears whole or not at all",
     .kind = ValueKind::output},
    {.name = "ID", .help = "a digest or its beginning, or an external id", .required = true},
};
constexpr std::string_view kExamples[] = {
    "cat sol-execbench:submission/15866 | sha256sum",
    "cat 1f6b2c9d03e4 -o kernels.json",
};

// The digest of the bytes that a candidate stands for: of a manifest its document.
Result<Digest> bytes_of(const Reader& reader, const Candidate& found) {
  if (found.what == Named::object) return found.digest;
  if (found.what == Named::attestation) {
    const Result<std::uint64_t> index = attestation_index(reader, found.digest);
    if (!index) return fail(index.error());
    const Result<Entry> entry = reader.entry(*index);
    if (!entry) return fail(entry.error());
    return entry->content.digest;
  }
  if (found.document) return *found.document;
  const Result<ShownManifest> shown = show_manifest(reader, found.digest);
  if (!shown) return fail(shown.error());
  return shown->documents.front().digest;
}

// Whole digests of bytes need no index: they can be had while derived data is damaged.
Result<Digest> bytes_without_index(const Reader& reader, const std::string& id, Error fault) {
  const Result<Digest> digest =
      id.starts_with("sha256:") ? Digest::parse(id) : Digest::parse_hex(id);
  const Result<bool> kept = digest ? reader.object_kept(*digest) : Result<bool>(false);
  if (!kept) return fail(kept.error());
  if (!*kept) return fail(std::move(fault));
  return *digest;
}

Result<Digest> find_bytes(const Ledger& ledger, const Reader& reader, const std::string& id) {
  if (ledger.derived_fault()) return bytes_without_index(reader, id, *ledger.derived_fault());
  const Result<Candidate> found =
      identify(reader, id, {Named::manifest, Named::attestation, Named::object});
  if (!found) return fail(found.error());
  return bytes_of(reader, *found);
}

// Bytes reach the sink before their digest is known to be right: an object may be larger than
// memory. A damaged one ends in an error and exit 4, and a file is not made of it.
template <typename Sink>
Status copy(const Reader& reader, const Digest& digest, Sink sink) {
  const Result<bool> held = reader.stream_object(digest, sink);
  if (!held) return fail(held.error());
  if (!*held) {
    return fail(ErrorKind::not_found, "BYTES_NOT_HELD", digest.text(),
                "the log names these bytes, but they are not held");
  }
  return {};
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::log);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Digest> digest = find_bytes(**ledger, reader, std::string(arguments.text("ID")));
  if (!digest) return fail(digest.error());
  if (!arguments.given("-o")) {
    const Status copied = copy(reader, *digest, [&](std::string_view piece) -> Status {
      session.out().write(piece);
      return {};
    });
    if (!copied) return fail(copied.error());
    return ExitCode::done;
  }
  OutputFile file(arguments.text("-o"));
  Status status = file.open();
  if (status) {
    status = copy(reader, *digest, [&](std::string_view piece) { return file.write(piece); });
  }
  if (status) status = file.commit();
  if (!status) return fail(status.error());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kCatVerb{
    .name = "cat",
    .summary = "print the bytes of an object, exactly as they were kept",
    .details =
        "Of a manifest its canonical document, of an attestation its envelope, of a snapshot or\n"
        "artifact the bytes of the file. Their digest is checked again.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
