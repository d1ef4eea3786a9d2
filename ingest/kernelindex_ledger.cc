// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelindex_ledger.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/line_source.h"
#include "ledger/chain_fact.h"
#include "ledger/derive.h"
#include "ledger/dsse.h"
#include "ledger/entry.h"
#include "ledger/judgements.h"
#include "ledger/key_book.h"
#include "ledger/object_reader.h"
#include "ledger/predicates.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

constexpr std::string_view kFormat = "kernelindex-ledger";
constexpr std::string_view kBeginning = "{\"format\":\"kernelindex-ledger\",";
// A line holds a manifest one level deeper than it stands in a file.
constexpr json::ReadLimits kLineLimits = {.bytes = limits::kSourceLineBytes,
                                          .depth = limits::kJsonDepth + 1};

std::string line_place(std::uint64_t number) { return "line " + std::to_string(number); }

std::unexpected<Error> bad_stream(std::string place, std::string message) {
  return fail(ErrorKind::invalid, "BAD_STREAM", std::move(place), std::move(message),
              "take it from the other ledger again");
}

Result<LedgerStreamHeader> read_header(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena, kLineLimits);
  if (!value) return bad_stream(line_place(1), value.error().text());
  ObjectReader reader(*value, {});
  LedgerStreamHeader header;
  reader.expect_text("format", kFormat);
  reader.integer("v", 1, 1);
  header.ledger_id = reader.digest("ledgerId");
  header.origin = reader.text("origin", limits::kNoteNameBytes);
  header.head.size = reader.count("size");
  header.head.root = reader.digest("root");
  if (Status status = reader.finish(); !status) {
    return bad_stream(line_place(1), status.error().text());
  }
  return header;
}

// One entry of the stream; the object's value lives as long as the arena.
struct StreamEntry {
  std::uint64_t index = 0;
  std::uint64_t line = 0;
  std::string leaf;
  Entry entry;
  std::optional<json::Value> object;
};

// Reads the stream from its beginning, entry by entry.
class StreamReader {
 public:
  explicit StreamReader(ByteSource& stream) : stream_(stream) {}

  Status begin() {
    if (Status status = stream_.rewind(); !status) return status;
    lines_.emplace(stream_);
    Line line;
    const Result<bool> more = lines_->next(line);
    if (!more) return fail(more.error());
    if (!*more || line.too_long) return bad_stream(line_place(1), "this is no stream of a ledger");
    Result<LedgerStreamHeader> header = read_header(line.text);
    if (!header) return fail(header.error());
    header_ = std::move(*header);
    next_ = 0;
    return {};
  }

  const LedgerStreamHeader& header() const { return header_; }

  // False behind the last entry.
  Result<bool> next(StreamEntry& out) {
    Line line;
    const Result<bool> more = lines_->next(line);
    if (!more) return fail(more.error());
    if (!*more) return false;
    const std::string place = line_place(line.number);
    if (line.too_long) return bad_stream(place, "the line is longer than 16 MiB");
    arena_.reset();
    const Result<json::Value> value = json::parse(line.text, arena_, kLineLimits);
    if (!value) return bad_stream(place, value.error().text());
    ObjectReader reader(*value, {});
    const json::Value& entry = reader.required("entry");
    const json::Value* object = reader.optional("object");
    if (Status status = reader.finish(); !status) return bad_stream(place, status.error().text());
    out.index = next_++;
    out.line = line.number;
    out.leaf = json::canonical(entry);
    out.object = object == nullptr ? std::nullopt : std::optional(*object);
    Result<Entry> read = decode_entry(out.leaf);
    if (!read) return fail_in(place, read.error());
    out.entry = std::move(*read);
    return true;
  }

  json::Arena& arena() { return arena_; }

 private:
  ByteSource& stream_;
  std::optional<LineSource> lines_;
  LedgerStreamHeader header_;
  json::Arena arena_;
  std::uint64_t next_ = 0;
};

// What the log of the other ledger comes to: who may sign, which claims are covered, what was said.
class LogJudge {
 public:
  LogJudge(StreamReader& reader, const std::string& locator) : reader_(reader), locator_(locator) {}

