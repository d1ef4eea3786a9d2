// SPDX-License-Identifier: Apache-2.0
#include "verify/bundle_format.h"

#include <optional>
#include <span>

#include "ledger/object_reader.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

constexpr std::size_t kHashBytes = 32;
constexpr unsigned kBundleDepth = 4;

std::string nodes_text(std::span<const Digest> nodes) {
  std::string raw;
  raw.reserve(nodes.size() * kHashBytes);
  for (const Digest& node : nodes) raw += node.raw();
  return to_base64(raw);
}

// Absent is none.
std::vector<Digest> read_nodes(ObjectReader& reader, std::string_view name) {
  constexpr std::size_t kTextBytes = (kBundleNodes * kHashBytes + 2) / 3 * 4;
  const std::string text = reader.optional_text(name, kTextBytes);
  std::vector<Digest> out;
  if (text.empty()) return out;
  const std::optional<std::string> raw = from_base64(text);
  if (!raw || raw->empty() || raw->size() % kHashBytes != 0 ||
      raw->size() / kHashBytes > kBundleNodes) {
    reader.fault(name, "BAD_NODES",
                 "this must be the canonical base64 of 1 to " + std::to_string(kBundleNodes) +
                     " hashes of 32 bytes");
    return out;
  }
  for (std::size_t at = 0; at < raw->size(); at += kHashBytes) {
    out.push_back(Digest::from_raw(std::string_view(*raw).substr(at, kHashBytes)));
  }
  return out;
}

Status read_entry(const json::Value& value, std::size_t number, Bundle& bundle) {
  ObjectReader reader(value, "entries[" + std::to_string(number) + "]");
  BundleEntry entry;
  entry.index = reader.count("index");
  entry.leaf = reader.text("leaf", limits::kEntryBytes);
  entry.range = read_nodes(reader, "range");
  if (!bundle.entries.empty() && bundle.entries.back().index >= entry.index) {
    reader.fault("index", "ENTRY_ORDER", "entries stand in order of their index, each once");
  }
  bundle.entries.push_back(std::move(entry));
  return reader.finish();
}

void read_objects(ObjectReader& reader, Bundle& bundle) {
  for (const json::Value& item : reader.array("objects", kBundleEntries, true)) {
    if (!item.is_string() || item.string().empty()) {
      reader.fault("objects", "BAD_MEMBER", "each object is a text that is not empty");
      return;
    }
    bundle.objects.emplace_back(item.string());
  }
}

// Absent is none.
void read_artifacts(ObjectReader& reader, Bundle& bundle) {
  std::optional<Digest> before;
  for (const json::Value& item : reader.array("artifacts", kBundleEntries, false)) {
    std::optional<std::string> bytes = item.is_string() ? from_base64(item.string()) : std::nullopt;
    if (!bytes || bytes->empty()) {
      reader.fault("artifacts", "BAD_MEMBER",
                   "each artifact is the canonical base64 of bytes that are not empty");
      return;
    }
    const Digest digest = sha256(*bytes);
    if (before && *before >= digest) {
      reader.fault("artifacts", "ARTIFACT_ORDER", "artifacts are sorted by digest, none twice");
      return;
    }
    before = digest;
    bundle.artifacts.push_back(std::move(*bytes));
  }
}

}  // namespace

Result<std::string> Bundle::encode() const {
  json::Arena arena;
  std::vector<json::Value> entry_values;
  for (const BundleEntry& entry : entries) {
    entry_values.push_back(
        json::ObjectBuilder(arena)
            .add("index", json::Value(static_cast<double>(entry.index)))
            .add("leaf", arena.string(entry.leaf))
            .add_if(!entry.range.empty(), "range", arena.copy(nodes_text(entry.range)))
            .finish());
  }
  std::vector<json::Value> object_values;
  for (const std::string& object : objects) object_values.push_back(arena.string(object));
  std::vector<json::Value> artifact_values;
  for (const std::string& artifact : artifacts) {
    artifact_values.push_back(arena.string(arena.copy(to_base64(artifact))));
  }
  json::ObjectBuilder document(arena);
  if (!artifacts.empty()) document.add("artifacts", arena.array(artifact_values));
  std::string out =
      json::canonical(document.add("checkpoint", arena.string(checkpoint))
                          .add("entries", arena.array(entry_values))
                          .add("format", kBundleFormat)
                          .add_if(!nodes.empty(), "nodes", arena.copy(nodes_text(nodes)))
                          .add("objects", arena.array(object_values))
                          .add_if(!status.empty(), "status", arena.copy(status))
                          .add("subject", arena.string(subject.text()))
                          .finish());
  if (out.size() > kBundleBytes || entries.size() > kBundleEntries || nodes.size() > kBundleNodes) {
    return fail(ErrorKind::refused, "BUNDLE_TOO_LARGE", subject.text(),
                "the evidence takes " + std::to_string(entries.size()) + " entries and " +
                    std::to_string(out.size()) + " bytes; a bundle holds " +
                    std::to_string(kBundleEntries) + " and " + std::to_string(kBundleBytes),
                "show the log itself: `kernelindex export tiles`");
  }
  return out;
}

Result<Bundle> parse_bundle(std::string_view bytes) {
  json::Arena arena;
  const Result<json::Value> value =
      json::parse(bytes, arena, {.bytes = kBundleBytes, .depth = kBundleDepth});
  if (!value) return fail(value.error());
  if (value->text("format") != kBundleFormat) {
    return fail(ErrorKind::invalid, "NOT_A_BUNDLE", "format",
                "this is no evidence bundle of the format " + std::string(kBundleFormat),
                "make one with `kernelindex prove`");
  }
  if (json::canonical(*value) != bytes) {
    return fail(ErrorKind::invalid, "NOT_CANONICAL", {},
                "a bundle is canonical JSON, byte for byte, without a newline at its end");
  }
  ObjectReader reader(*value, "");
  Bundle bundle;
  reader.expect_text("format", kBundleFormat);
  bundle.subject = reader.digest("subject");
  bundle.checkpoint = reader.text("checkpoint", limits::kNoteBytes);
  bundle.status = reader.optional_text("status", limits::kEnvelopeBytes);
  bundle.nodes = read_nodes(reader, "nodes");
  const std::span<const json::Value> entries = reader.array("entries", kBundleEntries, true);
  for (std::size_t i = 0; i < entries.size() && reader.ok(); ++i) {
    if (Status status = read_entry(entries[i], i, bundle); !status) reader.fault(status.error());
  }
  read_objects(reader, bundle);
  read_artifacts(reader, bundle);
  if (Status status = reader.finish(); !status) return fail(status.error());
  return bundle;
}

}  // namespace kernelindex
