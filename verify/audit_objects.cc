// SPDX-License-Identifier: Apache-2.0
// Objects: each hashed and, when it is a manifest, read and made canonical again.
#include <algorithm>
#include <map>

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"
#include "schema/json_reader.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

constexpr std::size_t kRangeBytes = 4;  // first bytes of digests that one task takes
constexpr std::size_t kRanges = 256 / kRangeBytes;

bool begins_as_manifest(std::string_view bytes) {
  constexpr std::string_view kBegin = "{\"apiVersion\":\"kernelindex.dev/";
  return bytes.starts_with(kBegin);
}

void set_problem(ObjectFact& object, bool damaged, std::string code, std::string what,
                 std::string expected = {}, std::string found = {}) {
  object.damaged = damaged;
  object.problem = std::make_unique<const Problem>(
      Problem{std::move(code), std::move(what), std::move(expected), std::move(found)});
}

// Reads a manifest and returns the digest of its bytes, which making it canonical again has found.
std::optional<Digest> read_document(ObjectFact& object, std::string_view bytes,
                                    json::Arena& arena) {
  arena.reset();
  const Result<json::Value> value = json::parse(bytes, arena);
  Result<Manifest> manifest =
      value ? make_manifest(*value, arena) : Result<Manifest>(fail(value.error()));
  if (!manifest) {
    set_problem(object, false, "INVALID_MANIFEST",
                "the document is no valid manifest: " + manifest.error().text());
    return std::nullopt;
  }
  if (manifest->bytes != bytes) {
    set_problem(object, false, "NOT_CANONICAL", "the document is not in its canonical form",
                manifest->document.text(), sha256(bytes).text());
    return std::nullopt;
  }
  const Digest document = manifest->document;
  // Assigning an empty text would keep the memory of the old one.
  std::string().swap(manifest->bytes);
  if (!manifest->title.empty()) std::string().swap(manifest->name);  // the label is what is read
  std::vector<Reference>().swap(manifest->references);
  object.manifest = std::make_unique<const Manifest>(std::move(*manifest));
  return document;
}

void read_whole(ObjectFact& object, std::string_view bytes, json::Arena& arena) {
  object.size = bytes.size();
  std::optional<Digest> found;
  if (begins_as_manifest(bytes)) found = read_document(object, bytes, arena);
  if (!found) found = sha256(bytes);
  if (*found == object.digest) return;
  object.manifest.reset();
  set_problem(object, true, "DAMAGED_OBJECT", "the stored bytes have another digest",
              object.digest.text(), found->text());
}

void read_value(ObjectFact& object, std::string_view value, json::Arena& arena) {
  if (stored_object::is_whole(value)) {
    read_whole(object, value.substr(1), arena);
  } else if (stored_object::is_chunked(value)) {
    object.size = key_layout::from_big_endian(value.substr(1));
    object.chunked = true;
  } else if (stored_object::is_withheld(value)) {
    object.withheld = true;
  } else {
    set_problem(object, true, "DAMAGED_OBJECT",
                "the object is stored in a form that this program does not know");
  }
}

// ---- chunks ----

// The chunks of one object, in order.
struct Chunks {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  Digest digest;
  bool even = true;  // numbered from 0 without a gap, all but the last of the full size
};

using ChunkTable = std::map<Digest, Chunks>;

// False when the store stopped at damage: the last object met may have more chunks.
bool scan_chunks(const AuditState& state, ChunkTable& table) {
  StoreCursor cursor = state.reader.view().scan_once(Space::evidence, "c");
  Sha256 hasher;
  std::optional<Digest> current;
  Chunks chunks;
  bool open_end = false;  // the chunk before was not of the full size
  const auto finish = [&] {
    if (!current) return;
    chunks.digest = hasher.finish();
    table[*current] = chunks;
  };
  for (; cursor.valid(); cursor.next()) {
    const std::string_view key = cursor.key();
    if (key.size() != 41) {
      finish();
      current.reset();
      continue;  // an odd key; check_leftovers() names it
    }
    const Digest digest = Digest::from_raw(key.substr(1, 32));
    if (current != digest) {
      finish();
      current = digest;
      chunks = {};
      open_end = false;
    }
    const std::string_view bytes = cursor.value();
    if (key_layout::from_big_endian(key.substr(33)) != chunks.count || open_end || bytes.empty() ||
        bytes.size() > limits::kObjectChunkBytes) {
      chunks.even = false;
    }
    open_end = bytes.size() != limits::kObjectChunkBytes;
    ++chunks.count;
    chunks.bytes += bytes.size();
    hasher.update(bytes);
  }
  if (!cursor.status()) {
    static_cast<void>(hasher.finish());
    return false;
  }
  finish();
  return true;
}

