// SPDX-License-Identifier: Apache-2.0
#include "ingest/ledger_files.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

#include "ingest/import.h"
#include "ingest/kernelindex_ledger.h"
#include "ledger/dsse.h"
#include "ledger/kept_bytes.h"

namespace kernelindex::ingest {
namespace {

std::string entry_name(std::uint64_t index) { return "entry " + std::to_string(index); }

// Whether the line of an entry holds the object as well.
bool in_stream(const Entry& entry) {
  return std::holds_alternative<ManifestEntry>(entry.body) ||
         std::holds_alternative<AttestationEntry>(entry.body);
}

Result<Entry> whole_entry(const Reader& reader, std::uint64_t index) {
  Result<Entry> entry = reader.entry(index);
  if (entry) return entry;
  return fail(ErrorKind::corrupt, "DAMAGED_ENTRY", entry_name(index),
              "the entry cannot be read: " + entry.error().text(),
              "bring that ledger back from a backup first");
}

// The log of a ledger line by line. The same bytes at every reading.
class LedgerStream final : public ByteSource {
 public:
  explicit LedgerStream(const Reader& reader) : reader_(reader) { begin(); }

  Result<std::size_t> read(std::span<char> buffer) override {
    if (offset_ == line_.size() && next_ < reader_.head().size) {
      if (Status status = next_line(); !status) return fail(status.error());
    }
    const std::size_t count = std::min(buffer.size(), line_.size() - offset_);
    std::memcpy(buffer.data(), line_.data() + offset_, count);
    offset_ += count;
    return count;
  }

  Status rewind() override {
    begin();
    return {};
  }

 private:
  void begin() {
    line_ =
        encode_ledger_header({reader_.format().ledger_id, reader_.format().origin, reader_.head()});
    offset_ = 0;
    next_ = 0;
  }

  Status next_line() {
    const Result<std::string> leaf = reader_.leaf(next_);
    if (!leaf) return fail(leaf.error());
    const Result<Entry> entry = whole_entry(reader_, next_);
    if (!entry) return fail(entry.error());
    std::string object;
    if (in_stream(*entry)) {
      // Lost and damaged ones were told of when the ledger was opened.
      const Result<std::optional<std::string>> bytes = reader_.object(entry->content.digest);
      if (!bytes && bytes.error().kind == ErrorKind::system) return fail(bytes.error());
      if (bytes && *bytes) object = **bytes;
    }
    line_ = encode_ledger_line(*leaf, object);
    offset_ = 0;
    ++next_;
    return {};
  }

  const Reader& reader_;
  std::string line_;
  std::size_t offset_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace

struct LedgerFiles::Opened {
  std::unique_ptr<Ledger> ledger;
  Reader reader;
  std::vector<RecordedFile> files;
  std::vector<RecordedFile> artifacts;
  std::vector<Finding> findings;
  std::unordered_set<Digest> checked;  // objects that were read
  std::unordered_set<Digest> kept;     // those of them that are whole
  std::unordered_set<Digest> named;    // artifacts that are listed

  explicit Opened(std::unique_ptr<Ledger> opened)
      : ledger(std::move(opened)), reader(ledger->read()) {}

  std::string locator() const {
    return reader.format().origin + "/log-" + std::to_string(reader.head().size) + ".jsonl";
  }

  // Whether an object is there, whole.
  Result<bool> check(const Digest& digest, std::uint64_t index) {
    if (!checked.insert(digest).second) return kept.contains(digest);
    const Result<bool> whole =
        reader.stream_object(digest, [](std::string_view) { return Status(); });
    if (whole && *whole) {
      kept.insert(digest);
      return true;
    }
    if (!whole && whole.error().kind == ErrorKind::system) return fail(whole.error());
    const Result<bool> withheld = reader.object_withheld(digest);
    if (!withheld) return fail(withheld.error());
    Finding finding{FindingClass::quarantined, locator(), entry_name(index), "NOT_HELD",
                    "the bytes of " + digest.text() + " are not there"};
    if (*withheld) {
      finding.kind = FindingClass::review;
      finding.code = "WITHHELD";
      finding.reason = "the bytes of " + digest.text() + " are withheld there";
    } else if (!whole) {
      finding.code = whole.error().code;
      finding.reason = whole.error().message;
    }
    findings.push_back(std::move(finding));
    return false;
  }

