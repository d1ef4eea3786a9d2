// SPDX-License-Identifier: Apache-2.0
// The program serving a ledger, in a process of its own.
#pragma once

#include <csignal>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/acceptance/child_program.h"
#include "tests/acceptance/room.h"
#include "tests/serve/loopback_client.h"

namespace kernelindex::serve {

// `kernelindex serve` over a room's ledger, which is closed.
class Served {
 public:
  Served(const test::Room& room, std::vector<std::string> words)
      : program_(argv(std::move(words)), room.environment()) {
    // "kernelindex: serving size 12 at http://127.0.0.1:43210"
    const std::string line = program_.error_line();
    const std::size_t colon = line.rfind(':');
    if (line.find(" serving size ") == std::string::npos) throw std::runtime_error(line);
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(colon + 1)));
  }
  std::uint16_t port() const { return port_; }
  std::string ask(std::string_view bytes) const {
    LoopbackClient client(port_);
    client.send(bytes);
    return client.all();
  }
  void terminate() { program_.send(SIGTERM); }
  int wait() { return program_.wait(); }

 private:
  static std::vector<std::string> argv(std::vector<std::string> words) {
    std::vector<std::string> all = {KERNELINDEX_PROGRAM, "serve", "--listen", "127.0.0.1:0"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  test::ChildProgram program_;
  std::uint16_t port_ = 0;
};

// The sample with a checkpoint, closed.
inline test::Room sample_room() {
  test::Room room;
  room.import_sample();
  test::must(room.ledger().checkpoint());
  room.close();
  return room;
}

}  // namespace kernelindex::serve