void join_chunks(const AuditState& state, ObjectFact& object, const ChunkTable& table) {
  const auto found = table.find(object.digest);
  if (found == table.end()) {
    // Not met, perhaps because the scan stopped early: the read says what is wrong with it.
    const Result<bool> read =
        state.reader.stream_object(object.digest, [](std::string_view) { return Status(); });
    if (!read) set_problem(object, true, read.error().code, read.error().message);
    return;
  }
  const Chunks& chunks = found->second;
  if (chunks.digest != object.digest) {
    set_problem(object, true, "DAMAGED_OBJECT", "the stored bytes have another digest",
                object.digest.text(), chunks.digest.text());
  } else if (!chunks.even || chunks.bytes != object.size) {
    set_problem(object, true, "DAMAGED_OBJECT",
                "the pieces of the object are not cut as its size demands",
                std::to_string(object.size), std::to_string(chunks.bytes));
  }
}

// ---- the scan ----

// Reads the objects whose digests begin with one of these bytes. False at damage.
bool scan_range(AuditState& state, std::size_t range, json::Arena& arena) {
  const std::size_t first = range * kRangeBytes;
  const char begin = static_cast<char>(first);
  StoreCursor cursor =
      state.reader.view().scan_once(Space::evidence, "o", std::string_view(&begin, 1));
  for (; cursor.valid(); cursor.next()) {
    const std::string_view key = cursor.key();
    if (key.size() != 33) {
      state.faults.add(Fault{}, "UNKNOWN_KEY", "a key among the objects has another length", "33",
                       std::to_string(key.size()));
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(key[1]);
    if (byte >= first + kRangeBytes) return true;
    ObjectFact& object = state.objects.facts[byte].emplace_back();
    object.digest = Digest::from_raw(key.substr(1));
    read_value(object, cursor.value(), arena);
  }
  return cursor.status().has_value();
}

// The objects that entries name, read one by one: those of new entries, or those of a damaged
// range.
void read_named(AuditState& state, const std::function<bool(const Digest&)>& wanted) {
  std::set<Digest> named;
  for (const LeafFact& fact : state.leaves) {
    if (fact.index < state.first_audited()) continue;
    const Result<std::string> leaf = state.reader.leaf(fact.index);
    const Result<Entry> entry = leaf ? decode_entry(*leaf) : Result<Entry>(fail(leaf.error()));
    if (entry && wanted(entry->content.digest)) named.insert(entry->content.digest);
  }
  json::Arena arena;
  for (const Digest& digest : named) {
    std::string value;
    const Result<bool> found =
        state.reader.view().get(Space::evidence, key_layout::object(digest), value);
    if (found && !*found) continue;
    ObjectFact object;
    object.digest = digest;
    if (found) {
      read_value(object, value, arena);
    } else {
      set_problem(object, true, found.error().code, found.error().message);
    }
    std::vector<ObjectFact>& list = state.objects.facts[digest.bytes[0]];
    list.insert(std::ranges::lower_bound(list, digest, {}, &ObjectFact::digest), std::move(object));
  }
}

// What lies in the evidence space and belongs to nothing.
void check_leftovers(AuditState& state, const ChunkTable& chunks) {
  const StoreView& view = state.reader.view();
  std::set<Digest> unnamed;  // large objects whose batch never came: the next open collects them
  StoreCursor markers = view.scan(Space::evidence, "u");
  for (; markers.valid(); markers.next()) {
    if (markers.key().size() != 33) {
      state.faults.add(Fault{}, "UNKNOWN_KEY", "a marker of unnamed pieces has another length",
                       "33", std::to_string(markers.key().size()));
      continue;
    }
    const Digest digest = Digest::from_raw(markers.key().substr(1));
    unnamed.insert(digest);
    const ObjectFact* object = state.objects.find(digest);
    if (object != nullptr && object->chunked) {
      state.faults.add(about(digest), "MARKED_UNNAMED",
                       "the pieces of a kept object are marked for collection");
    }
  }
  if (const Status status = markers.status(); !status) {
    state.faults.add(Fault{}, status.error());
  }
  for (const auto& [digest, ignored] : chunks) {
    const ObjectFact* object = state.objects.find(digest);
    if ((object == nullptr || !object->chunked) && !unnamed.contains(digest)) {
      state.faults.add(about(digest), "ORPHAN_CHUNKS", "pieces are kept that belong to no object");
    }
  }
}

// Bytes may be gone only where a statement of the root says so.
void check_withheld(AuditState& state) {
  const std::string type = std::string(kPredicateBase) + "withholding/v1";
  std::unordered_set<Digest> withheld;
  bool looked = false;
  for (const std::vector<ObjectFact>& list : state.objects.facts) {
    for (const ObjectFact& object : list) {
      if (!object.withheld) continue;
      if (!std::exchange(looked, true)) {
        for (const LeafFact& fact : state.leaves) {
          if (fact.type != LeafType::attestation) continue;
          const Result<Entry> entry = state.reader.entry(fact.index);
          const auto* body = entry ? std::get_if<AttestationEntry>(&entry->body) : nullptr;
          if (body != nullptr && body->predicate_type == type) withheld.insert(body->subject);
        }
      }
      if (withheld.contains(object.digest)) continue;
      state.faults.add(about(object.digest), "WITHHELD_WITHOUT_STATEMENT",
                       "the bytes of an object are gone and no statement withholds them");
    }
  }
}

}  // namespace

