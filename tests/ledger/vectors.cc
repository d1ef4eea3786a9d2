// SPDX-License-Identifier: Apache-2.0
#include "ledger/vectors.h"

#include <stdexcept>

#include "schema/json_reader.h"
#include "schema/limits.h"
#include "support/corpus.h"

namespace kernelindex::test {

Vectors load_vectors(std::string_view name) {
  Vectors vectors;
  const std::string text = read_file(corpus_path("vectors/" + std::string(name)));
  const Result<json::Value> root =
      json::parse(text, vectors.arena, {.bytes = limits::kSourceJsonBytes});
  if (!root) throw std::runtime_error(std::string(name) + ": " + root.error().text());
  vectors.root = *root;
  return vectors;
}

std::uint64_t u64(const json::Value& value) {
  if (value.is_string()) return std::stoull(std::string(value.string()));
  return value.number() >= 18446744073709551615.0 ? ~std::uint64_t{0}
                                                  : static_cast<std::uint64_t>(value.number());
}

std::string base64(const json::Value& value) {
  const std::optional<std::string> bytes = from_base64(value.string());
  if (!bytes) throw std::runtime_error("not base64: " + std::string(value.string()));
  return *bytes;
}

Digest hex_digest(const json::Value& value) { return Digest::parse_hex(value.string()).value(); }

std::optional<Digest> base64_digest(const json::Value* value) {
  const std::string bytes = value->is_null() ? std::string() : base64(*value);
  if (bytes.size() != 32) return std::nullopt;
  return Digest::from_raw(bytes);
}

std::optional<Proof> base64_proof(const json::Value* value) {
  Proof proof;
  if (value->is_null()) return proof;
  for (const json::Value& item : value->array()) {
    const std::optional<Digest> hash = base64_digest(&item);
    if (!hash) return std::nullopt;
    proof.push_back(*hash);
  }
  return proof;
}

std::string entry(std::uint64_t index) {
  std::string bytes(1, static_cast<char>(index & 0xff));
  return index < 256 ? bytes : std::to_string(index) + bytes;
}

MemoryNodes::MemoryNodes(std::uint64_t size) {
  rows_.emplace_back();
  for (std::uint64_t i = 0; i < size; ++i) {
    leaves_.push_back(leaf_hash(entry(i)));
    rows_[0].push_back(leaves_.back().digest());
  }
  while (rows_.back().size() > 1) {
    std::vector<Digest> row;
    const std::vector<Digest>& below = rows_.back();
    for (std::size_t i = 0; i + 1 < below.size(); i += 2) {
      row.push_back(node_hash(below[i], below[i + 1]));
    }
    rows_.push_back(std::move(row));
  }
}

Result<Digest> MemoryNodes::node(unsigned level, std::uint64_t index) {
  if (level >= rows_.size() || index >= rows_[level].size()) {
    return fail(ErrorKind::not_found, "NODE_OUT_OF_RANGE", {}, "no such node");
  }
  return rows_[level][index];
}

}  // namespace kernelindex::test
