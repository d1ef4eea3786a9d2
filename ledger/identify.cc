// SPDX-License-Identifier: Apache-2.0
#include "ledger/identify.h"

#include <algorithm>
#include <array>
#include <set>

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"
#include "schema/canonical_json.h"

namespace kernelindex {
namespace {

constexpr std::size_t kPrefixDigits = 6;
constexpr std::size_t kRunIdDigits = 8;
constexpr std::string_view kOwnSource = "kernelindex";

struct KindWord {
  ManifestKind kind;
  std::string_view word;
};

// In the order in which SOURCE:ID prefers them.
constexpr std::array<KindWord, kManifestKinds> kKindWords = {{
    {ManifestKind::benchmark_run, "run"},
    {ManifestKind::serving_run, "serving-run"},
    {ManifestKind::workload_suite, "suite"},
    {ManifestKind::implementation_revision, "implementation"},
    {ManifestKind::operation_spec, "operation"},
    {ManifestKind::workload_case, "case"},
    {ManifestKind::software_project, "project"},
    {ManifestKind::benchmark_protocol, "protocol"},
    {ManifestKind::execution_environment, "environment"},
    {ManifestKind::model_revision, "model"},
    {ManifestKind::serving_stack_revision, "stack"},
    {ManifestKind::serving_configuration, "configuration"},
    {ManifestKind::serving_workload, "serving-workload"},
}};

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_uuid_prefix(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return c != '-'; }) >=
             static_cast<std::ptrdiff_t>(kRunIdDigits) &&
         text.size() <= 36 && std::ranges::all_of(text, [](char c) {
           return c == '-' || is_hex({&c, 1});
         });
}

std::string value_text(const RunRow& row) {
  if (!row.value) return {};
  std::string out;
  json::append_number(*row.value, out);
  return out + " " + std::string(row.unit);
}

// Collects candidates of one text, each once, at most `limit`.
class Search {
 public:
  Search(const Reader& reader, std::size_t limit) : reader_(reader), limit_(limit) {}

  Status by_digest_prefix(std::string_view hex) {
    struct Table {
      Space space;
      std::string_view letter;
      Named what;
    };
    constexpr std::array<Table, 4> kTables = {{
        {Space::derived, "s", Named::manifest},
        {Space::derived, "a", Named::attestation},
        {Space::derived, "g", Named::comparison_key},
        {Space::evidence, "o", Named::object},
    }};
    const std::string raw = from_hex(hex.substr(0, hex.size() / 2 * 2)).value_or("");
    for (const Table& table : kTables) {
      std::optional<Digest> last;
      StoreCursor cursor = reader_.view().scan(table.space, key_layout::join(table.letter, raw));
      for (; cursor.valid() && !full(); cursor.next()) {
        const Digest digest = Digest::from_raw(cursor.key().substr(1, 32));
        if (last == digest || !digest.hex().starts_with(hex)) continue;
        last = digest;
        Status status;
        if (table.what == Named::manifest) {
          status = add_manifest(digest, std::nullopt, {});
        } else if (table.what == Named::object) {
          status = add_object(digest, cursor.value());
        } else {
          add({table.what, digest, {}, {}, {}, {}, {}, {}});
        }
        if (!status) return status;
      }
      if (Status status = cursor.status(); !status) return status;
    }
    return {};
  }

