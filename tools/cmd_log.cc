// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "schema/json_reader.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/json_stream.h"
#include "tools/ledger_access.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--from",
     .value = "N",
     .help = "the first index; by default 0",
     .kind = ValueKind::count},
    {.name = "--limit",
     .value = "N",
     .help = "how many entries at most; by default all",
     .kind = ValueKind::count},
};
constexpr std::string_view kExamples[] = {"log", "log --from 6 --limit 20", "log --jsonl"};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// What an entry is about, after its type.
struct Describe {
  const Entry& entry;
  std::string operator()(const ManifestEntry& body) const {
    return "manifest     " + pad_right(kind_name(body.kind), 22) + "  " + body.subject.text() +
           "  " + body.source + (body.via.empty() ? "" : " via " + body.via) +
           (body.external_ids.empty() ? "" : "  " + joined(body.external_ids));
  }
  std::string operator()(const SnapshotEntry& body) const {
    return "snapshot     " + pad_right(body.source, 22) + "  " + entry.content.digest.text() +
           "  " + body.locator + ", " + body.acquired;
  }
  std::string operator()(const ArtifactEntry&) const {
    return "artifact     " + pad_right(entry.content.media_type, 22) + "  " +
           entry.content.digest.text();
  }
  std::string operator()(const AttestationEntry& body) const {
    const std::string_view uri = body.predicate_type;
    const std::string_view name =
        uri.starts_with(kPredicateBase) ? uri.substr(kPredicateBase.size()) : uri;
    return "attestation  " + pad_right(name, 22) + "  " + body.subject.text() + "  by " +
           body.signer.substr(0, 8);
  }
};

void print_line(Output& out, std::uint64_t index, const std::string& leaf, std::size_t width) {
  const std::string number = pad_left(std::to_string(index), width);
  out.write(out.terminal().tinted(number, Tone::dim) + "  ");
  const Result<Entry> entry = decode_entry(leaf);
  if (entry) {
    out.write(format_utc_micros(entry->recorded_at) + "  " +
              escape_text(std::visit(Describe{*entry}, entry->body)) + "\n");
  } else {  // a later version wrote it: say so, and go on
    out.write(escape_text(entry.error().text()) + "\n");
  }
}

Status print_document(JsonStream& stream, std::uint64_t index, const std::string& leaf) {
  json::Arena arena;
  const Result<json::Value> document = json::parse(leaf, arena);
  if (!document) return fail_in("entry " + std::to_string(index), document.error());
  const JsonOutput json(arena);
  stream.item(json.object()
                  .add("index", json.count(index))
                  .add("leafHash", json.digest(leaf_hash(leaf).digest()))
                  .add("entry", *document)
                  .finish());
  return {};
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::log);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const std::uint64_t size = reader.head().size;
  const std::uint64_t from = arguments.count("--from").value_or(0);
  if (from > size) {
    return fail(ErrorKind::not_found, "NO_SUCH_ENTRY", "--from",
                "the log has " + counted(size, "entry", "entries"));
  }
  const std::uint64_t end = from + std::min(size - from, arguments.count("--limit").value_or(size));
  const std::size_t width = std::to_string(end).size();
  Output& out = session.out();
  JsonStream stream(out, "entries");
  for (std::uint64_t index = from; index < end; ++index) {
    const Result<std::string> leaf = reader.leaf(index);
    if (!leaf) return fail(leaf.error());
    if (out.for_people()) {
      print_line(out, index, *leaf, width);
    } else if (Status status = print_document(stream, index, *leaf); !status) {
      return fail(status.error());
    }
  }
  json::Arena arena;
  const JsonOutput json(arena);
  stream.finish(json.object()
                    .add("root", json.digest(reader.head().root))
                    .add("size", json.count(size))
                    .finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kLogVerb{
    .name = "log",
    .summary = "list the entries of the log in order",
    .details =
        "With --jsonl each line holds the entry exactly as it was hashed, and its leaf hash.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
