// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/corpus.h"
#include "support/temp_dir.h"

namespace kernelindex {
namespace {

namespace fs = std::filesystem;

constexpr PassphraseCost kCheap{1, 8192};
constexpr std::string_view kPassphrase = "correct horse battery staple";

class KeyFileTest : public testing::Test {
 protected:
  static KeyFile make(Role role = Role::importer) {
    return {role, "alice", SigningKey::from_seed(std::string(32, 's')).value()};
  }
  static std::string encoded(std::string_view passphrase) {
    return std::string(encode_key_file(make(), passphrase, kCheap).value().view());
  }
  fs::path create(std::string_view passphrase = {}) {
    const fs::path path = key_file_path(folder_.path(), Role::importer);
    const Status created = create_key_file(path, make(), passphrase, kCheap);
    EXPECT_TRUE(created.has_value()) << created.error().text();
    return path;
  }
  static std::string code(const fs::path& path) {
    const Result<KeyFile> file = read_key_file(path, {});
    return file ? "" : file.error().code;
  }

  test::TempDir folder_;
};

TEST_F(KeyFileTest, PlainFormIsCanonicalJsonAndANewline) {
  EXPECT_EQ(encoded({}), "{\"owner\":\"alice\",\"publicKey\":\"" +
                             make().key.public_key().base64() +
                             "\",\"role\":\"importer\",\"secret\":\"" +
                             to_base64(std::string(32, 's')) + "\",\"v\":1}\n");
}

TEST_F(KeyFileTest, RoundTripsPlainAndEncrypted) {
  for (const std::string_view passphrase : {std::string_view(), kPassphrase}) {
    const std::string text = encoded(passphrase);
    EXPECT_EQ(text.find(to_base64(std::string(32, 's'))) == std::string::npos, !passphrase.empty());
    const Result<KeyFile> file = decode_key_file(text, passphrase);
    ASSERT_TRUE(file.has_value()) << file.error().text();
    EXPECT_EQ(file->role, Role::importer);
    EXPECT_EQ(file->owner, "alice");
    EXPECT_EQ(file->key.public_key(), make().key.public_key());
    EXPECT_EQ(file->key.sign("m"), make().key.sign("m"));
  }
  EXPECT_NE(encoded(kPassphrase), encoded(kPassphrase)) << "salt and nonce are new each time";
  EXPECT_TRUE(decode_key_file(encoded({}), kPassphrase).has_value()) << "none needed, none used";
}

TEST_F(KeyFileTest, PassphraseIsNeededAndMustBeTheOne) {
  EXPECT_EQ(decode_key_file(encoded(kPassphrase), {}).error().code, "PASSPHRASE_NEEDED");
  EXPECT_EQ(decode_key_file(encoded(kPassphrase), "another").error().code, "WRONG_PASSPHRASE");
  EXPECT_EQ(decode_key_file(encoded(kPassphrase), "another").error().kind, ErrorKind::refused);
}

// No byte of an encrypted file can be changed; in a plain one only the labels role and owner can.
TEST_F(KeyFileTest, EveryChangedByteIsRefusedOrChangesALabel) {
  for (const std::string_view passphrase : {std::string_view(), kPassphrase}) {
    const std::string good = encoded(passphrase);
    std::size_t labels = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
      for (const int change : {0x01, 0x02, 0x20, 0x80}) {
        std::string changed = good;
        changed[i] = static_cast<char>(changed[i] ^ change);
        const Result<KeyFile> file = decode_key_file(changed, passphrase);
        if (!file) continue;
        EXPECT_TRUE(passphrase.empty()) << "byte " << i << " of " << good;
        EXPECT_EQ(file->key.public_key(), make().key.public_key());
        EXPECT_NE(file->owner, "alice") << "byte " << i;
        ++labels;
      }
    }
    EXPECT_EQ(labels > 0, passphrase.empty());
    for (std::size_t size = 0; size < good.size(); ++size) {
      EXPECT_FALSE(decode_key_file(good.substr(0, size), passphrase).has_value());
    }
    EXPECT_FALSE(decode_key_file(good + "\n", passphrase).has_value());
    EXPECT_FALSE(decode_key_file(" " + good, passphrase).has_value());
  }
}

TEST_F(KeyFileTest, IsReadStrictly) {
  const std::string good = encoded({});
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return decode_key_file(text, {});
  };
  EXPECT_TRUE(replaced("alice", "alice").has_value());
  EXPECT_EQ(replaced("\"v\":1", "\"v\":2").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced("\"v\":1", "\"v\":1.0").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced("\"v\":1", "\"v\":1,\"x\":1").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced("\"v\":1", "\"v\":1,\"v\":1").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced("importer", "emperor").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced("alice", "Alice").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced("\"alice\"", "\"\\u0061lice\"").error().code, "BAD_KEY_FILE");
  EXPECT_EQ(replaced(",\"role\"", ", \"role\"").error().code, "BAD_KEY_FILE");
  const std::string other = SigningKey::generate().public_key().base64();
  EXPECT_EQ(replaced(make().key.public_key().base64(), other).error().code, "KEY_MISMATCH");
  EXPECT_EQ(decode_key_file(std::string(kKeyFileBytes + 1, '\n'), {}).error().code, "BAD_KEY_FILE");
  EXPECT_EQ(decode_key_file("", {}).error().code, "BAD_KEY_FILE");
  EXPECT_EQ(decode_key_file("[]\n", {}).error().code, "BAD_KEY_FILE");
  EXPECT_EQ(decode_key_file("{\"secret\":\"\n", {}).error().code, "BAD_KEY_FILE");
  EXPECT_EQ(encode_key_file({Role::log, "No Slug", SigningKey::generate()}, {}).error().code,
            "BAD_KEY_FILE");
}

