// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "ledger/object_reader.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/json_value.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kOwnerBytes = 100;
constexpr std::string_view kKdf = "argon2id13";
constexpr std::int64_t kSafeInteger = static_cast<std::int64_t>(limits::kSafeInteger);

// The seed in base64 never passes through the JSON reader, whose memory is not wiped: while the
// rest is read or written, this stands in its place.
constexpr std::string_view kSecretMember = "\"secret\":\"";
constexpr std::string_view kSecretStandIn = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
static_assert(kSecretStandIn.size() == (kSeedBytes + 2) / 3 * 4);

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::invalid, "BAD_KEY_FILE", {}, std::move(message),
              "Use the key file as it was written, or make a new key and let the root enrol it");
}

// ---- The document
// ----------------------------------------------------------------------------------

struct Encrypted {
  PassphraseCost cost;
  std::string salt;
  std::string nonce;
  std::string box;
};

// What the file says beside the secret.
struct Document {
  Role role{};
  std::string owner;
  PublicKey public_key;
  std::optional<Encrypted> encrypted;  // absent: a plain secret stands in the file
};

// The canonical JSON of the document. Without the box it is what the box authenticates.
std::string document_text(const Document& document, bool with_box) {
  json::Arena arena;
  json::ObjectBuilder out(arena);
  out.add("owner", document.owner)
      .add("publicKey", document.public_key.base64())
      .add("role", role_name(document.role))
      .add("v", json::Value(double{kVersion}));
  if (document.encrypted) {
    const Encrypted& encrypted = *document.encrypted;
    json::ObjectBuilder inner(arena);
    inner.add_if(with_box, "box", to_base64(encrypted.box))
        .add("kdf", kKdf)
        .add("memlimit", json::Value(static_cast<double>(encrypted.cost.memory_bytes)))
        .add("nonce", to_base64(encrypted.nonce))
        .add("opslimit", json::Value(static_cast<double>(encrypted.cost.passes)))
        .add("salt", to_base64(encrypted.salt));
    out.add("encrypted", inner.finish());
  } else {
    out.add("secret", kSecretStandIn);
  }
  return json::canonical(out.finish());
}

std::string read_bytes(ObjectReader& reader, std::string_view name, std::size_t count) {
  std::optional<std::string> bytes = from_base64(reader.text(name, (count + 2) / 3 * 4));
  if (bytes && bytes->size() == count) return std::move(*bytes);
  reader.fault(name, "BAD_MEMBER",
               "this must be the base64 of " + std::to_string(count) + " bytes");
  return {};
}

std::optional<Encrypted> read_encrypted(ObjectReader& reader) {
  ObjectReader inner(reader.required("encrypted"), reader.place_of("encrypted"));
  Encrypted encrypted;
  inner.expect_text("kdf", kKdf);
  encrypted.cost.passes = static_cast<std::uint64_t>(inner.integer("opslimit", 1, kSafeInteger));
  encrypted.cost.memory_bytes = inner.count("memlimit");
  encrypted.salt = read_bytes(inner, "salt", kSaltBytes);
  encrypted.nonce = read_bytes(inner, "nonce", kNonceBytes);
  encrypted.box = read_bytes(inner, "box", kSeedBytes + kSealBytes);
  if (const Status ok = inner.finish(); !ok) reader.fault(ok.error());
  return encrypted;
}

// Reads the text without its secret.
Result<Document> read_document(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena, {.bytes = kKeyFileBytes});
  if (!value) return bad("the key file is damaged: " + value.error().text());
  ObjectReader reader(*value, {});
  Document document;
  reader.integer("v", kVersion, kVersion);
  const std::optional<Role> role = role_from_name(reader.text("role", kOwnerBytes));
  if (!role) reader.fault("role", "BAD_MEMBER", "this is not a role");
  document.role = role.value_or(Role{});
  document.owner = reader.slug("owner", kOwnerBytes);
  const Result<PublicKey> public_key = PublicKey::parse(reader.text("publicKey", 44));
  if (!public_key) reader.fault("publicKey", "BAD_MEMBER", public_key.error().message);
  document.public_key = public_key.value_or(PublicKey());
  if (value->find("encrypted") != nullptr) {
    document.encrypted = read_encrypted(reader);
  } else {
    reader.expect_text("secret", kSecretStandIn);
  }
  if (const Status ok = reader.finish(); !ok) {
    return bad("the key file is damaged: " + ok.error().text());
  }
  if (document_text(document, true) != text) return bad("the key file is not canonical JSON");
  return document;
}

