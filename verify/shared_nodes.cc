// SPDX-License-Identifier: Apache-2.0
#include "verify/shared_nodes.h"

#include <set>
#include <string>

namespace kernelindex {
namespace {

// No file holds the leaves of a larger subtree than this.
constexpr unsigned kKnownLevels = 32;

std::unexpected<Error> not_held(unsigned level, std::uint64_t index) {
  return fail(ErrorKind::invalid, "NODE_NOT_HELD",
              "node " + std::to_string(index) + " of level " + std::to_string(level),
              "the file does not hold this hash of the tree");
}

// The hash of a perfect subtree all of whose leaves are known.
std::optional<Digest> known_node(const KnownLeaves& known, unsigned level, std::uint64_t index) {
  if (level >= kKnownLevels || index >= std::uint64_t{1} << (63 - level)) return std::nullopt;
  const std::uint64_t count = std::uint64_t{1} << level;
  if (count > known.size()) return std::nullopt;
  CompactRange range;
  auto leaf = known.find(index * count);
  for (; range.size() < count; ++leaf) {
    if (leaf == known.end() || leaf->first != index * count + range.size()) return std::nullopt;
    range.append(leaf->second);
  }
  return range.root();
}

// Remembers what is asked for; its hashes are of no use.
class AskedNodes final : public NodeSource {
 public:
  explicit AskedNodes(const KnownLeaves& known) : known_(known) {}

  Result<Digest> node(unsigned level, std::uint64_t index) override {
    const NodePlace place{level, index};
    if (!asked_.contains(place) && !computed_.contains(place)) {
      (known_node(known_, level, index) ? computed_ : asked_).insert(place);
    }
    return Digest();
  }
  std::vector<NodePlace> places() const { return {asked_.begin(), asked_.end()}; }

 private:
  const KnownLeaves& known_;
  std::set<NodePlace> asked_;
  std::set<NodePlace> computed_;
};

}  // namespace

Result<std::vector<NodePlace>> needed_nodes(const TreeQuestions& questions,
                                            const KnownLeaves& known) {
  AskedNodes asked(known);
  for (const std::uint64_t leaf : questions.leaves) {
    const Result<Proof> proof = prove_inclusion(leaf, questions.size, asked);
    if (!proof) return fail(proof.error());
  }
  for (const std::uint64_t size : questions.older) {
    const Result<Proof> proof = prove_consistency(size, questions.size, asked);
    if (!proof) return fail(proof.error());
  }
  return asked.places();
}

Result<SharedNodes> SharedNodes::make(const TreeQuestions& questions, KnownLeaves known,
                                      std::span<const Digest> hashes) {
  const Result<std::vector<NodePlace>> places = needed_nodes(questions, known);
  if (!places) return fail(places.error());
  if (places->size() != hashes.size()) {
    return fail(ErrorKind::invalid, "NODE_COUNT", {},
                "the proofs need " + std::to_string(places->size()) +
                    " hashes of the tree, the file has " + std::to_string(hashes.size()));
  }
  SharedNodes out(std::move(known));
  for (std::size_t i = 0; i < hashes.size(); ++i) out.held_.emplace((*places)[i], hashes[i]);
  return out;
}

Result<Digest> SharedNodes::node(unsigned level, std::uint64_t index) {
  const NodePlace place{level, index};
  if (const auto held = held_.find(place); held != held_.end()) return held->second;
  const std::optional<Digest> computed = known_node(known_, level, index);
  if (!computed) return not_held(level, index);
  held_.emplace(place, *computed);
  return *computed;
}

Result<Digest> LeafNodes::node(unsigned level, std::uint64_t index) {
  if (level >= kKnownLevels || index >= std::uint64_t{1} << (63 - level)) {
    return not_held(level, index);
  }
  const std::uint64_t count = std::uint64_t{1} << level;
  if ((index + 1) * count > leaves_.size()) return not_held(level, index);
  return range_root(
      leaves_.subspan(static_cast<std::size_t>(index * count), static_cast<std::size_t>(count)));
}

}  // namespace kernelindex
