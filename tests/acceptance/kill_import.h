// SPDX-License-Identifier: Apache-2.0
// Kills a program that imports, at an instant that chance decides, and says whether the ledger is
// what it must be: after some whole batch, sound, and in the end the same as without the kill.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/acceptance/room.h"

namespace kernelindex::test {

class KillImport {
 public:
  // Imports once without a kill: what every killed import must come to.
  KillImport(std::string source, std::filesystem::path path);

  struct Outcome {
    bool killed = false;              // before it ended by itself
    std::uint64_t size = 0;           // of the log as last found
    unsigned left = 0;                // batches that were there after the first kill
    std::vector<std::string> faults;  // what is not as it must be; empty when all is well
  };
  // One import in a fresh ledger, killed at a random instant, sometimes a second time while it is
  // finished, then finished.
  Outcome kill_once(std::mt19937& chance);

  std::size_t commits() const { return roots_.size(); }

 private:
  void kill_one(Room& room, std::mt19937& chance, Outcome& outcome);
  void check_state(Room& room, Outcome& outcome);
  void check_end(Room& room, Outcome& outcome);
  std::vector<std::string> words() const;

  std::string source_;
  std::filesystem::path path_;
  Room founded_;
  std::map<std::uint64_t, Digest> roots_;  // at each commit point
  std::vector<std::uint64_t> sizes_;       // in order; the first is of the founding
  std::vector<Digest> objects_;            // in the end
  double seconds_ = 0;                     // that the import took
};

}  // namespace kernelindex::test