  // External ids that are exactly `id`, or begin with it.
  Status by_external_id(std::string_view source, std::string_view id, bool prefix,
                        std::optional<ManifestKind> kind) {
    const std::string start =
        prefix ? key_layout::external_prefix(source, id) : key_layout::external_exact(source, id);
    std::vector<std::pair<ManifestKind, std::pair<std::string, Digest>>> found;
    StoreCursor cursor = reader_.view().scan(Space::derived, start);
    for (; cursor.valid(); cursor.next()) {
      const std::string_view key = cursor.key();
      if (key.size() < 1 + source.size() + 1 + 1 + 1 + 32) continue;
      const auto at = static_cast<ManifestKind>(key[key.size() - 33]);
      const std::string_view full_id =
          key.substr(2 + source.size(), key.size() - 34 - 2 - source.size());
      if (kind && *kind != at) continue;
      if (found.size() >= kScanned) break;
      found.push_back({at, {std::string(full_id), key_layout::last_digest(key)}});
    }
    if (Status status = cursor.status(); !status) return status;
    for (const KindWord& preferred : kKindWords) {
      bool any = false;
      for (const auto& [at, what] : found) {
        if (at != preferred.kind) continue;
        any = true;
        const std::string id_text = std::string(source) + ":" + what.first;
        if (Status status = add_manifest(what.second, std::nullopt, id_text); !status) {
          return status;
        }
      }
      if (any) break;  // the first kind of the order that has one
    }
    return {};
  }

  std::vector<Candidate> take() { return std::move(found_); }

 private:
  static constexpr std::size_t kScanned = 10'000;

  bool full() const { return found_.size() >= limit_; }

  // A document stands for the manifest that it is.
  Status add_object(const Digest& digest, std::string_view value) {
    if (documents_.contains(digest)) return {};
    if (stored_object::is_whole(value) && value.substr(1).starts_with("{\"apiVersion\":")) {
      if (const Result<Manifest> manifest = read_manifest(value.substr(1))) {
        const std::size_t before = found_.size();
        if (Status status = add_manifest(manifest->identity, digest, {}); !status) return status;
        if (documents_.contains(digest) || found_.size() > before) return {};
      }
    }
    add({Named::object, digest, {}, {}, {}, {}, {}, {}});
    return {};
  }

  Status add_manifest(const Digest& identity, std::optional<Digest> document,
                      std::string external_id) {
    Result<std::optional<SubjectRow>> row = reader_.subject(identity);
    if (!row) return fail(row.error());
    if (!*row) return {};
    Candidate out;
    out.digest = identity;
    out.document = document;
    out.kind = (*row)->kind;
    out.external_id = std::move(external_id);
    out.source = (*row)->shown().source;
    out.label = (*row)->shown().label;
    for (const ClaimRow& claim : (*row)->claims) {
      documents_.insert(claim.document);
      if (out.external_id.empty() && !claim.external_ids.empty()) {
        out.external_id = claim.external_ids.front();
      }
    }
    Result<std::optional<std::string>> run = reader_.run_row(identity);
    if (!run) return fail(run.error());
    if (*run) {
      const Result<RunRow> decoded = decode_run_row(**run);
      if (!decoded) return fail(decoded.error());
      out.value = value_text(*decoded);
      out.source = decoded->source;
    }
    add(std::move(out));
    return {};
  }

  void add(Candidate candidate) {
    const bool known = std::ranges::any_of(found_, [&](const Candidate& other) {
      return other.what == candidate.what && other.digest == candidate.digest;
    });
    if (!known && !full()) found_.push_back(std::move(candidate));
  }

  const Reader& reader_;
  std::size_t limit_;
  std::vector<Candidate> found_;
  std::set<Digest> documents_;  // objects that a manifest already stands for
};

std::string describe(const Candidate& candidate) {
  std::string out = candidate.digest.text();
  const auto add = [&](std::string_view text) {
    if (!text.empty()) out += "  " + std::string(text);
  };
  switch (candidate.what) {
    case Named::manifest:
      add(candidate.kind ? kind_name(*candidate.kind) : std::string_view());
      break;
    case Named::attestation:
      add("attestation");
      break;
    case Named::object:
      add("object");
      break;
    case Named::comparison_key:
      add("comparison key");
      break;
  }
  add(candidate.external_id);
  add(candidate.source);
  add(candidate.label);
  add(candidate.value);
  return out;
}

