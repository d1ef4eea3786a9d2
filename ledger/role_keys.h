// SPDX-License-Identifier: Apache-2.0
// Which key file of a role signs, when a folder holds several.
//
//   KEYS/<role>.key           the key in use
//   KEYS/<role>-<8 hex>.key   one that was replaced or is about to be; the beginning of its key id
//
// The key book of the ledger decides, not the name: so a rotation that is cut off between its
// entries in the log and the renaming of files goes on as if it had ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "ledger/key_book.h"
#include "ledger/key_file.h"
#include "ledger/role.h"
#include "ledger/signing_key.h"
#include "schema/result.h"

namespace kernelindex {

// How many key files of one role a folder may hold; more are not looked at.
inline constexpr std::size_t kRoleKeyFiles = 256;

// directory / "<role>-<8 hex of the key id>.key"
std::filesystem::path replaced_key_path(const std::filesystem::path& directory, Role role,
                                        const PublicKey& key);

// The key files of a role that are there: <role>.key first, the others by name.
std::vector<std::filesystem::path> role_key_files(const std::filesystem::path& directory,
                                                  Role role);

// The file of a public key among those of its role; nullopt when it is not at hand.
std::optional<std::filesystem::path> find_key_file(const std::filesystem::path& directory,
                                                   Role role, const PublicKey& key);

// The file whose key is valid in the role for what comes at `index`, the one enrolled last if there
// are several. Errors: NO_KEY_FILE (not_found), KEY_NOT_ENROLLED (refused: none of the files is of
// a valid key), WRONG_ROLE, those of read_key_file_label().
Result<std::filesystem::path> valid_key_file(const std::filesystem::path& directory, Role role,
                                             const KeyBook& keys, std::uint64_t index);
// Reads it. Errors: the same, and those of read_key_file().
Result<KeyFile> read_valid_key(const std::filesystem::path& directory, Role role,
                               const KeyBook& keys, std::uint64_t index,
                               std::string_view passphrase);

}  // namespace kernelindex