  RecordedFile file_of(const Digest& digest, std::string locator, std::string media_type) const {
    return {std::move(locator), std::move(media_type), {}, [this, digest] {
              return open_kept_bytes(reader, digest);
            }};
  }

  void add_artifact(const Digest& digest, std::string media_type) {
    if (named.insert(digest).second) {
      artifacts.push_back(file_of(digest, digest.text(), std::move(media_type)));
    }
  }

  Status add_report(std::uint64_t index, const Digest& envelope_digest) {
    const Result<std::optional<std::string>> bytes = reader.object(envelope_digest);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) return {};
    const Result<Envelope> envelope = read_stored_envelope(**bytes);
    if (!envelope) return {};  // the importer tells of it
    const Result<Attestation> said = parse_attestation(envelope->payload);
    const auto* import = said ? std::get_if<ImportStatement>(&said->predicate) : nullptr;
    if (import == nullptr || !import->report) return {};
    const Result<bool> whole = check(*import->report, index);
    if (!whole) return fail(whole.error());
    if (*whole) add_artifact(*import->report, "application/json");
    return {};
  }

  Status gather() {
    files.push_back(
        {locator(), "application/jsonl", {}, [this]() -> Result<std::unique_ptr<ByteSource>> {
           return std::make_unique<LedgerStream>(reader);
         }});
    for (std::uint64_t index = 0; index < reader.head().size; ++index) {
      const Result<Entry> entry = whole_entry(reader, index);
      if (!entry) return fail(entry.error());
      const Digest& digest = entry->content.digest;
      const Result<bool> whole = check(digest, index);
      if (!whole) return fail(whole.error());
      if (!*whole) continue;
      if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry->body)) {
        files.push_back(file_of(digest, snapshot->locator, entry->content.media_type));
        files.back().source = snapshot->source;
      } else if (std::holds_alternative<ArtifactEntry>(entry->body)) {
        add_artifact(digest, entry->content.media_type);
      } else if (std::holds_alternative<AttestationEntry>(entry->body)) {
        if (Status status = add_report(index, digest); !status) return status;
      }
    }
    return {};
  }
};

LedgerFiles::LedgerFiles(std::unique_ptr<Opened> opened) : opened_(std::move(opened)) {}
LedgerFiles::LedgerFiles(LedgerFiles&&) noexcept = default;
LedgerFiles::~LedgerFiles() = default;

Result<LedgerFiles> LedgerFiles::open(const std::filesystem::path& directory) {
  LedgerOptions options;
  options.directory = directory;
  options.read_only = true;
  Result<std::unique_ptr<Ledger>> ledger = Ledger::open(options);
  if (!ledger) return fail(ledger.error());
  auto opened = std::make_unique<Opened>(std::move(*ledger));
  if (Status status = opened->gather(); !status) {
    return fail_in(directory.string(), status.error());
  }
  return LedgerFiles(std::move(opened));
}

const Digest& LedgerFiles::ledger_id() const { return opened_->reader.format().ledger_id; }
const std::vector<RecordedFile>& LedgerFiles::files() const { return opened_->files; }
const std::vector<RecordedFile>& LedgerFiles::artifacts() const { return opened_->artifacts; }
const std::vector<Finding>& LedgerFiles::findings() const { return opened_->findings; }

Result<ImportReport> import_ledger(Ledger& ledger, const LedgerFiles& other, bool dry_run,
                                   std::function<void(std::uint64_t)> progress) {
  if (ledger.format().ledger_id == other.ledger_id()) {
    return fail(ErrorKind::usage, "SAME_LEDGER", other.ledger_id().text(),
                "a ledger cannot be taken into itself, nor into a copy of itself",
                "name the new ledger with --ledger");
  }
  ImportRequest request;
  request.source = find_source("kernelindex-ledger");
  request.files = other.files();
  request.artifacts = other.artifacts();
  request.findings = other.findings();
  request.dry_run = dry_run;
  request.progress = std::move(progress);
  return import_source(ledger, request);
}

}  // namespace kernelindex::ingest
