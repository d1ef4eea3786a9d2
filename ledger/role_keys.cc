// SPDX-License-Identifier: Apache-2.0
#include "ledger/role_keys.h"

#include <algorithm>
#include <string>

namespace kernelindex {
namespace {

constexpr std::size_t kHexDigits = 8;

bool is_replaced_key_name(std::string_view name, Role role) {
  const std::string prefix = std::string(role_name(role)) + "-";
  constexpr std::string_view kSuffix = ".key";
  if (name.size() != prefix.size() + kHexDigits + kSuffix.size()) return false;
  return name.starts_with(prefix) && name.ends_with(kSuffix) &&
         std::ranges::all_of(name.substr(prefix.size(), kHexDigits), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

std::filesystem::path replaced_key_path(const std::filesystem::path& directory, Role role,
                                        const PublicKey& key) {
  return directory /
         (std::string(role_name(role)) + "-" + key.id().hex().substr(0, kHexDigits) + ".key");
}

std::vector<std::filesystem::path> role_key_files(const std::filesystem::path& directory,
                                                  Role role) {
  std::vector<std::filesystem::path> others;
  std::error_code error;
  for (std::filesystem::directory_iterator item(directory, error), end; !error && item != end;
       item.increment(error)) {
    if (is_replaced_key_name(item->path().filename().native(), role)) {
      others.push_back(directory / item->path().filename());
    }
  }
  std::ranges::sort(others);
  std::vector<std::filesystem::path> out;
  const std::filesystem::path current = key_file_path(directory, role);
  // A link that leads nowhere is there too, and is refused when it is read.
  if (std::filesystem::exists(std::filesystem::symlink_status(current, error))) {
    out.push_back(current);
  }
  for (std::filesystem::path& path : others) {
    if (out.size() < kRoleKeyFiles) out.push_back(std::move(path));
  }
  return out;
}

std::optional<std::filesystem::path> find_key_file(const std::filesystem::path& directory,
                                                   Role role, const PublicKey& key) {
  for (std::filesystem::path& path : role_key_files(directory, role)) {
    const Result<KeyFileLabel> label = read_key_file_label(path);
    if (label && label->role == role && label->public_key == key) return std::move(path);
  }
  return std::nullopt;
}

Result<std::filesystem::path> valid_key_file(const std::filesystem::path& directory, Role role,
                                             const KeyBook& keys, std::uint64_t index) {
  const std::vector<std::filesystem::path> files = role_key_files(directory, role);
  if (files.empty()) {
    const Result<KeyFileLabel> missing = read_key_file_label(key_file_path(directory, role));
    if (!missing) return fail(missing.error());
  }
  std::optional<Error> fault;
  const std::filesystem::path* newest = nullptr;
  std::uint64_t enrolled_at = 0;
  for (const std::filesystem::path& path : files) {
    const Result<KeyFileLabel> label = read_key_file_label(path);
    if (!label) {
      if (!fault) fault = label.error();
      continue;
    }
    if (label->role != role) {
      if (!fault) fault = wrong_role(path, label->role);
      continue;
    }
    const KeyRecord* record = keys.find(label->public_key.id());
    if (record == nullptr || record->role != role || !record->valid_at(index)) continue;
    if (newest != nullptr && record->enrolled_at <= enrolled_at) continue;
    newest = &path;
    enrolled_at = record->enrolled_at;
  }
  if (newest != nullptr) return *newest;
  if (fault) return fail(std::move(*fault));
  return fail(
      ErrorKind::refused, "KEY_NOT_ENROLLED", key_file_path(directory, role).string(),
      "the " + std::string(role_name(role)) + " key is not enrolled in this ledger, or was revoked",
      "`kernelindex key list` shows who may sign; the root enrols keys with `kernelindex "
      "key enrol`");
}

Result<KeyFile> read_valid_key(const std::filesystem::path& directory, Role role,
                               const KeyBook& keys, std::uint64_t index,
                               std::string_view passphrase) {
  const Result<std::filesystem::path> path = valid_key_file(directory, role, keys, index);
  if (!path) return fail(path.error());
  return read_key_file(*path, passphrase);
}

}  // namespace kernelindex