  // Reads it all. Findings are kept for later.
  Status run() {
    if (Status status = reader_.begin(); !status) return status;
    StreamEntry item;
    CompactRange tree;
    while (true) {
      const Result<bool> more = reader_.next(item);
      if (!more) return fail(more.error());
      if (!*more) break;
      const LeafHash hash = leaf_hash(item.leaf);
      tree.append(hash);
      hashes_.push_back(hash);
      if (Status status = take(item); !status)
        return fail_in(line_place(item.line), status.error());
    }
    const LedgerStreamHeader& header = reader_.header();
    if (tree.size() != header.head.size) {
      return bad_stream({}, "it has " + std::to_string(tree.size()) + " entries, and says " +
                                std::to_string(header.head.size));
    }
    if (tree.root() != header.head.root) {
      return fail(ErrorKind::invalid, "ROOT_DIFFERS", {},
                  "the entries do not give the root of that ledger: expected " +
                      header.head.root.text() + ", found " + tree.root().text(),
                  "run `kernelindex audit` on that ledger: entries in it were changed");
    }
    if (keys_.all().empty()) return bad_stream({}, "no entry founds the ledger");
    std::ranges::stable_sort(imports_, {}, &ImportRange::first);
    judgements_.emplace(facts_, keys_, header.head.size);
    return {};
  }

  const std::vector<Finding>& findings() const { return findings_; }

  bool covered(std::uint64_t index) const {
    const auto after = std::ranges::upper_bound(imports_, index, {}, &ImportRange::first);
    if (after == imports_.begin()) return false;
    const ImportRange& range = *std::prev(after);
    static const PredicateType& type =
        *find_predicate_type(std::string(kPredicateBase) + "import/v1");
    return index < range.end && keys_.counts(range.signer, type, range.index) &&
           !judgements_->retracted(range.id);
  }

  // Null when nothing was said that counts.
  const SubjectJudgement* judgement(const Digest& subject) const {
    return judgements_->find(subject);
  }

  // When a claim was taken back there: by a retraction of what it claims, or by its own source.
  std::optional<UtcMicros> retracted_at(const ManifestEntry& claim) const {
    const SubjectJudgement* said = judgement(claim.subject);
    if (said == nullptr) return std::nullopt;
    if (said->retracted()) return recorded_at_.at(said->retractions.front());
    for (std::size_t i = 0; i < said->withdrawn_ids.size() && i < said->withdrawals.size(); ++i) {
      if (std::ranges::find(claim.external_ids, said->withdrawn_ids[i]) !=
          claim.external_ids.end()) {
        return recorded_at_.at(said->withdrawals[i]);
      }
    }
    return std::nullopt;
  }

 private:
  void quarantine(const StreamEntry& item, std::string code, std::string reason) {
    findings_.push_back({FindingClass::quarantined, locator_, std::to_string(item.line),
                         std::move(code), std::move(reason)});
  }

  Status take(const StreamEntry& item) {
    const auto* body = std::get_if<AttestationEntry>(&item.entry.body);
    if (body == nullptr) return {};
    const PredicateType* type = find_predicate_type(body->predicate_type);
    const bool about_keys =
        type != nullptr && (type->name == "ledger/v1" || type->name == "key/v1");
    if (!item.object) {
      if (about_keys || item.index == 0) {
        return fail(ErrorKind::invalid, "MISSING_OBJECT", {},
                    "the statement of entry " + std::to_string(item.index) +
                        " is not there, and without it nobody can say who might sign",
                    "bring that ledger back from a backup first");
      }
      return remember(item, *body, Digest{}, nullptr);
    }
    const std::string bytes = json::canonical(*item.object);
    if (sha256(bytes) != item.entry.content.digest) {
      return fail(ErrorKind::invalid, "OBJECT_DIFFERS", {},
                  "the object has another digest than its entry says",
                  "run `kernelindex audit` on that ledger");
    }
    const Result<Envelope> envelope = read_stored_envelope(bytes);
    if (!envelope) return fail(envelope.error());
    if (type == nullptr) return remember(item, *body, envelope->id(), nullptr);
    const Result<Attestation> said = parse_attestation(envelope->payload);
    if (!said) return fail(said.error());
    if (item.index == 0) return take_founding(item, *envelope, *said);
    if (!trusted(item, *envelope, *said, about_keys)) return {};
    if (about_keys) {
      if (Status status = keys_.apply(item.index, *said); !status) {
        quarantine(item, status.error().code, status.error().message);
      }
      return {};
    }
    if (const auto* import = std::get_if<ImportStatement>(&said->predicate)) {
      take_import(item, *import, *said, envelope->id());
      return {};
    }
    return remember(item, *body, envelope->id(), &*said);
  }