// A key file apart from its secret.
struct SplitFile {
  std::string text;         // with the stand-in
  std::string_view secret;  // base64, in the caller's bytes; empty when the file is encrypted
};

Result<SplitFile> split_secret(std::string_view bytes) {
  if (bytes.size() > kKeyFileBytes) return bad("the key file has more than 4096 bytes");
  if (!bytes.ends_with('\n')) return bad("the key file does not end with a newline");
  bytes.remove_suffix(1);
  const std::size_t member = bytes.find(kSecretMember);
  if (member == std::string_view::npos) return SplitFile{std::string(bytes), {}};
  const std::size_t place = member + kSecretMember.size();
  if (bytes.size() - place < kSecretStandIn.size()) return bad("the key file is cut short");
  SplitFile out;
  out.secret = bytes.substr(place, kSecretStandIn.size());
  out.text.append(bytes.substr(0, place)).append(kSecretStandIn);
  out.text.append(bytes.substr(place + out.secret.size()));
  return out;
}

Result<SigningKey> open_box(const Document& document, std::string_view passphrase) {
  if (passphrase.empty()) {
    return fail(ErrorKind::refused, "PASSPHRASE_NEEDED", {}, "the key is encrypted",
                "Give the file that holds its passphrase with --passphrase-file");
  }
  const Encrypted& encrypted = *document.encrypted;
  const Result<SecretBytes> key = derive_key(passphrase, encrypted.salt, encrypted.cost);
  if (!key) return fail(key.error());
  const std::optional<SecretBytes> seed =
      unseal(encrypted.box, document_text(document, false), encrypted.nonce, *key);
  if (!seed) {
    return fail(ErrorKind::refused, "WRONG_PASSPHRASE", {},
                "the passphrase is wrong, or the key file was changed");
  }
  return SigningKey::from_seed(seed->view());
}

// ---- Files
// -----------------------------------------------------------------------------------------

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool open() const { return number_ >= 0; }
  // False when the system reports, so late, that a write failed.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

std::unexpected<Error> system_error(const std::filesystem::path& path, const char* what,
                                    int error) {
  return fail(ErrorKind::system, "KEY_FILE_IO", path.string(),
              std::string("cannot ") + what + ": " + std::generic_category().message(error));
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A new name in a directory is durable only once the directory is synced.
bool sync_directory(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory.open() && ::fsync(directory.number()) == 0;
}

Status check_safe(const std::filesystem::path& path, const struct stat& info) {
  const char* fault = nullptr;
  if (!S_ISREG(info.st_mode)) {
    fault = "the key file is not a regular file";
  } else if (info.st_uid != ::geteuid()) {
    fault = "the key file belongs to someone else";
  } else if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    fault = "the key file is open to its group or to everyone";
  }
  if (fault == nullptr) return {};
  return fail(ErrorKind::refused, "KEY_FILE_UNSAFE", path.string(), fault,
              "Private keys are regular files of their owner, mode 0600");
}

Result<SecretBytes> read_secret_file(const std::filesystem::path& path) {
  // O_NONBLOCK: a pipe in place of the file must not hang us before it is recognised.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open()) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) {
      return fail(ErrorKind::not_found, "NO_KEY_FILE", path.string(), "there is no key file");
    }
    if (error == ELOOP) {
      return fail(ErrorKind::refused, "KEY_FILE_UNSAFE", path.string(),
                  "the key file is a symbolic link");
    }
    return system_error(path, "open the key file", error);
  }
  struct stat info {};
  if (::fstat(file.number(), &info) != 0) return system_error(path, "read the key file", errno);
  if (Status ok = check_safe(path, info); !ok) return fail(ok.error());
  SecretBytes buffer(kKeyFileBytes + 1);  // one more, to notice a longer file
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(file.number(), buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, "read the key file", errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return SecretBytes(buffer.view().substr(0, size));
}

}  // namespace

std::filesystem::path key_file_path(const std::filesystem::path& directory, Role role) {
  return directory / (std::string(role_name(role)) + ".key");
}

