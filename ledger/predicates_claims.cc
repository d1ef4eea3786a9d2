// SPDX-License-Identifier: Apache-2.0
// What is said about numbers: import/v1 and withdrawal/v1 by importers, note/v1 by contributors,
// and the status/v1 of a bundle.
#include <utility>

#include "ledger/predicate_members.h"
#include "schema/canonical_json.h"
#include "schema/https_url.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

constexpr std::string_view kNoteTypes[] = {"reproduced", "could_not_reproduce", "environment_note",
                                           "regression_observed"};

}  // namespace

std::string_view note_type_name(CommunityNote::Type type) {
  return kNoteTypes[static_cast<std::size_t>(type)];
}

std::optional<CommunityNote::Type> note_type_from_name(std::string_view name) {
  return predicates::from_word<CommunityNote::Type>(kNoteTypes, name);
}

bool is_note_url(std::string_view text) {
  constexpr std::string_view kScheme = "https://";
  if (text.size() > kNoteUrlBytes || !text.starts_with(kScheme)) return false;
  if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; })) return false;
  const std::string_view rest = text.substr(kScheme.size());
  const bool user_part = rest.substr(0, rest.find_first_of("/?#")).contains('@');
  return !user_part && schema::is_https_url(text);
}

namespace predicates {

// ---- import/v1 ----

namespace {

std::string read_options(ObjectReader& reader) {
  const json::Value& options = reader.required("options");
  std::string text = json::canonical(options);
  if (!options.is_object() || text.size() > kImportOptionsBytes) {
    reader.fault("options", "BAD_MEMBER", "this must be an object of at most 16 KiB");
  }
  return text;
}

std::map<std::string, std::int64_t> read_counts(ObjectReader& reader) {
  const json::Value& object = reader.required("counts");
  ObjectReader inner(object, reader.place_of("counts"));
  std::map<std::string, std::int64_t> counts;
  if (object.is_object() && object.object().size() <= kImportCounts) {
    for (const json::Member& member : object.object()) {
      counts[std::string(member.name)] = static_cast<std::int64_t>(inner.count(member.name));
    }
  } else {
    reader.fault("counts", "BAD_MEMBER", "this must be an object of at most 256 counts");
  }
  adopt(reader, inner.status());
  return counts;
}

}  // namespace

void read(ObjectReader& reader, const json::Value&, ImportStatement& out) {
  out.first = reader.count("first");
  out.end = reader.count("end");
  if (out.first > out.end)
    reader.fault("end", "BAD_MEMBER", "the range of leaves ends before it begins");
  out.leaves = reader.digest("leaves");
  out.parser = reader.slug("parser", kSlugBytes);
  out.parser_version = read_line(reader, "parserVersion", kVersionBytes);
  out.options = read_options(reader);
  out.snapshots = read_digests(reader, "snapshots", kImportSnapshots, true);
  if (out.snapshots.empty()) reader.fault("snapshots", "BAD_MEMBER", "there must be at least one");
  out.counts = read_counts(reader);
  out.report = reader.optional_digest("report");
}

void write(const ImportStatement& import, MemberWriter& out) {
  MemberWriter counts(out.arena());
  for (const auto& [name, count] : import.counts) counts.number(name, count);
  // What is no JSON becomes null, which parse_attestation() refuses.
  const Result<json::Value> options = json::parse(import.options, out.arena());
  out.count("first", import.first)
      .count("end", import.end)
      .digest("leaves", import.leaves)
      .text("parser", import.parser)
      .text("parserVersion", import.parser_version)
      .add("options", options.value_or(json::Value()))
      .texts("snapshots", import.snapshots, &Digest::text)
      .add("counts", counts.finish());
  if (import.report) out.digest("report", *import.report);
}

Status check_place(const ImportStatement& import, const Digest& subject, const Binding&) {
  if (subject != import.snapshots.back()) {
    return fail(ErrorKind::invalid, "SUBJECT_MISMATCH", "subject[0]",
                "the subject of an import statement is its last snapshot");
  }
  return {};
}

// ---- withdrawal/v1 ----

void read(ObjectReader& reader, const json::Value&, Withdrawal& out) {
  out.source = reader.slug("source", kSlugBytes);
  out.external_id = read_line(reader, "externalId", kExternalIdBytes);
  out.state = read_line(reader, "state", kSourceStateBytes);
  out.reason = read_reason(reader);
  out.snapshot = reader.digest("snapshot");
}

void write(const Withdrawal& withdrawal, MemberWriter& out) {
  out.text("source", withdrawal.source)
      .text("externalId", withdrawal.external_id)
      .text("state", withdrawal.state)
      .text("reason", withdrawal.reason)
      .digest("snapshot", withdrawal.snapshot);
}

// ---- note/v1 ----

namespace {

std::string read_characters(ObjectReader& reader, std::string_view name, std::size_t most) {
  constexpr std::size_t kBytesOfACharacter = 4;
  std::string text = reader.text(name, most * kBytesOfACharacter);
  if (const std::size_t count = code_points(text); count > most) {
    reader.fault(name, "BAD_MEMBER",
                 "this must be a text of 1 to " + std::to_string(most) + " characters; it has " +
                     std::to_string(count));
  }
  return text;
}

std::string read_evidence_url(ObjectReader& reader) {
  std::string url = reader.optional_text("evidenceUrl", kNoteUrlBytes);
  if (!url.empty() && !is_note_url(url)) {
    reader.fault("evidenceUrl", "BAD_MEMBER",
                 "this must be an https:// address of printable ASCII without a user part",
                 "write it as a browser copies it, other characters percent-encoded");
  }
  return url;
}

}  // namespace

void read(ObjectReader& reader, const json::Value& object, CommunityNote& out) {
  out.type = read_word<CommunityNote::Type>(reader, "type", kNoteTypes);
  out.text = read_characters(reader, "text", kNoteCharacters);
  require_plain_text(reader, "text", out.text);
  out.evidence_url = read_evidence_url(reader);
  out.observed_ns = reader.optional_count("observedNs");
  if (out.observed_ns == 0) {
    reader.fault("observedNs", "BAD_MEMBER", "a measured time is at least 1 nanosecond");
  }
  if (object.find("environment") == nullptr) return;
  out.environment = read_characters(reader, "environment", kNoteEnvironmentCharacters);
  if (!is_plain_line(out.environment)) {
    reader.fault("environment", "BAD_MEMBER", "this must be one line without control characters");
  }
}

void write(const CommunityNote& note, MemberWriter& out) {
  out.text("type", note_type_name(note.type))
      .text("text", note.text)
      .text_if("evidenceUrl", note.evidence_url)
      .text_if("environment", note.environment);
  if (note.observed_ns) out.number("observedNs", *note.observed_ns);
}

// ---- status/v1 ----

void read(ObjectReader& reader, const json::Value&, StatusStatement& out) {
  out.size = reader.count("size");
  out.root = reader.digest("root");
  out.notes = reader.count("notes");
  const json::Value& object = reader.required("heads");
  if (!object.is_object() || object.object().empty() || object.object().size() > kStatusHeads) {
    reader.fault("heads", "BAD_MEMBER",
                 "this must be an object of 1 to " + std::to_string(kStatusHeads) + " indexes");
    return;
  }
  ObjectReader heads(object, reader.place_of("heads"));
  for (const json::Member& member : object.object()) {
    const Result<Digest> subject = Digest::parse(member.name);
    if (!subject) {
      reader.fault("heads", "BAD_DIGEST", "each name must be a digest: " + subject.error().message);
      return;
    }
    const std::uint64_t index = heads.count(member.name);
    if (index >= out.size) {
      heads.fault(member.name, "BAD_MEMBER", "the entry of a head stands below the size");
    }
    out.heads.emplace(*subject, index);
  }
  adopt(reader, heads.status());
}

void write(const StatusStatement& status, MemberWriter& out) {
  MemberWriter heads(out.arena());
  for (const auto& [subject, index] : status.heads) {
    heads.count(out.arena().copy(subject.text()), index);
  }
  out.count("size", status.size)
      .digest("root", status.root)
      .add("heads", heads.finish())
      .count("notes", status.notes);
}

}  // namespace predicates
}  // namespace kernelindex