std::unexpected<Error> bad_id(std::string_view text, std::string message) {
  return fail(
      ErrorKind::invalid, "BAD_ID", std::string(text), std::move(message),
      "give a digest (at least 6 hex digits of it), SOURCE:ID, or kernelindex: and at least "
      "8 digits of a run id");
}

}  // namespace

std::string_view kind_word(ManifestKind kind) {
  for (const KindWord& entry : kKindWords) {
    if (entry.kind == kind) return entry.word;
  }
  return {};
}

Result<std::vector<Candidate>> candidates(const Reader& reader, std::string_view text,
                                          std::size_t limit) {
  Search search(reader, limit);
  const bool named_digest = text.starts_with("sha256:");
  const std::string_view hex = named_digest ? text.substr(7) : text;
  if (named_digest || text.find(':') == std::string_view::npos) {
    if (!is_hex(hex) && !named_digest && is_uuid_prefix(text)) {
      if (Status status = search.by_external_id(kOwnSource, text, true, std::nullopt); !status) {
        return fail(status.error());
      }
      return search.take();
    }
    if (!is_hex(hex) || hex.size() > 64) return bad_id(text, "this is no form of an id");
    if (hex.size() < kPrefixDigits) {
      return bad_id(text, "a prefix of a digest needs at least 6 hex digits");
    }
    if (Status status = search.by_digest_prefix(hex); !status) return fail(status.error());
    if (!named_digest && is_uuid_prefix(hex)) {
      if (Status status = search.by_external_id(kOwnSource, hex, true, std::nullopt); !status) {
        return fail(status.error());
      }
    }
    return search.take();
  }
  const std::size_t colon = text.find(':');
  const std::string_view source = text.substr(0, colon);
  std::string_view id = text.substr(colon + 1);
  if (source == kOwnSource) {
    if (!is_uuid_prefix(id)) {
      return bad_id(text, "a KernelIndex run id needs at least 8 of its digits");
    }
    if (Status status = search.by_external_id(source, id, true, std::nullopt); !status) {
      return fail(status.error());
    }
    return search.take();
  }
  if (Status status = search.by_external_id(source, id, false, std::nullopt); !status) {
    return fail(status.error());
  }
  for (const KindWord& entry : kKindWords) {
    if (!id.starts_with(entry.word) || id.size() <= entry.word.size() + 1 ||
        id[entry.word.size()] != ':') {
      continue;
    }
    if (Status status =
            search.by_external_id(source, id.substr(entry.word.size() + 1), false, entry.kind);
        !status) {
      return fail(status.error());
    }
  }
  return search.take();
}

Result<Candidate> identify(const Reader& reader, std::string_view text) {
  return identify(reader, text, {});
}

Result<Candidate> identify(const Reader& reader, std::string_view text,
                           const std::vector<Named>& wanted, std::optional<ManifestKind> kind) {
  // More than is listed, since what is not wanted is left out.
  Result<std::vector<Candidate>> found = candidates(reader, text, 500);
  if (!found) return fail(found.error());
  std::erase_if(*found, [&](const Candidate& candidate) {
    return (!wanted.empty() && std::ranges::find(wanted, candidate.what) == wanted.end()) ||
           (kind && candidate.kind != kind);
  });
  if (found->empty()) {
    return fail(ErrorKind::not_found, "NO_SUCH_ID", std::string(text),
                "nothing in this ledger has this id", "`kernelindex search` finds by name");
  }
  if (found->size() == 1) return std::move(found->front());
  constexpr std::size_t kListed = 20;
  std::string message = std::to_string(found->size()) + " things in this ledger have this id:";
  for (std::size_t i = 0; i < std::min(found->size(), kListed); ++i) {
    message += "\n  " + describe((*found)[i]);
  }
  if (found->size() > kListed) message += "\n  ...";
  return fail(ErrorKind::ambiguous, "AMBIGUOUS_ID", std::string(text), std::move(message),
              "Give more digits, or the whole digest");
}

}  // namespace kernelindex
