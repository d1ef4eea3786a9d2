// SPDX-License-Identifier: Apache-2.0
#include "ledger/entry.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <initializer_list>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

using json::Arena;
using json::Value;

constexpr std::string_view kPredicatePrefix = "https://kernelindex.dev/predicates/";
constexpr std::size_t kUsualLeafBytes = 1'000;  // claims with their facts are mostly smaller
constexpr std::array<std::string_view, 3> kRoles = {"source", "log", "samples"};

Error unknown(std::string place, std::string what) {
  return {ErrorKind::invalid, "UNKNOWN_ENTRY", std::move(place), std::move(what),
          "the entry may come from a newer version of this program"};
}

// ---- writing ----

// Appends the text of an object whose members come in canonical order: an entry is made for each
// claim, and a tree of values to be sorted would take longer than all else about it.
class ObjectText {
 public:
  explicit ObjectText(std::string& out) : out_(out) { out_ += '{'; }

  ObjectText& text(std::string_view name, std::string_view text) {
    begin(name);
    json::append_string(text, out_);
    return *this;
  }
  ObjectText& text_if(bool present, std::string_view name, std::string_view text) {
    return present ? this->text(name, text) : *this;
  }
  ObjectText& digest(std::string_view name, const Digest& digest) {
    begin(name);
    out_ += '"';
    digest.append_text(out_);
    out_ += '"';
    return *this;
  }
  ObjectText& number(std::string_view name, std::uint64_t number) {
    begin(name);
    json::append_number(static_cast<double>(number), out_);
    return *this;
  }
  ObjectText& number_or_null(std::string_view name, const std::optional<std::uint64_t>& value) {
    if (value) return number(name, *value);
    begin(name);
    out_ += "null";
    return *this;
  }
  // Absent when there are none.
  ObjectText& texts(std::string_view name, const std::vector<std::string>& items) {
    if (items.empty()) return *this;
    begin(name);
    char before = '[';
    for (const std::string& item : items) {
      out_ += before;
      json::append_string(item, out_);
      before = ',';
    }
    out_ += ']';
    return *this;
  }
  // The caller appends the value.
  std::string& begin(std::string_view name) {
    assert(last_ < name);
    if (!last_.empty()) out_ += ',';
    last_ = name;
    return out_.append(1, '"').append(name).append("\":");
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  std::string_view last_;
};

void append_artifact(const NamedArtifact& artifact, std::string& out) {
  ObjectText item(out);
  item.digest("digest", artifact.digest);
  item.text_if(!artifact.license.empty(), "license", artifact.license);
  item.text_if(!artifact.media_type.empty(), "mediaType", artifact.media_type);
  item.text_if(!artifact.path.empty(), "path", artifact.path);
  item.text("role", artifact.role);
  if (artifact.size) item.number("size", *artifact.size);
  item.end();
}

void append_facts(const ClaimFacts& facts, std::string& out) {
  ObjectText members(out);
  members.texts("aliases", facts.aliases);
  if (!facts.artifacts.empty()) {
    members.begin("artifacts");
    char before = '[';
    for (const NamedArtifact& artifact : facts.artifacts) {
      out += before;
      append_artifact(artifact, out);
      before = ',';
    }
    out += ']';
  }
  members.texts("marks", facts.marks);
  if (facts.project) members.digest("project", *facts.project);
  members.text_if(!facts.published_at.empty(), "publishedAt", facts.published_at);
  members.text_if(!facts.retracted_at.empty(), "retractedAt", facts.retracted_at);
  members.text_if(!facts.slug.empty(), "slug", facts.slug);
  members.text_if(!facts.supersedes.empty(), "supersedes", facts.supersedes);
  members.texts("tags", facts.tags);
  members.end();
}

// Writes the members that follow `content`.
struct BodyWriter {
  const std::string& recorded_at;
  ObjectText& members;
  std::string& out;