  Status take_founding(const StreamEntry& item, const Envelope& envelope, const Attestation& said) {
    const auto* terms = std::get_if<LedgerFounding>(&said.predicate);
    if (terms == nullptr || envelope.id() != reader_.header().ledger_id ||
        terms->origin != reader_.header().origin || !envelope.verify(terms->root_key)) {
      return fail(ErrorKind::invalid, "LEDGER_ID_DIFFERS", {},
                  "entry 0 is not the founding that the ledger id names, signed by its root",
                  "this is not the ledger that it says it is");
    }
    return keys_.apply(item.index, said);
  }

  // Whether a statement is by whom it names, for this ledger. Whether its key counts is judged when
  // all that was said of keys is known; but for what is said of keys only the root counts.
  bool trusted(const StreamEntry& item, const Envelope& envelope, const Attestation& said,
               bool about_keys) {
    if (said.binding.ledger != reader_.header().ledger_id) {
      quarantine(item, "WRONG_LEDGER", "the statement was signed for another ledger");
      return false;
    }
    const KeyRecord* record = keys_.find(said.binding.signer);
    const bool by_root = record != nullptr && record->role == Role::root;
    if (record == nullptr || (about_keys && !by_root) || !envelope.verify(record->key)) {
      quarantine(item, "INVALID_SIGNATURE", "the statement is not signed by a key that may say it");
      return false;
    }
    return true;
  }

  void take_import(const StreamEntry& item, const ImportStatement& import, const Attestation& said,
                   const Digest& id) {
    const bool before = import.first <= import.end && import.end <= item.index;
    CompactRange leaves;
    for (std::uint64_t i = import.first; before && i < import.end; ++i) leaves.append(hashes_[i]);
    if (!before || leaves.root() != import.leaves) {
      quarantine(item, "LEAVES_DIFFER", "the import statement does not cover what it says");
      return;
    }
    imports_.push_back({item.index, import.first, import.end, said.binding.signer, id});
  }

  Status remember(const StreamEntry& item, const AttestationEntry& body, const Digest& id,
                  const Attestation* said) {
    const Result<Digest> signer = Digest::parse_hex(body.signer);
    if (!signer) return fail(signer.error());
    std::optional<ChainFact> fact =
        chain_fact(item.index, id, body.subject, *signer, body.predicate_type, said);
    if (!fact) return {};
    recorded_at_[item.index] = item.entry.recorded_at;
    facts_.push_back(std::move(*fact));
    return {};
  }

  StreamReader& reader_;
  const std::string& locator_;
  std::vector<LeafHash> hashes_;
  KeyBook keys_;
  std::vector<ImportRange> imports_;
  std::vector<ChainFact> facts_;
  std::unordered_map<std::uint64_t, UtcMicros> recorded_at_;  // of facts
  std::optional<Judgements> judgements_;
  std::vector<Finding> findings_;
};

// The second reading: claims.
class ClaimPass {
 public:
  ClaimPass(StreamReader& reader, const LogJudge& log, const std::string& locator, std::size_t file,
            DraftSink& sink)
      : reader_(reader), log_(log), locator_(locator), file_(file), sink_(sink) {}

  Status run() {
    if (Status status = sink_.begin_file(file_); !status) return status;
    for (const Finding& finding : log_.findings()) sink_.finding(finding);
    if (Status status = reader_.begin(); !status) return status;
    StreamEntry item;
    while (true) {
      const Result<bool> more = reader_.next(item);
      if (!more) return fail(more.error());
      if (!*more) return {};
      if (!std::holds_alternative<ManifestEntry>(item.entry.body)) continue;
      if (Status status = take(item); !status) return status;
    }
  }

