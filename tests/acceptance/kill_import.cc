// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/kill_import.h"

#include <chrono>
#include <thread>

#include "ledger/checkpoint.h"
#include "ledger/released_marks.h"
#include "tests/acceptance/child_program.h"
#include "verify/audit.h"

namespace kernelindex::test {
namespace {

using Seconds = std::chrono::duration<double>;

// Size of the newest checkpoint that the program has released; 0 while there is none.
std::uint64_t released_size(const std::filesystem::path& directory) {
  MarkPlaces places;
  places.directory = directory;
  places.keys = directory / "keys";
  std::uint64_t size = 0;
  for (const ReleasedMark& mark : read_marks(places, Digest{})) {
    if (mark.checkpoint) size = std::max(size, mark.checkpoint->checkpoint.head.size);
  }
  return size;
}

}  // namespace

KillImport::KillImport(std::string source, std::filesystem::path path)
    : source_(std::move(source)), path_(std::move(path)) {
  founded_.close();
  Room room = founded_.copy();
  roots_[room.head().size] = room.head().root;
  ingest::ImportRequest request = import_request(source_, path_);
  request.progress = [&](std::uint64_t size) { roots_[size] = room.head().root; };
  const auto begin = std::chrono::steady_clock::now();
  must(ingest::import_source(room.ledger(), request));
  seconds_ = Seconds(std::chrono::steady_clock::now() - begin).count();
  objects_ = objects(room.read());
  for (const auto& [size, root] : roots_) sizes_.push_back(size);
}

std::vector<std::string> KillImport::words() const {
  return {KERNELINDEX_PROGRAM, "import", source_, path_.string(), "--quiet"};
}

KillImport::Outcome KillImport::kill_once(std::mt19937& chance) {
  Room room = founded_.copy();
  Outcome outcome;
  kill_one(room, chance, outcome);
  check_state(room, outcome);
  outcome.left =
      static_cast<unsigned>(std::distance(roots_.begin(), roots_.lower_bound(outcome.size)));
  if (chance() % 3 == 0) {
    kill_one(room, chance, outcome);
    check_state(room, outcome);
  }
  ChildProgram rest(words(), room.environment());
  const int code = rest.wait();
  if (code != 0) outcome.faults.push_back("finishing gives exit status " + std::to_string(code));
  check_end(room, outcome);
  return outcome;
}

// Waits for a commit point that chance picks, so that all parts of an import are hit however fast
// the machine is, and then for a part of the time that a batch takes.
void KillImport::kill_one(Room& room, std::mt19937& chance, Outcome& outcome) {
  ChildProgram program(words(), room.environment());
  const std::uint64_t wanted = sizes_[chance() % sizes_.size()];
  while (program.running() && released_size(room.directory()) < wanted) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const double batch = 1.5 * seconds_ / static_cast<double>(sizes_.size());
  std::this_thread::sleep_for(Seconds(std::uniform_real_distribution<double>(0, batch)(chance)));
  program.kill();
  if (program.wait() != 0) outcome.killed = true;
}

void KillImport::check_state(Room& room, Outcome& outcome) {
  const std::uint64_t released = released_size(room.directory());
  const Result<AuditReport> report = audit_directory(room.options());
  if (!report) {
    outcome.faults.push_back(report.error().text());
    return;
  }
  if (!report->ok()) outcome.faults.push_back(report->json().substr(0, 1000));
  outcome.size = report->size;
  const auto root = roots_.find(report->size);
  if (root == roots_.end()) {
    outcome.faults.push_back("size " + std::to_string(report->size) + " is no commit point");
  } else if (root->second != report->root) {
    outcome.faults.push_back("another root at size " + std::to_string(report->size));
  }
  if (released > report->size) outcome.faults.push_back("a released checkpoint is above the log");
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::open(room.options());
  if (!ledger) {
    outcome.faults.push_back(ledger.error().text());
  } else if ((*ledger)->read_only_reason() || (*ledger)->derived_fault()) {
    outcome.faults.push_back("it opens for reading alone");
  }
}

void KillImport::check_end(Room& room, Outcome& outcome) {
  check_state(room, outcome);
  const TreeHead head = room.head();
  if (head.size != sizes_.back() || head.root != roots_.at(sizes_.back())) {
    outcome.faults.push_back("the finished import has size " + std::to_string(head.size) +
                             " and root " + head.root.text());
  }
  if (objects(room.read()) != objects_) outcome.faults.push_back("other objects");
}

}  // namespace kernelindex::test