  Status operator()(const ManifestEntry& entry) const {
    members.texts("externalIds", entry.external_ids);
    if (!entry.facts.empty()) {
      const std::size_t before = members.begin("facts").size();
      append_facts(entry.facts, out);
      if (out.size() - before > limits::kFactsBytes) {
        return fail(ErrorKind::invalid, "FACTS_TOO_LARGE", entry.item,
                    "the facts beside a claim are larger than 16 KiB");
      }
    }
    members.text_if(!entry.item.empty(), "item", entry.item);
    members.text("kind", kind_name(entry.kind)).number_or_null("previous", entry.previous);
    members.text("recordedAt", recorded_at);
    if (entry.snapshot) members.digest("snapshot", *entry.snapshot);
    members.text("source", entry.source).digest("subject", entry.subject);
    end("manifest").text_if(!entry.via.empty(), "via", entry.via);
    return {};
  }
  Status operator()(const SnapshotEntry& entry) const {
    members.text_if(!entry.fetched_at.empty(), "fetchedAt", entry.fetched_at);
    members.text("locator", entry.locator).text("recordedAt", recorded_at);
    members.text("source", entry.source);
    end("snapshot");
    return {};
  }
  Status operator()(const ArtifactEntry&) const {
    members.text("recordedAt", recorded_at);
    end("artifact");
    return {};
  }
  Status operator()(const AttestationEntry& entry) const {
    members.text("predicateType", entry.predicate_type);
    members.number_or_null("previous", entry.previous).text("recordedAt", recorded_at);
    members.text("signer", entry.signer).digest("subject", entry.subject);
    end("attestation");
    return {};
  }
  ObjectText& end(std::string_view type) const {
    return members.text("type", type).number("v", kEntryVersion);
  }
};

// ---- reading ----

// Reads the members of one object and remembers the first fault, so that a decoder reads straight.
class Members {
 public:
  Members(const Value& value, std::string path, std::initializer_list<std::string_view> known)
      : value_(value), path_(std::move(path)) {
    if (!value.is_object()) {
      fault("is not an object");
      return;
    }
    for (const json::Member& member : value.object()) {
      if (std::ranges::find(known, member.name) == known.end()) {
        fault("has the unknown member \"" + std::string(member.name) + "\"");
      }
    }
  }

  const Value* find(std::string_view name) const { return value_.find(name); }

