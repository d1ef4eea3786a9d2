// SPDX-License-Identifier: Apache-2.0
#include "ledger/released_marks.h"

#include <cstdlib>
#include <fstream>
#include <future>

#include "ledger/file_steps.h"
#include "ledger/role_keys.h"

namespace kernelindex {
namespace {

std::optional<std::string> read_small_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes(limits::kNoteBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

std::filesystem::path user_state_directory() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return state;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".local" / "state";
  }
  return {};
}

std::vector<std::filesystem::path> MarkPlaces::files(const Digest& ledger_id) const {
  std::vector<std::filesystem::path> out = {directory / "checkpoint", keys / "log.key.released"};
  if (!state.empty()) out.push_back(state / "kernelindex" / ledger_id.hex());
  return out;
}

std::vector<ReleasedMark> read_marks(const MarkPlaces& places, const Digest& ledger_id) {
  std::vector<ReleasedMark> out;
  for (const std::filesystem::path& path : places.files(ledger_id)) {
    const std::optional<std::string> bytes = read_small_file(path);
    if (!bytes) continue;
    ReleasedMark mark{path, std::nullopt};
    if (Result<SignedCheckpoint> checkpoint = parse_checkpoint(*bytes)) {
      mark.checkpoint = std::move(*checkpoint);
    }
    out.push_back(std::move(mark));
  }
  return out;
}

Status write_marks(const MarkPlaces& places, const Digest& ledger_id,
                   const SignedCheckpoint& checkpoint) {
  const std::string bytes = checkpoint.format();
  // Each mark waits for the disk twice; they wait side by side.
  std::future<Status> beside_key;
  if (!role_key_files(places.keys, Role::log).empty()) {
    beside_key = std::async(std::launch::async, [&] {
      return write_file_durably(places.keys / "log.key.released", bytes);
    });
  }
  std::future<Status> extra;
  if (!places.state.empty()) {
    extra = std::async(std::launch::async, [&] {
      const std::filesystem::path folder = places.state / "kernelindex";
      std::error_code fault;
      std::filesystem::create_directories(folder, fault);
      return write_file_durably(folder / ledger_id.hex(), bytes);
    });
  }
  const Status written = write_file_durably(places.directory / "checkpoint", bytes);
  // A mark that cannot be written here leaves the other two: less protection, no fault.
  if (extra.valid()) static_cast<void>(extra.get().has_value());
  const Status key_mark = beside_key.valid() ? beside_key.get() : Status();
  return written ? key_mark : written;
}

}  // namespace kernelindex
