// SPDX-License-Identifier: Apache-2.0
// Private keys in files: DIR/<role>.key, one canonical JSON object and a newline, mode 0600.
//
//   plain      {"owner","publicKey","role","secret","v":1}
//   encrypted  {"encrypted":{"box","kdf":"argon2id13","memlimit","nonce","opslimit","salt"},
//               "owner","publicKey","role","v":1}
//
// publicKey, secret (the 32-byte seed), salt, nonce and box are base64; memlimit is in bytes. The
// box is XChaCha20-Poly1305 over the seed with the rest of the file as associated data, so that no
// member of an encrypted file can be changed. In a plain file role and owner are labels: what a key
// may do is decided by its enrolment in the ledger. DESIGN section 6.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "ledger/role.h"
#include "ledger/signing_key.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kKeyFileBytes = 4096;

struct KeyFile {
  Role role{};
  std::string owner;  // slug of the person or organisation
  SigningKey key;
};

// directory / "<role>.key"
std::filesystem::path key_file_path(const std::filesystem::path& directory, Role role);

// The bytes of the file. An empty passphrase leaves the key unencrypted.
Result<SecretBytes> encode_key_file(const KeyFile& file, std::string_view passphrase,
                                    const PassphraseCost& cost = {});
// Reads exactly what encode_key_file() gives. Errors: BAD_KEY_FILE, KEY_MISMATCH (the public key is
// not that of the seed), PASSPHRASE_NEEDED and WRONG_PASSPHRASE (kind refused; the latter also when
// the file was changed), BAD_COST (before any work).
Result<KeyFile> decode_key_file(std::string_view bytes, std::string_view passphrase);

// What a key file says beside its secret: enough to see whose it is, without a passphrase.
struct KeyFileLabel {
  Role role{};
  std::string owner;
  PublicKey public_key;
  bool encrypted = false;
};

// Reads the label. Error BAD_KEY_FILE. Of an encrypted file nothing shows that it was not changed.
Result<KeyFileLabel> decode_key_file_label(std::string_view bytes);
// The same of a file. Errors: those of read_key_file() but for passphrases.
Result<KeyFileLabel> read_key_file_label(const std::filesystem::path& path);

// Writes a new file, readable by its owner alone, and syncs it and its directory. An existing file
// is never touched: KEY_FILE_EXISTS (kind refused). After any error no file is left. Requires: the
// directory exists.
Status create_key_file(const std::filesystem::path& path, const KeyFile& file,
                       std::string_view passphrase, const PassphraseCost& cost = {});

// Reads a key file. Besides the errors above: NO_KEY_FILE (kind not_found), KEY_FILE_UNSAFE (kind
// refused: not a regular file, owned by someone else, or readable by group or world).
Result<KeyFile> read_key_file(const std::filesystem::path& path, std::string_view passphrase);

// DIR/<role>.key, which must hold a key of that role (WRONG_ROLE, kind refused).
Result<KeyFile> read_role_key(const std::filesystem::path& directory, Role role,
                              std::string_view passphrase);
// What is said of a file with a key for another role.
Error wrong_role(const std::filesystem::path& path, Role found);

}  // namespace kernelindex