// An attacker's file must not make us spend the memory it names.
TEST_F(KeyFileTest, CostIsBoundedBeforeItIsSpent) {
  const std::string good = encoded(kPassphrase);
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return decode_key_file(text, kPassphrase).error().code;
  };
  EXPECT_EQ(with("\"memlimit\":8192", "\"memlimit\":9007199254740991"), "BAD_COST");
  EXPECT_EQ(with("\"opslimit\":1", "\"opslimit\":4294967295"), "BAD_COST");
  EXPECT_EQ(with("\"opslimit\":1", "\"opslimit\":0"), "BAD_KEY_FILE");
  EXPECT_EQ(with("argon2id13", "argon2i13"), "BAD_KEY_FILE");
}

TEST_F(KeyFileTest, IsMadeForItsOwnerAloneAndNeverOverwritten) {
  const fs::path path = create();
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  const std::string before = test::read_file(path);
  const Status again = create_key_file(path, {Role::importer, "bob", SigningKey::generate()}, {});
  EXPECT_EQ(again.error().code, "KEY_FILE_EXISTS");
  EXPECT_EQ(again.error().kind, ErrorKind::refused);
  EXPECT_EQ(test::read_file(path), before);
  EXPECT_TRUE(read_key_file(path, {}).has_value());
}

TEST_F(KeyFileTest, UmaskDoesNotMatter) {
  const mode_t old = ::umask(0777);
  const fs::path path = create();
  ::umask(old);
  EXPECT_TRUE(read_key_file(path, {}).has_value());
}

TEST_F(KeyFileTest, UnsafeFilesAreRefused) {
  const fs::path path = create();
  for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0610u, 0601u, 0777u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(code(path), "KEY_FILE_UNSAFE") << std::oct << mode;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
  EXPECT_EQ(code(path), "") << "stricter than 0600 is fine";
  const fs::path link = folder_ / "link.key";
  fs::create_symlink(path, link);
  EXPECT_EQ(code(link), "KEY_FILE_UNSAFE");
  const fs::path pipe = folder_ / "pipe.key";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(code(pipe), "KEY_FILE_UNSAFE") << "and reading it does not hang";
  EXPECT_EQ(code(folder_.path()), "KEY_FILE_UNSAFE");
  EXPECT_EQ(code(folder_ / "none.key"), "NO_KEY_FILE");
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    EXPECT_EQ(code(path), "KEY_FILE_UNSAFE") << "of someone else";
  }
}

TEST_F(KeyFileTest, LongFilesAreRefused) {
  const fs::path path = folder_ / "long.key";
  test::write_file(path, std::string(1 << 20, ' '));
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(code(path), "BAD_KEY_FILE");
}

TEST_F(KeyFileTest, AFailedWriteLeavesNothing) {
  const fs::path path = folder_ / "missing" / "root.key";
  const Status created = create_key_file(path, make(Role::root), {});
  EXPECT_EQ(created.error().code, "KEY_FILE_IO");
  EXPECT_EQ(created.error().kind, ErrorKind::system);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(KeyFileTest, RoleFileHoldsThatRole) {
  create(kPassphrase);
  EXPECT_TRUE(read_role_key(folder_.path(), Role::importer, kPassphrase).has_value());
  fs::rename(folder_ / "importer.key", folder_ / "root.key");
  EXPECT_EQ(read_role_key(folder_.path(), Role::root, kPassphrase).error().code, "WRONG_ROLE");
  EXPECT_EQ(read_role_key(folder_.path(), Role::log, kPassphrase).error().code, "NO_KEY_FILE");
  for (const Role role : kRoles) EXPECT_EQ(role_from_name(role_name(role)), role);
  EXPECT_FALSE(role_from_name("").has_value());
}

}  // namespace
}  // namespace kernelindex