Result<SecretBytes> encode_key_file(const KeyFile& file, std::string_view passphrase,
                                    const PassphraseCost& cost) {
  Document document{file.role, file.owner, file.key.public_key(), std::nullopt};
  const SecretBytes seed = file.key.seed();
  if (!passphrase.empty()) {
    Encrypted encrypted{cost, random_bytes(kSaltBytes), random_bytes(kNonceBytes), {}};
    const Result<SecretBytes> key = derive_key(passphrase, encrypted.salt, cost);
    if (!key) return fail(key.error());
    document.encrypted = std::move(encrypted);
    document.encrypted->box =
        seal(seed.view(), document_text(document, false), document.encrypted->nonce, *key);
  }
  const std::string text = document_text(document, true) + "\n";
  // What this function writes it can read: an owner that is no slug is refused here.
  const Result<Document> read_back =
      read_document(std::string_view(text).substr(0, text.size() - 1));
  if (!read_back) return fail(read_back.error());
  SecretBytes bytes{std::string_view(text)};
  if (!document.encrypted) {
    const SecretBytes secret = secret_to_base64(seed.view());
    assert(secret.size() == kSecretStandIn.size());
    const std::size_t place = text.find(kSecretMember) + kSecretMember.size();
    std::memcpy(bytes.data() + place, secret.view().data(), secret.size());
  }
  return bytes;
}

Result<KeyFileLabel> decode_key_file_label(std::string_view bytes) {
  const Result<SplitFile> file = split_secret(bytes);
  if (!file) return fail(file.error());
  Result<Document> document = read_document(file->text);
  if (!document) return fail(document.error());
  return KeyFileLabel{document->role, std::move(document->owner), document->public_key,
                      document->encrypted.has_value()};
}

Result<KeyFile> decode_key_file(std::string_view bytes, std::string_view passphrase) {
  const Result<SplitFile> file = split_secret(bytes);
  if (!file) return fail(file.error());
  const std::string_view secret = file->secret;
  const Result<Document> document = read_document(file->text);
  if (!document) return fail(document.error());

  std::optional<SecretBytes> seed;
  if (!document->encrypted) {
    seed = secret_from_base64(secret);
    if (!seed) return bad("the secret is not canonical base64");
  }
  Result<SigningKey> key =
      document->encrypted ? open_box(*document, passphrase) : SigningKey::from_seed(seed->view());
  if (!key) return fail(key.error());
  if (key->public_key() != document->public_key) {
    return fail(ErrorKind::corrupt, "KEY_MISMATCH", {},
                "the public key in the key file is not that of its secret");
  }
  return KeyFile{document->role, document->owner, std::move(*key)};
}

Status create_key_file(const std::filesystem::path& path, const KeyFile& file,
                       std::string_view passphrase, const PassphraseCost& cost) {
  const Result<SecretBytes> bytes = encode_key_file(file, passphrase, cost);
  if (!bytes) return fail_in(path.string(), bytes.error());
  Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR));
  if (!out.open()) {
    if (errno == EEXIST) {
      return fail(ErrorKind::refused, "KEY_FILE_EXISTS", path.string(),
                  "there is a key file already, and keys are never overwritten");
    }
    return system_error(path, "create the key file", errno);
  }
  // The mode once more: the umask may have taken bits away.
  const bool written = ::fchmod(out.number(), S_IRUSR | S_IWUSR) == 0 &&
                       write_all(out.number(), bytes->view()) && ::fsync(out.number()) == 0 &&
                       out.close() && sync_directory(path);
  if (!written) {
    const int error = errno;
    ::unlink(path.c_str());
    return system_error(path, "write the key file", error);
  }
  return {};
}

Result<KeyFile> read_key_file(const std::filesystem::path& path, std::string_view passphrase) {
  const Result<SecretBytes> bytes = read_secret_file(path);
  if (!bytes) return fail(bytes.error());
  Result<KeyFile> file = decode_key_file(bytes->view(), passphrase);
  if (!file) return fail_in(path.string(), file.error());
  return file;
}

Result<KeyFileLabel> read_key_file_label(const std::filesystem::path& path) {
  const Result<SecretBytes> bytes = read_secret_file(path);
  if (!bytes) return fail(bytes.error());
  Result<KeyFileLabel> label = decode_key_file_label(bytes->view());
  if (!label) return fail_in(path.string(), label.error());
  return label;
}

Error wrong_role(const std::filesystem::path& path, Role found) {
  return {ErrorKind::refused, "WRONG_ROLE", path.string(),
          "the file holds a key for the role " + std::string(role_name(found)),
          "name another key file, or move this one to its place"};
}

Result<KeyFile> read_role_key(const std::filesystem::path& directory, Role role,
                              std::string_view passphrase) {
  const std::filesystem::path path = key_file_path(directory, role);
  Result<KeyFile> file = read_key_file(path, passphrase);
  if (file && file->role != role) {
    return fail(wrong_role(path, file->role));
  }
  return file;
}

}  // namespace kernelindex
