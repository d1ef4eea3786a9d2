// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_rotation.h"

#include <vector>

#include "ledger/key_file.h"
#include "ledger/role_keys.h"

namespace kernelindex {
namespace {

// The record of the key that is to be replaced.
Result<KeyRecord> old_record(const Ledger& ledger, Role role) {
  const std::string word(role_name(role));
  if (role == Role::root) {
    return fail(ErrorKind::refused, "ROOT_REVOKED", "--role",
                "the root of a ledger is never replaced: a lost root ends it",
                "found a new ledger and take this one over with `kernelindex import "
                "kernelindex-ledger`");
  }
  const Reader reader = ledger.read();
  const KeyBook& keys = reader.state().keys;
  const std::uint64_t next = reader.head().size;
  const std::filesystem::path& folder = ledger.options().keys;
  if (const Result<std::filesystem::path> path = valid_key_file(folder, role, keys, next)) {
    const Result<KeyFileLabel> label = read_key_file_label(*path);
    if (!label) return fail(label.error());
    return *keys.find(label->public_key.id());
  } else if (path.error().code != "NO_KEY_FILE" && path.error().code != "KEY_NOT_ENROLLED") {
    return fail(path.error());
  }
  const std::vector<const KeyRecord*> valid = keys.valid(role, next);
  if (valid.size() == 1) return *valid.front();
  if (valid.empty()) {
    return fail(ErrorKind::not_found, "NO_KEY_TO_ROTATE", word,
                "no key of this role is valid in this ledger",
                "make one with `kernelindex key new` and enrol it");
  }
  return fail(ErrorKind::ambiguous, "SEVERAL_KEYS", folder.string(),
              "no key file of a valid key is here, and the ledger has " +
                  std::to_string(valid.size()) + " valid keys of the role " + word,
              "enrol a new key and revoke the lost one by its id");
}

// Overwrites nothing.
Status rename_key(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, error))) {
    return fail(ErrorKind::refused, "KEY_FILE_EXISTS", to.string(),
                "there is a key file already, and keys are never overwritten",
                "move it away, then rename " + from.string() + " to it");
  }
  std::filesystem::rename(from, to, error);
  if (!error) return {};
  return fail(ErrorKind::system, "KEY_FILE_IO", from.string(),
              "cannot rename the key file to " + to.string() + ": " + error.message(),
              "rename it by hand: the ledger takes the key from either name");
}

}  // namespace

Result<Rotation> rotate_key(Ledger& ledger, const RotationOptions& options,
                            const SigningKey& root) {
  const Role role = options.role;
  const std::filesystem::path& folder = ledger.options().keys;
  const Result<KeyRecord> old = old_record(ledger, role);
  if (!old) return fail(old.error());
  const KeyFile fresh{role, old->owner, SigningKey::generate()};
  Rotation out;
  out.old_key = old->key;
  out.new_key = fresh.key.public_key();
  const std::filesystem::path made = replaced_key_path(folder, role, out.new_key);
  if (Status status = create_key_file(made, fresh, options.passphrase); !status) {
    return fail(status.error());
  }
  KeyEnrolment enrolment;
  enrolment.public_key = out.new_key;
  enrolment.role = role;
  enrolment.owner = old->owner;
  enrolment.hardware = old->hardware;
  enrolment.protocols = old->protocols;
  enrolment.reason = options.reason;
  const std::vector<Saying> sayings = {
      {out.new_key.id(), KeyChange{enrolment}},
      {out.old_key.id(), KeyChange{Revocation{options.reason, options.void_from}}}};
  const Result<std::vector<Attested>> recorded = attest(ledger, sayings, root);
  if (!recorded) {
    // What the system refused may be in the log all the same, and then the key is needed.
    if (recorded.error().kind != ErrorKind::system && recorded.error().kind != ErrorKind::corrupt) {
      std::error_code ignored;
      std::filesystem::remove(made, ignored);
    }
    return fail(recorded.error());
  }
  out.enrolment = (*recorded)[0];
  out.revocation = (*recorded)[1];
  const std::filesystem::path current = key_file_path(folder, role);
  if (const Result<KeyFileLabel> label = read_key_file_label(current)) {
    const std::filesystem::path kept = replaced_key_path(folder, role, label->public_key);
    if (Status status = rename_key(current, kept); !status) return fail(status.error());
  }
  if (Status status = rename_key(made, current); !status) return fail(status.error());
  out.kept = find_key_file(folder, role, out.old_key).value_or(std::filesystem::path());
  out.file = current;
  return out;
}

}  // namespace kernelindex