 private:
  void find(const StreamEntry& item, FindingClass kind, std::string code, std::string reason) {
    sink_.finding({kind, locator_, std::to_string(item.line), std::move(code), std::move(reason)});
  }

  Status take(StreamEntry& item) {
    sink_.selected();
    auto& claim = std::get<ManifestEntry>(item.entry.body);
    const SubjectJudgement* said = log_.judgement(claim.subject);
    if (!log_.covered(item.index)) {
      sink_.skipped("NOT_COVERED");
      return {};
    }
    if (said != nullptr && said->cannot_judge) {
      sink_.skipped("CANNOT_JUDGE");
      return {};
    }
    if (!item.object) {
      sink_.skipped("BYTES_NOT_HELD");
      return {};
    }
    Result<Manifest> manifest = make_manifest(*item.object, reader_.arena());
    if (!manifest) {
      find(item, FindingClass::quarantined, manifest.error().code, manifest.error().text());
      return {};
    }
    if (manifest->document != item.entry.content.digest || manifest->identity != claim.subject) {
      find(item, FindingClass::quarantined, "DIGEST_DIFFERS",
           "the manifest is not the one that its entry names: expected " +
               item.entry.content.digest.text() + ", found " + manifest->document.text());
      return {};
    }
    if (said != nullptr) review(item, *said);
    Draft draft;
    draft.manifest = std::move(*manifest);
    draft.source = std::move(claim.source);
    draft.via = reader_.header().ledger_id.text();
    draft.file = file_;
    draft.item = std::to_string(item.line);
    draft.facts = claim.facts;
    if (const std::optional<UtcMicros> at = log_.retracted_at(claim)) {
      if (draft.facts.retracted_at.empty()) draft.facts.retracted_at = format_utc_micros(*at);
      if (std::ranges::find(draft.facts.marks, kRetractedInLedger) == draft.facts.marks.end()) {
        draft.facts.marks.emplace_back(kRetractedInLedger);
      }
      sink_.counted("retracted_there", 1);
    }
    draft.external_ids = std::move(claim.external_ids);
    return sink_.claim(std::move(draft));
  }

  void review(const StreamEntry& item, const SubjectJudgement& said) {
    const std::string subject = std::get<ManifestEntry>(item.entry.body).subject.text();
    if (!said.successors.empty()) {
      find(item, FindingClass::review, "SUPERSEDED_THERE",
           subject + " was superseded there by " + said.successors.back().by.text() +
               ": say so here too if that is right");
    }
    if (!said.disputes.empty()) {
      find(item, FindingClass::review, "DISPUTED_THERE", subject + " is in dispute there");
    }
  }

  StreamReader& reader_;
  const LogJudge& log_;
  const std::string& locator_;
  const std::size_t file_;
  DraftSink& sink_;
};

}  // namespace

std::string encode_ledger_header(const LedgerStreamHeader& header) {
  json::Arena arena;
  return json::canonical(arena.object({{"format", arena.string(kFormat)},
                                       {"ledgerId", arena.string(header.ledger_id.text())},
                                       {"origin", arena.string(header.origin)},
                                       {"root", arena.string(header.head.root.text())},
                                       {"size", json::Value(static_cast<double>(header.head.size))},
                                       {"v", json::Value(1.0)}})) +
         "\n";
}

std::string encode_ledger_line(std::string_view leaf, std::string_view object) {
  std::string line = "{\"entry\":";
  line.append(leaf);
  if (!object.empty()) line.append(",\"object\":").append(object);
  return line + "}\n";
}

bool is_ledger_stream(std::string_view beginning) { return beginning.starts_with(kBeginning); }

Status import_kernelindex_ledger(ByteSource& stream, const std::string& locator, std::size_t file,
                                 DraftSink& sink) {
  StreamReader reader(stream);
  LogJudge log(reader, locator);
  if (Status status = log.run(); !status) return fail_in(locator, status.error());
  const Status status = ClaimPass(reader, log, locator, file, sink).run();
  return status;
}

}  // namespace kernelindex::ingest
