// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes are read as a manifest; the seeds hold one of every kind, and the dictionary
// the words of the schemas.
//
// Invariants:
// - a manifest that is taken has canonical bytes that read back to the same manifest;
// - its document digest is the hash of its bytes, its identity digest the hash of its identity
// body;
// - another name in the metadata leaves the identity as it is;
// - validate_manifest finds no fault in it, and at least one in every document that is refused for
//   another reason than its size;
// - every error is of kind invalid and has a code and a message.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/manifest.h"

namespace kernelindex {
namespace {

// The document with a metadata of its own.
std::string renamed(const json::Value& document, json::Arena& arena) {
  json::ObjectBuilder metadata(arena);
  metadata.add("name", "another-name");
  json::ObjectBuilder out(arena);
  for (const json::Member& member : document.object()) {
    out.add(member.name, member.name == "metadata" ? metadata.finish() : member.value);
  }
  return json::canonical(out.finish());
}

void check_accepted(const Manifest& manifest, const json::Value& document, json::Arena& arena) {
  FUZZ_CHECK(validate_manifest(document).empty());
  FUZZ_CHECK(sha256(manifest.bytes) == manifest.document);
  FUZZ_CHECK(sha256(identity_body(manifest)) == manifest.identity);
  const Result<Manifest> again = read_manifest(manifest.bytes);
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(again->bytes == manifest.bytes);
  FUZZ_CHECK(again->identity == manifest.identity);
  FUZZ_CHECK(again->facts.index() == manifest.facts.index());
  const Result<Manifest> other = read_manifest(renamed(document, arena));
  FUZZ_CHECK(other.has_value());
  FUZZ_CHECK(other->identity == manifest.identity);
}

void check_manifest(std::string_view text) {
  json::Arena arena;
  const Result<Manifest> manifest = read_manifest(text);
  const Result<json::Value> document = json::parse(text, arena);
  if (manifest) {
    FUZZ_CHECK(document.has_value());
    return check_accepted(*manifest, *document, arena);
  }
  FUZZ_CHECK(manifest.error().kind == ErrorKind::invalid);
  FUZZ_CHECK(!manifest.error().code.empty() && !manifest.error().message.empty());
  if (!document || manifest.error().code == "TOO_LARGE") return;
  const std::vector<Error> faults = validate_manifest(*document);
  FUZZ_CHECK(!faults.empty() && faults.size() <= 50);
}

}  // namespace
}  // namespace kernelindex

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kernelindex::check_manifest({reinterpret_cast<const char*>(data), size});
  return 0;
}
