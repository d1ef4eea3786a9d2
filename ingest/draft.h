// SPDX-License-Identifier: Apache-2.0
// What every importer gives: drafts of claims in input order, and findings about what it met.
//
// An importer is bytes in, drafts and findings out: no clock, no files, no network. Recording them
// is the recorder's work (ingest/recorder.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/entry.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// One file of a source, as given. `locator` is its path relative to the argument, or its URL.
struct SourceFile {
  std::string locator;
  std::string media_type;
  std::string fetched_at;  // empty when supplied as a file
  std::string_view bytes;  // owned by the caller, outlives the import
};

// A claim that a source makes: a manifest and what stands beside it.
struct Draft {
  Manifest manifest;
  std::string source;                     // slug: whose number it is
  std::string via;                        // slug: whose bytes were read, empty when the same
  std::vector<std::string> external_ids;  // "slug:id"; the recorder sorts them
  std::size_t file = 0;                   // index of the source file it was read from
  std::string item;                       // line ("17") or JSON pointer ("/data/submissions/3")
  ClaimFacts facts;
};

// Bytes kept by digest beside the manifests, for example kernel source.
struct ArtifactDraft {
  std::string bytes;
  std::string media_type;
};

// A source shows something in a state in which it does not stand by it any more. If a run of this
// external id is recorded, the recorder records a withdrawal.
struct WithdrawalDraft {
  std::string source;       // slug
  std::string external_id;  // at the source: "submission/15866"
  std::string state;        // the source's word
  std::string reason;       // the source's own; empty when it gives none
  std::size_t file = 0;     // index of the source file that says so
};

enum class FindingClass {
  quarantined,  // an item was set aside; the rest went on
  review,       // ambiguous: a person should look
  drift,        // the upstream shape has members that we do not know
};

struct Finding {
  FindingClass kind = FindingClass::quarantined;
  std::string locator;  // the file
  std::string item;     // line, JSON pointer or name
  std::string code;     // UPPER_SNAKE_CASE
  std::string reason;
};

// Where an importer puts what it finds, in input order. Calls come from one thread.
class DraftSink {
 public:
  virtual ~DraftSink() = default;
  // A file is read from here on: its snapshot goes before the claims that name it.
  virtual Status begin_file(std::size_t file) = 0;
  virtual Status claim(Draft draft) = 0;
  virtual Status artifact(ArtifactDraft artifact) = 0;
  virtual Status withdrawn(WithdrawalDraft withdrawal) = 0;
  virtual void finding(Finding finding) = 0;
  // Counts an item that was deliberately not imported.
  virtual void skipped(std::string_view reason) = 0;
  // Counts an item that was chosen for import.
  virtual void selected() = 0;
  // Counts what the report states as a number and nothing more: warnings that would be said once
  // for each item (LICENSE_MISSING), rows that were checked and are not recorded.
  virtual void counted(std::string_view what, std::uint64_t times) = 0;
};

}  // namespace kernelindex::ingest
