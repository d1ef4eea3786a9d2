// SPDX-License-Identifier: Apache-2.0
// What lies beside the log: head and format, the checkpoint and other released marks, key files.
#include <algorithm>
#include <fstream>

#include "ledger/key_file.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

void check_format(AuditState& state) {
  if (!state.format || !state.founding) return;  // said when they were read
  const LedgerFormat& stored = *state.format;
  const LedgerFormat& founded = *state.founding;
  const auto compare = [&](std::string_view what, const std::string& expected,
                           const std::string& found) {
    if (expected == found) return;
    state.faults.add(Fault{}, "FORMAT_MISMATCH",
                     "the stored format says another " + std::string(what) + " than entry 0",
                     expected, found);
  };
  compare("origin", founded.origin, stored.origin);
  compare("owner", founded.owner, stored.owner);
  compare("ledger id", founded.ledger_id.text(), stored.ledger_id.text());
}

const std::string& origin_of(const AuditState& state) {
  static const std::string kUnknown;
  if (state.founding) return state.founding->origin;
  return state.format ? state.format->origin : kUnknown;
}

// A checkpoint from outside the database, `name` says from where.
class CheckpointCheck {
 public:
  CheckpointCheck(AuditState& state, std::string name, const SignedCheckpoint& checkpoint)
      : state_(state), name_(std::move(name)), checkpoint_(checkpoint) {}

  void run() {
    const Checkpoint& says = checkpoint_.checkpoint;
    if (says.origin != origin_of(state_)) {
      fault("OTHER_ORIGIN", " is of another log", origin_of(state_), says.origin);
      return;
    }
    check_signature();
    if (says.head.size > state_.report.size) {
      state_.faults.add(at_entry(state_.report.size), "RECORDS_LOST",
                        "records are lost from " + entry_name(state_.report.size) +
                            " on: " + name_ + " names a larger size",
                        std::to_string(says.head.size), std::to_string(state_.report.size));
      return;
    }
    const std::map<std::uint64_t, Digest> roots = roots_at(state_, {says.head.size});
    const auto root = roots.find(says.head.size);
    if (root == roots.end() || root->second == says.head.root) return;
    fault("FORKED",
          " names another tree of size " + std::to_string(says.head.size) + " than this log has",
          says.head.root.text(), root->second.text());
  }

 private:
  void check_signature() {
    const Checkpoint& says = checkpoint_.checkpoint;
    // Of lost records we know no keys: those of the end must do.
    const std::uint64_t size = std::min(says.head.size, state_.report.size);
    std::vector<VerifierKey> keys;
    for (const KeyRecord* key : state_.keys.valid(Role::log, size)) {
      keys.push_back(log_verifier_key(says.origin, key->key));
    }
    const CheckpointVerdict verdict = verify_checkpoint(checkpoint_, keys);
    state_.report.checked.signatures += std::max<std::size_t>(verdict.log_signatures, 1);
    if (verdict.ok()) return;
    std::string expected;
    for (const VerifierKey& key : keys) expected += (expected.empty() ? "" : ", ") + key.text();
    fault(std::string(verdict.code), " is not signed by the log key of its size: " + verdict.detail,
          expected, {});
  }

  void fault(std::string code, const std::string& what, std::string expected, std::string found) {
    state_.faults.add(Fault{}, std::move(code), name_ + what, std::move(expected),
                      std::move(found));
  }

  AuditState& state_;
  const std::string name_;
  const SignedCheckpoint& checkpoint_;
};

void check_marks(AuditState& state) {
  const std::filesystem::path own = state.places.directory / "checkpoint";
  bool found = false;
  for (const ReleasedMark& mark : state.marks) {
    found = found || mark.path == own;
    if (mark.checkpoint) {
      CheckpointCheck(state, mark.path.string(), *mark.checkpoint).run();
    } else {
      state.faults.add(Fault{}, "BAD_CHECKPOINT", mark.path.string() + " is no checkpoint");
    }
  }
  if (!found) {
    state.faults.add(Fault{}, "NO_CHECKPOINT",
                     own.string() +
                         " is missing: no signature vouches for the head; `kernelindex "
                         "checkpoint` makes it");
  }
  if (state.options.since) {
    CheckpointCheck(state, "the checkpoint given", *state.options.since).run();
  }
}

// The bytes of a key file, for as long as they are looked at.
std::optional<SecretBytes> read_secret(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  SecretBytes buffer(kKeyFileBytes + 1);
  file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  return SecretBytes(buffer.view().substr(0, static_cast<std::size_t>(file.gcount())));
}

void check_key_file(AuditState& state, const std::filesystem::path& path, Role role,
                    std::string_view bytes) {
  const Result<KeyFileLabel> label = decode_key_file_label(bytes);
  if (!label) {
    state.faults.add(Fault{}, label.error().code, path.string() + ": " + label.error().message);
    return;
  }
  if (!label->encrypted || !state.places.passphrase.empty()) {
    const Result<KeyFile> key = decode_key_file(bytes, state.places.passphrase);
    if (!key) {
      state.faults.add(Fault{}, key.error().code, path.string() + ": " + key.error().message);
      return;
    }
  }
  const Digest id = label->public_key.id();
  const KeyRecord* record = state.keys.find(id);
  if (record == nullptr) {
    state.faults.add(about(id), "KEY_NOT_ENROLLED",
                     path.string() + " holds a key that is not enrolled in this ledger");
    return;
  }
  const auto compare = [&](std::string_view what, std::string_view expected,
                           std::string_view found) {
    if (expected == found) return;
    state.faults.add(about(id), "KEY_FILE_MISMATCH",
                     path.string() + " says another " + std::string(what) + " of its key",
                     std::string(expected), std::string(found));
  };
  compare("role", role_name(record->role), role_name(label->role));
  compare("role", role_name(role), role_name(label->role));
  compare("owner", record->owner, label->owner);
}

void check_key_files(AuditState& state) {
  for (const Role role : kRoles) {
    const std::filesystem::path path = key_file_path(state.places.keys, role);
    const std::optional<SecretBytes> bytes = read_secret(path);
    if (bytes) check_key_file(state, path, role, bytes->view());
  }
}

}  // namespace

void check_places(AuditState& state) {
  check_format(state);
  check_marks(state);
  check_key_files(state);
}

}  // namespace kernelindex::auditing