  std::string text(std::string_view name) {
    const Value* member = value_.find(name);
    if (member == nullptr || !member->is_string() || member->string().empty()) {
      fault("needs the text \"" + std::string(name) + "\"");
      return {};
    }
    return std::string(member->string());
  }
  std::string optional_text(std::string_view name) {
    return value_.find(name) == nullptr ? std::string() : text(name);
  }
  Digest digest(std::string_view name) {
    const Result<Digest> parsed = Digest::parse(value_.text(name));
    if (!parsed) fault("needs the digest \"" + std::string(name) + "\"");
    return parsed.value_or(Digest{});
  }
  std::optional<Digest> optional_digest(std::string_view name) {
    if (value_.find(name) == nullptr) return std::nullopt;
    return digest(name);
  }
  std::uint64_t number(std::string_view name) {
    const Value* member = value_.find(name);
    const double number = member != nullptr && member->is_number() ? member->number() : -1;
    if (!(number >= 0 && number <= limits::kSafeInteger &&
          number == static_cast<double>(static_cast<std::uint64_t>(number)))) {
      fault("needs the whole number \"" + std::string(name) + "\"");
      return 0;
    }
    return static_cast<std::uint64_t>(number);
  }
  std::optional<std::uint64_t> nullable_number(std::string_view name) {
    const Value* member = value_.find(name);
    if (member != nullptr && member->is_null()) return std::nullopt;
    return number(name);
  }
  std::vector<std::string> texts(std::string_view name) {
    std::vector<std::string> out;
    const Value* member = value_.find(name);
    if (member == nullptr) return out;
    if (!member->is_array() || member->array().empty()) {
      fault("needs a list of texts in \"" + std::string(name) + "\"");
      return out;
    }
    for (const Value& item : member->array()) {
      if (!item.is_string()) {
        fault("has something else than a text in \"" + std::string(name) + "\"");
        return out;
      }
      out.emplace_back(item.string());
    }
    return out;
  }
  void fault(const std::string& what) {
    if (!error_) error_ = unknown(path_, "the entry " + what);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Value& value_;
  std::string path_;
  std::optional<Error> error_;
};

Result<ClaimFacts> read_facts(const Value& value) {
  Members in(value, "facts",
             {"project", "slug", "aliases", "tags", "publishedAt", "artifacts", "marks",
              "retractedAt", "supersedes"});
  ClaimFacts facts;
  facts.project = in.optional_digest("project");
  facts.slug = in.optional_text("slug");
  facts.aliases = in.texts("aliases");
  facts.tags = in.texts("tags");
  facts.published_at = in.optional_text("publishedAt");
  facts.marks = in.texts("marks");
  facts.retracted_at = in.optional_text("retractedAt");
  facts.supersedes = in.optional_text("supersedes");
  if (const Value* artifacts = in.find("artifacts")) {
    if (!artifacts->is_array() || artifacts->array().empty()) {
      in.fault("needs a list in \"artifacts\"");
    } else {
      for (const Value& item : artifacts->array()) {
        Members part(item, "facts.artifacts",
                     {"role", "digest", "path", "size", "mediaType", "license"});
        NamedArtifact artifact;
        artifact.role = part.text("role");
        artifact.digest = part.digest("digest");
        artifact.path = part.optional_text("path");
        if (part.find("size") != nullptr) artifact.size = part.number("size");
        artifact.media_type = part.optional_text("mediaType");
        artifact.license = part.optional_text("license");
        if (std::ranges::find(kRoles, artifact.role) == kRoles.end()) {
          part.fault("has an artifact of an unknown role");
        }
        if (part.error()) return fail(*part.error());
        facts.artifacts.push_back(std::move(artifact));
      }
    }
  }
  // The leaf is canonical, so the text has the size that encode_entry() would give.
  if (value.end() - value.begin() > limits::kFactsBytes) in.fault("has facts of more than 16 KiB");
  if (in.error()) return fail(*in.error());
  if (facts.empty()) return fail(unknown("facts", "the entry has empty facts"));
  return facts;
}

Content read_content(Members& entry, const Value& value) {
  Content content;
  const Value* member = value.find("content");
  if (member == nullptr) {
    entry.fault("has no content");
    return content;
  }
  Members in(*member, "content", {"digest", "mediaType", "size"});
  content.digest = in.digest("digest");
  content.media_type = in.text("mediaType");
  content.size = in.number("size");
  if (in.error()) entry.fault("has content that this program does not know");
  return content;
}

UtcMicros read_recorded_at(Members& entry) {
  const std::string text = entry.text("recordedAt");
  const Result<UtcMicros> time = parse_utc_instant(text);
  if (!time) {
    entry.fault("has a recordedAt that is no UTC instant");
    return 0;
  }
  // One instant, one spelling: what encode_entry() gives.
  if (format_utc_micros(*time) != text) entry.fault("has a recordedAt without microseconds");
  return *time;
}

Result<Entry> finish(Members& in, Entry entry) {
  if (in.error()) return fail(*in.error());
  return entry;
}

Result<Entry> read_manifest_entry(const Value& value) {
  Members in(value, "",
             {"v", "type", "recordedAt", "content", "kind", "subject", "previous", "source", "via",
              "externalIds", "snapshot", "item", "facts"});
  ManifestEntry body;
  const std::optional<ManifestKind> kind = kind_from_name(in.text("kind"));
  if (!kind) in.fault("has an unknown kind");
  body.kind = kind.value_or(ManifestKind{});
  body.subject = in.digest("subject");
  body.previous = in.nullable_number("previous");
  body.source = in.text("source");
  body.via = in.optional_text("via");
  body.external_ids = in.texts("externalIds");
  if (!std::ranges::is_sorted(body.external_ids)) in.fault("has externalIds that are not sorted");
  body.snapshot = in.optional_digest("snapshot");
  body.item = in.optional_text("item");
  if (const Value* facts = in.find("facts")) {
    Result<ClaimFacts> read = read_facts(*facts);
    if (!read) return fail(read.error());
    body.facts = std::move(*read);
  }
  Entry entry{read_recorded_at(in), read_content(in, value), std::move(body)};
  return finish(in, std::move(entry));
}

Result<Entry> read_snapshot_entry(const Value& value) {
  Members in(value, "",
             {"v", "type", "recordedAt", "content", "source", "locator", "fetchedAt", "acquired"});
  SnapshotEntry body{in.text("source"), in.text("locator"), in.optional_text("fetchedAt"),
                     in.text("acquired")};
  if (body.acquired != "fetched" && body.acquired != "supplied") {
    in.fault("was acquired in a way that this program does not know");
  }
  Entry entry{read_recorded_at(in), read_content(in, value), std::move(body)};
  return finish(in, std::move(entry));
}

Result<Entry> read_artifact_entry(const Value& value) {
  Members in(value, "", {"v", "type", "recordedAt", "content"});
  Entry entry{read_recorded_at(in), read_content(in, value), ArtifactEntry{}};
  return finish(in, std::move(entry));
}

Result<Entry> read_attestation_entry(const Value& value) {
  Members in(
      value, "",
      {"v", "type", "recordedAt", "content", "subject", "previous", "predicateType", "signer"});
  AttestationEntry body;
  body.subject = in.digest("subject");
  body.previous = in.nullable_number("previous");
  body.predicate_type = in.text("predicateType");
  body.signer = in.text("signer");
  if (!Digest::parse_hex(body.signer)) in.fault("has a signer that is no key id");
  Entry entry{read_recorded_at(in), read_content(in, value), std::move(body)};
  return finish(in, std::move(entry));
}

Result<Entry> read_entry(const Value& value) {
  const Value* version = value.find("v");
  if (version == nullptr || !version->is_number() || version->number() != kEntryVersion) {
    return fail(unknown("v", "the entry has another version than 1"));
  }
  const std::string_view type = value.text("type");
  if (type == "manifest") return read_manifest_entry(value);
  if (type == "snapshot") return read_snapshot_entry(value);
  if (type == "artifact") return read_artifact_entry(value);
  if (type == "attestation") return read_attestation_entry(value);
  return fail(unknown("type", "the entry has an unknown type"));
}

}  // namespace

bool ClaimFacts::empty() const {
  return !project && slug.empty() && aliases.empty() && tags.empty() && published_at.empty() &&
         artifacts.empty() && marks.empty() && retracted_at.empty() && supersedes.empty();
}

const Digest* Entry::subject() const {
  if (const auto* manifest = std::get_if<ManifestEntry>(&body)) return &manifest->subject;
  if (const auto* attestation = std::get_if<AttestationEntry>(&body)) return &attestation->subject;
  return nullptr;
}

std::optional<std::uint64_t> Entry::previous() const {
  if (const auto* manifest = std::get_if<ManifestEntry>(&body)) return manifest->previous;
  if (const auto* attestation = std::get_if<AttestationEntry>(&body)) return attestation->previous;
  return std::nullopt;
}

bool Entry::on_chain() const {
  const auto* attestation = std::get_if<AttestationEntry>(&body);
  if (attestation == nullptr) return std::holds_alternative<ManifestEntry>(body);
  std::string_view type = attestation->predicate_type;
  if (!type.starts_with(kPredicatePrefix)) return true;
  type.remove_prefix(kPredicatePrefix.size());
  return !type.starts_with("note/") && !type.starts_with("calibration/") &&
         !type.starts_with("import/");
}

Result<std::string> encode_entry(const Entry& entry) {
  std::string leaf;
  leaf.reserve(kUsualLeafBytes);
  ObjectText members(leaf);
  if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry.body)) {
    members.text("acquired", snapshot->acquired);
  }
  ObjectText content(members.begin("content"));
  content.digest("digest", entry.content.digest).text("mediaType", entry.content.media_type);
  content.number("size", entry.content.size).end();
  const std::string recorded_at = format_utc_micros(entry.recorded_at);
  if (Status status = std::visit(BodyWriter{recorded_at, members, leaf}, entry.body); !status) {
    return fail(status.error());
  }
  members.end();
  if (leaf.size() > limits::kEntryBytes) {
    return fail(ErrorKind::invalid, "ENTRY_TOO_LARGE", {},
                "the log entry has " + std::to_string(leaf.size()) + " bytes, more than 65,535");
  }
  return leaf;
}

Result<Entry> decode_entry(std::string_view leaf) {
  Arena arena;
  Result<Value> value = json::parse(leaf, arena, {limits::kEntryBytes, limits::kJsonDepth});
  if (!value) return fail(value.error());
  if (json::canonical(*value) != leaf) {
    return fail(ErrorKind::invalid, "NOT_CANONICAL", {}, "the log entry is not canonical JSON");
  }
  return read_entry(*value);
}

}  // namespace kernelindex