const ObjectFact* Objects::find(const Digest& digest) const {
  const std::vector<ObjectFact>& list = facts[digest.bytes[0]];
  const auto found = std::ranges::lower_bound(list, digest, {}, &ObjectFact::digest);
  return found != list.end() && found->digest == digest ? &*found : nullptr;
}

void Objects::name(const Digest& digest) {
  std::vector<ObjectFact>& list = facts[digest.bytes[0]];
  const auto found = std::ranges::lower_bound(list, digest, {}, &ObjectFact::digest);
  if (found == list.end() || found->digest != digest) return;
  std::atomic_ref(found->named).store(1, std::memory_order_relaxed);
}

bool Objects::kept(const Digest& digest) const {
  const ObjectFact* object = find(digest);
  return object != nullptr && !object->withheld;
}

// The last byte value cannot be scanned for; no table has it.
void check_tables(AuditState& state, Space space, std::string_view known) {
  for (int letter = 0; letter < 0xff; ++letter) {
    const char byte = static_cast<char>(letter);
    if (known.find(byte) != std::string_view::npos) continue;
    const StoreCursor cursor = state.reader.view().scan(space, std::string_view(&byte, 1));
    if (!cursor.valid()) continue;
    Fault place;
    place.derived = space == Space::derived;
    state.faults.add(place, "UNKNOWN_KEY", "a key belongs to no table that this program knows", {},
                     to_hex(cursor.key()));
  }
}

void scan_log_and_objects(AuditState& state) {
  std::vector<json::Arena> arenas(state.workers.count());
  std::array<bool, kRanges> whole{};
  ChunkTable chunks;
  bool all_chunks = true;
  const std::vector<std::function<void()>> others = {
      [&] { scan_log(state); },
      [&] {
        if (Status files = state.store.verify_files(); !files) {
          state.faults.add(Fault{}, files.error());
        }
      },
      [&] { all_chunks = scan_chunks(state, chunks); },
  };
  const std::size_t ranges = state.options.since ? 0 : kRanges;
  state.workers.run(others.size() + ranges, [&](std::size_t number, unsigned worker) {
    if (number < others.size()) {
      others[number]();
    } else {
      whole[number - others.size()] = scan_range(state, number - others.size(), arenas[worker]);
    }
  });
  if (state.options.since) {
    read_named(state, [](const Digest&) { return true; });
  } else if (std::ranges::find(whole, false) != whole.end()) {
    state.faults.add(Fault{}, "DAMAGED_STORE",
                     "a part of the table of objects cannot be read; objects that entries name are "
                     "looked for one by one");
    read_named(state, [&](const Digest& digest) {
      return !whole[digest.bytes[0] / kRangeBytes] && state.objects.find(digest) == nullptr;
    });
  }
  if (!all_chunks) {
    state.faults.add(Fault{}, "DAMAGED_STORE", "a part of the pieces of objects cannot be read");
  }
  for (std::vector<ObjectFact>& list : state.objects.facts) {
    for (ObjectFact& object : list) {
      if (object.chunked) join_chunks(state, object, chunks);
    }
    state.report.checked.objects += list.size();
  }
  if (state.options.since) return;
  check_leftovers(state, chunks);
  check_tables(state, Space::evidence, "fhocuet");
}

void check_orphans(AuditState& state) {
  check_withheld(state);
  if (state.options.since) return;
  for (const std::vector<ObjectFact>& list : state.objects.facts) {
    for (const ObjectFact& object : list) {
      if (object.named != 0) continue;
      state.faults.add(about(object.digest), "ORPHAN_OBJECT",
                       "an object is kept that no entry and no statement names");
    }
  }
}

}  // namespace kernelindex::auditing
