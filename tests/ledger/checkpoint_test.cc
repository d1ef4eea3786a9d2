// SPDX-License-Identifier: Apache-2.0
#include "ledger/checkpoint.h"

#include <gtest/gtest.h>

#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

const std::string kOrigin = "example.org/ledger";

SigningKey seeded(char letter) { return SigningKey::from_seed(std::string(32, letter)).value(); }

Checkpoint checkpoint_of(std::uint64_t size) {
  return {kOrigin, {size, size == 0 ? empty_root() : sha256(std::to_string(size))}};
}

TEST(Checkpoint, TextRoundTripsUpToTheLargestSize) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10},
                                   std::uint64_t{1} << 53, limits::kTreeSize}) {
    const Checkpoint checkpoint = checkpoint_of(size);
    EXPECT_EQ(parse_checkpoint_text(checkpoint.text()).value(), checkpoint);
  }
  EXPECT_EQ(checkpoint_of(0).text(),
            "example.org/ledger\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n");
}

TEST(Checkpoint, TextHasOneSpelling) {
  const std::string root = to_base64(sha256("r").raw()) + "\n";
  const auto code = [](const std::string& text) {
    const Result<Checkpoint> read = parse_checkpoint_text(text);
    return read ? "" : read.error().code;
  };
  EXPECT_EQ(code("o\n1\n" + root), "");
  for (const std::string& bad : {std::string(),
                                 std::string("o\n1\n"),
                                 "\n1\n" + root,
                                 "o\n01\n" + root,
                                 "o\n+1\n" + root,
                                 "o\n-1\n" + root,
                                 "o\n 1\n" + root,
                                 "o\n1 \n" + root,
                                 "o\n\n" + root,
                                 "o\n0x1\n" + root,
                                 "o\n9223372036854775808\n" + root,
                                 "o\n18446744073709551616\n" + root,
                                 "o\n0\n" + root,
                                 "o\n1\n" + root.substr(0, 44),
                                 "o\n1\n" + root + "\n",
                                 "o\n1\n" + root + "extension\n",
                                 "o\n1\n" + to_base64(std::string(31, 'x')) + "\n",
                                 "o\n1\n" + to_base64(std::string(33, 'x')) + "\n",
                                 "o\r\n1\n" + root + "x",
                                 std::string(256, 'o') + "\n1\n" + root}) {
    EXPECT_EQ(code(bad), "BAD_CHECKPOINT") << bad;
  }
}

TEST(Checkpoint, StrictCases) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("derived/note_strict.json");
  const std::vector keys = {parse_vkey(vectors.root.text("vkey")).value()};
  std::size_t cases = 0;
  for (const json::Value& item : vectors.cases("cases")) {
    const std::string bytes = test::base64(*item.find("note_base64"));
    const std::string_view name = item.text("name");
    const bool note_only = name == "DEL in text" || name == "blank lines inside text";
    bool accepted = false;
    if (note_only) {
      const Result<Note> note = parse_note(bytes);
      accepted = note && verify_note(*note, keys).ok();
      EXPECT_FALSE(parse_checkpoint(bytes).has_value()) << name;
    } else {
      const Result<SignedCheckpoint> read = parse_checkpoint(bytes);
      accepted = read && verify_checkpoint(*read, keys).ok();
      if (read) {
        EXPECT_EQ(read->format(), bytes);
      }
    }
    // "policy" is the reader's choice. Ours: sizes end at 2^63 - 1, the origin names the key, there
    // are no extension lines, and a note may have 64 signature lines.
    const bool expected = item.text("expect") == "accept" || name == "17 signature lines";
    EXPECT_EQ(accepted, expected) << name << ": " << item.text("why");
    ++cases;
  }
  EXPECT_EQ(cases, 36u);
}

TEST(Checkpoint, PublishedLogs) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("note/checkpoints.json");
  for (const json::Value& item : vectors.cases("signed")) {
    const SignedCheckpoint read =
        parse_checkpoint(test::base64(*item.find("checkpoint_base64"))).value();
    const std::vector keys = {parse_vkey(item.text("vkey")).value()};
    EXPECT_TRUE(verify_note(read.note(), keys).ok());
    const bool differs = item.find("origin_differs_from_key_name") != nullptr;
    EXPECT_EQ(verify_checkpoint(read, keys).code, differs ? "ORIGIN_MISMATCH" : "");
  }
  for (const json::Value& item : vectors.cases("other_algorithms")) {
    const SignedCheckpoint read =
        parse_checkpoint(test::base64(*item.find("checkpoint_base64"))).value();
    EXPECT_EQ(parse_vkey(item.text("vkey")).error().code, "UNKNOWN_KEY_TYPE");
    EXPECT_EQ(verify_note(read.note(), {}).code, "NOT_SIGNED") << "unknown is not malformed";
  }
  for (const json::Value& item : vectors.cases("body_parse")) {
    const std::string text = test::base64(*item.find("body_base64"));
    EXPECT_FALSE(parse_checkpoint_text(text).has_value()) << item.text("name");
  }
}

TEST(Checkpoint, SignedByBothKeysAroundAChange) {
  const SigningKey old_key = seeded('o'), new_key = seeded('n');
  const SigningKey* both[] = {&old_key, &new_key};
  const SignedCheckpoint made = sign_checkpoint(checkpoint_of(7), both);
  const Result<SignedCheckpoint> read = parse_checkpoint(made.format());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->checkpoint, checkpoint_of(7));
  const VerifierKey old_vkey = log_verifier_key(kOrigin, old_key.public_key());
  const VerifierKey new_vkey = log_verifier_key(kOrigin, new_key.public_key());
  EXPECT_EQ(verify_checkpoint(*read, std::vector{old_vkey}).log_signatures, 1u);
  EXPECT_EQ(verify_checkpoint(*read, std::vector{new_vkey}).log_signatures, 1u);
  EXPECT_EQ(verify_checkpoint(*read, std::vector{old_vkey, new_vkey}).log_signatures, 2u);
  const SigningKey* one[] = {&old_key};
  const SignedCheckpoint before = sign_checkpoint(checkpoint_of(6), one);
  EXPECT_EQ(verify_checkpoint(before, std::vector{new_vkey}).code, "NOT_SIGNED");
}

TEST(Checkpoint, CosignaturesCountOnceEachAndNeverForTheLog) {
  const SigningKey log = seeded('l'), first = seeded('1'), second = seeded('2');
  const SigningKey* keys[] = {&log};
  SignedCheckpoint checkpoint = sign_checkpoint(checkpoint_of(9), keys);
  const std::string text = checkpoint.checkpoint.text();
  checkpoint.signatures.push_back(cosign_note(text, "w1.example", 100, first));
  checkpoint.signatures.push_back(cosign_note(text, "w2.example", 200, second));
  const std::vector log_keys = {log_verifier_key(kOrigin, log.public_key())};
  const std::vector witnesses = {
      VerifierKey{"w2.example", NoteAlgorithm::cosignature, second.public_key()},
      VerifierKey{"w3.example", NoteAlgorithm::cosignature, seeded('3').public_key()}};

  const Result<SignedCheckpoint> read = parse_checkpoint(checkpoint.format());
  ASSERT_TRUE(read.has_value());
  const CheckpointVerdict verdict = verify_checkpoint(*read, log_keys, witnesses);
  ASSERT_TRUE(verdict.ok()) << verdict.detail;
  ASSERT_EQ(verdict.cosignatures.size(), 1u);
  EXPECT_EQ(verdict.cosignatures[0].witness, 0u);
  EXPECT_EQ(verdict.cosignatures[0].time, 200u);

  SignedCheckpoint unsigned_by_log = checkpoint;
  unsigned_by_log.signatures.erase(unsigned_by_log.signatures.begin());
  EXPECT_EQ(verify_checkpoint(unsigned_by_log, log_keys, witnesses).code, "NOT_SIGNED");
  EXPECT_TRUE(verify_checkpoint(unsigned_by_log, log_keys, witnesses).cosignatures.empty());

  SignedCheckpoint forged = checkpoint;
  forged.signatures[2].bytes[20] = static_cast<char>(forged.signatures[2].bytes[20] ^ 1);
  EXPECT_EQ(verify_checkpoint(forged, log_keys, witnesses).code, "INVALID_SIGNATURE");
  EXPECT_TRUE(verify_checkpoint(forged, log_keys).ok()) << "of a witness that nobody asked about";
}

// A cosignature is no log signature: the message differs, and so does the type of the key.
TEST(Checkpoint, ACosignatureIsNoLogSignature) {
  const SigningKey log = seeded('l');
  SignedCheckpoint checkpoint{checkpoint_of(9), {}};
  checkpoint.signatures.push_back(cosign_note(checkpoint.checkpoint.text(), kOrigin, 5, log));
  const VerifierKey log_key = log_verifier_key(kOrigin, log.public_key());
  EXPECT_EQ(verify_checkpoint(checkpoint, std::vector{log_key}).code, "NOT_SIGNED");
  checkpoint.signatures[0].key_id = log_key.key_id();
  EXPECT_EQ(verify_checkpoint(checkpoint, std::vector{log_key}).code, "INVALID_SIGNATURE");
  const VerifierKey as_witness{kOrigin, NoteAlgorithm::cosignature, log.public_key()};
  EXPECT_EQ(verify_checkpoint(checkpoint, std::vector{as_witness}).code, "ORIGIN_MISMATCH");
}

}  // namespace
}  // namespace kernelindex
