// SPDX-License-Identifier: Apache-2.0
#include "ledger/note.h"

#include <gtest/gtest.h>

#include <chrono>

#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

// The verdict in the words of the vectors.
std::string outcome(std::string_view bytes, const std::vector<VerifierKey>& keys) {
  const Result<Note> note = parse_note(bytes);
  if (!note) return "malformed";
  EXPECT_EQ(note->format(), bytes) << "one spelling";
  const NoteVerdict verdict = verify_note(*note, keys);
  if (verdict.ok()) return "ok";
  if (verdict.code == "NOT_SIGNED") return "unverified";
  if (verdict.code == "AMBIGUOUS_KEY") return "ambiguous_key";
  return "invalid_signature";
}

std::vector<VerifierKey> keys_of(const json::Value& list) {
  std::vector<VerifierKey> keys;
  for (const json::Value& item : list.array()) keys.push_back(parse_vkey(item.string()).value());
  return keys;
}

SigningKey test_key() {
  return SigningKey::from_seed(
             from_hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").value())
      .value();
}

const std::string kText = "example.org/ledger\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";

TEST(Note, OpensAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("note/signed_note.json");
  for (const json::Value& item : vectors.cases("open")) {
    const std::string bytes = test::base64(*item.find("note_base64"));
    const std::vector<VerifierKey> keys = keys_of(*item.find("trusted_vkeys"));
    EXPECT_EQ(outcome(bytes, keys), item.text("result")) << item.text("name");
    if (item.text("result") != "ok") continue;
    const NoteVerdict verdict = verify_note(parse_note(bytes).value(), keys);
    ASSERT_EQ(verdict.verified.size(), item.find("verified")->array().size());
    for (std::size_t i = 0; i < verdict.verified.size(); ++i) {
      EXPECT_TRUE(keys[verdict.verified[i].key].text().starts_with(
          item.find("verified")->array()[i].string()));
    }
  }
  for (const json::Value& item : vectors.cases("spec_examples_without_public_key")) {
    EXPECT_EQ(outcome(test::base64(*item.find("note_base64")), {}), "unverified");
  }
}

TEST(Note, KeysAndSignaturesAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("note/signed_note.json");
  for (const json::Value& item : vectors.cases("keys")) {
    const Result<VerifierKey> key = parse_vkey(item.text("vkey"));
    ASSERT_TRUE(key.has_value());
    EXPECT_EQ(key->name, item.text("name"));
    EXPECT_EQ(to_hex(key->public_key.raw()), item.text("public_key_hex"));
    EXPECT_EQ(key->text(), item.text("vkey"));
  }
  for (const json::Value& item : vectors.cases("bad_vkeys")) {
    EXPECT_FALSE(parse_vkey(item.text("vkey")).has_value()) << item.text("why");
  }
  const json::Value& signing = *vectors.root.find("signing");
  const SigningKey key = SigningKey::from_seed(from_hex(signing.text("seed_hex")).value()).value();
  Note note{test::base64(*signing.find("text_base64")), {}};
  note.signatures.push_back(sign_note(note.text, "PeterNeumann", key));
  EXPECT_EQ(note.format(), test::base64(*signing.find("note_base64")));
}

// FORMATS section 2, worked example; section 4, its cosignature.
TEST(Note, WorkedExample) {
  const SigningKey key = test_key();
  const VerifierKey vkey{"example.org/ledger", NoteAlgorithm::ed25519, key.public_key()};
  EXPECT_EQ(vkey.text(),
            "example.org/ledger+47c1c1b2+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea");
  EXPECT_EQ(
      sign_note(kText, vkey.name, key).line(),
      "\u2014 example.org/ledger "
      "R8HBsr5Yq1bJbKjt9/3qQZ0tBiQFsx0UyVx+0FDhuvtCR+FnbdkRBOV3NdluDNnaHQSMSU5sy44b7mjNJb7R8A/"
      "nMQw=\n");
  const NoteSignature cosignature =
      cosign_note(kText, "witness.example.org/w1", 1'700'000'000, key);
  EXPECT_EQ(cosignature.line(),
            "\u2014 witness.example.org/w1 "
            "66EmNAAAAABlU/"
            "EAkWxojXP9xPTTsJeXbqKYvMizGg2745Xu5IhqrDx6YX1O7i4CmSGByr74U3ZvFQ5ZjwV2ptr1U5Ae3sTdLWUT"
            "Cg==\n");
  EXPECT_EQ(cosignature_time(cosignature), 1'700'000'000u);
}

TEST(Note, CosignaturesAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("note/cosignature.json");
  for (const json::Value& item : vectors.cases("verified")) {
    const Note note = parse_note(test::base64(*item.find("checkpoint_base64"))).value();
    const std::vector keys = {parse_vkey(item.text("vkey")).value()};
    EXPECT_EQ(keys[0].algorithm, NoteAlgorithm::cosignature);
    const NoteVerdict verdict = verify_note(note, keys);
    ASSERT_TRUE(verdict.ok()) << verdict.detail;
    EXPECT_EQ(verdict.verified[0].time, test::u64(*item.find("timestamp")));
    EXPECT_EQ(cosignature_message(note.text, verdict.verified[0].time),
              test::base64(*item.find("signed_message_base64")));
  }
  for (const json::Value& item : vectors.cases("parse_only")) {
    const Note note = parse_note(test::base64(*item.find("checkpoint_base64"))).value();
    EXPECT_EQ(note.signatures.back().name, item.text("cosigner"));
    EXPECT_EQ(cosignature_time(note.signatures.back()), test::u64(*item.find("timestamp")));
  }
  for (const json::Value& item : vectors.cases("timestamp_extraction")) {
    const Result<std::vector<NoteSignature>> lines = parse_signature_lines(
        "\u2014 w.example " + std::string(item.text("signature_base64")) + "\n");
    const json::Value* time = item.find("timestamp");
    if (time != nullptr) {
      EXPECT_EQ(cosignature_time(lines.value()[0]), test::u64(*time));
    } else if (lines) {
      EXPECT_FALSE(cosignature_time((*lines)[0]).has_value());
    }
  }
  // The same 32 bytes as a key of another type are another key.
  VerifierKey key =
      parse_vkey(vectors.root.find({"vkey_conversion", "ed25519_vkey"})->string()).value();
  const NoteKeyId plain = key.key_id();
  key.algorithm = NoteAlgorithm::cosignature;
  EXPECT_NE(key.key_id(), plain);
}

TEST(Note, CosignatureTimesOutOfRangeAreNone) {
  NoteSignature signature = cosign_note(kText, "w.example", 1, test_key());
  EXPECT_EQ(cosignature_time(signature), 1u);
  const VerifierKey key{"w.example", NoteAlgorithm::cosignature, test_key().public_key()};
  signature.bytes.replace(0, 8, std::string(8, '\0'));
  EXPECT_FALSE(cosignature_time(signature).has_value());
  EXPECT_EQ(verify_note({kText, {signature}}, std::vector{key}).code, "INVALID_SIGNATURE");
  signature.bytes.replace(0, 8, std::string(8, '\xff'));
  EXPECT_FALSE(cosignature_time(signature).has_value());
  signature.bytes.pop_back();
  EXPECT_FALSE(cosignature_time(signature).has_value());
}

TEST(Note, UnknownLinesAreCarriedAndKnownOnesMustHold) {
  const SigningKey log = test_key(), other = SigningKey::generate();
  const VerifierKey key{"log.example", NoteAlgorithm::ed25519, log.public_key()};
  Note note{kText,
            {sign_note(kText, "other.example", other), sign_note(kText, "log.example", log)}};
  EXPECT_TRUE(verify_note(note, std::vector{key}).ok());
  EXPECT_EQ(verify_note(note, {}).code, "NOT_SIGNED");
  // Same name, other key id; same key id, other name: unknown both.
  Note half{kText, {sign_note(kText, "log.example", other)}};
  half.signatures.push_back(sign_note(kText, "log.example", log));
  half.signatures[1].name = "log.examplf";
  EXPECT_EQ(verify_note(half, std::vector{key}).code, "NOT_SIGNED");

  note.signatures.push_back(note.signatures[1]);
  EXPECT_EQ(verify_note(note, std::vector{key}).code, "REPEATED_SIGNATURE");
  note.signatures[2].bytes[0] = static_cast<char>(note.signatures[2].bytes[0] ^ 1);
  EXPECT_FALSE(verify_note(note, std::vector{key}).ok()) << "a forged twin";
  std::swap(note.signatures[1], note.signatures[2]);
  EXPECT_EQ(verify_note(note, std::vector{key}).code, "INVALID_SIGNATURE")
      << "and before the good one";
  EXPECT_TRUE(verify_note(note, std::vector{key}).verified.empty());
}

TEST(Note, ManyLinesUpToTheLimit) {
  const SigningKey log = test_key();
  const std::vector keys = {VerifierKey{"log.example", NoteAlgorithm::ed25519, log.public_key()}};
  for (const std::size_t lines : {1u, 2u, 17u, 64u}) {
    Note note{kText, {}};
    for (std::size_t i = 1; i < lines; ++i) {
      note.signatures.push_back({"w" + std::to_string(i), {1, 2, 3, 4}, std::string(72, 'x')});
    }
    note.signatures.push_back(sign_note(kText, "log.example", log));
    EXPECT_EQ(outcome(note.format(), keys), "ok") << lines;
    note.signatures.insert(note.signatures.begin(), 65 - lines, {"w", {1, 2, 3, 4}, "x"});
    EXPECT_EQ(parse_note(note.format()).error().code, "TOO_MANY_SIGNATURES");
  }
}

// Each flipped bit of a signed note is refused; nothing reads as the same text with another
// meaning.
TEST(Note, EveryFlippedBitIsRefused) {
  const SigningKey log = test_key();
  const std::vector keys = {
      VerifierKey{"example.org/ledger", NoteAlgorithm::ed25519, log.public_key()}};
  Note note{kText, {sign_note(kText, "example.org/ledger", log)}};
  const std::string good = note.format();
  ASSERT_EQ(outcome(good, keys), "ok");
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string changed = good;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(outcome(changed, keys), "ok") << "bit " << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(outcome(good.substr(0, size), keys), "ok") << size;
  }
}

TEST(Note, MalformedLinesAreRefused) {
  const std::string line = sign_note(kText, "log.example", test_key()).line();
  const std::string base64 = line.substr(line.rfind(' ') + 1);
  const auto code = [](const std::string& lines) {
    const Result<std::vector<NoteSignature>> read = parse_signature_lines(lines);
    return read ? "" : read.error().code;
  };
  EXPECT_EQ(code(line), "");
  EXPECT_EQ(code(line + line), "");
  EXPECT_EQ(code("\u2014 " + std::string(255, 'n') + " " + base64), "");
  const std::vector<std::string> refused = {std::string(),
                                            std::string("\n"),
                                            line.substr(0, line.size() - 1),
                                            line + "\n",
                                            "- log.example " + base64,
                                            "\u2014log.example " + base64,
                                            "\u2014  " + base64,
                                            "\u2014 log.example \n",
                                            "\u2014 log.example\n",
                                            "\u2014 a+b " + base64,
                                            "\u2014 a\u00a0b " + base64,
                                            "\u2014 a\x7f " + base64,
                                            "\u2014 " + std::string(256, 'n') + " " + base64,
                                            "\u2014 log.example AAAA\n",
                                            "\u2014 log.example AAAAAA==\n",
                                            "\u2014 log.example " + std::string(8000, 'A') + "\n"};
  for (const std::string& bad : refused) {
    EXPECT_EQ(code(bad), "BAD_NOTE") << bad.substr(0, 60);
  }
  EXPECT_EQ(code("\u2014 a b " + base64), "NOTE_BASE64");
  EXPECT_EQ(code("\u2014 log.example  " + base64), "NOTE_BASE64");
  EXPECT_EQ(code("\u2014 log.example AAAAAAB=\n"), "NOTE_BASE64") << "bits after the last byte";
}

TEST(Note, HugeInputsAreRefusedBeforeWork) {
  const std::string line = sign_note(kText, "log.example", test_key()).line();
  std::string huge = kText + "\n";
  while (huge.size() < 100'000'000) huge += line;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_note(huge).error().code, "NOTE_TOO_LARGE");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
  EXPECT_EQ(parse_note(std::string(limits::kNoteBytes, '\n')).error().code, "BAD_NOTE");
}

TEST(VerifierKey, IsReadStrictly) {
  const std::string good =
      VerifierKey{"example.org/ledger", NoteAlgorithm::ed25519, test_key().public_key()}.text();
  EXPECT_TRUE(parse_vkey(good).has_value());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {1, 2, 0x20}) {
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ change);
      EXPECT_FALSE(parse_vkey(changed).has_value()) << changed;
    }
  }
  for (const char* bad : {"", "+", "++", "a+b", "a+00000000+", "a+00000000+AQ=="}) {
    EXPECT_EQ(parse_vkey(bad).error().code, "BAD_VKEY") << bad;
  }
  EXPECT_FALSE(parse_vkey(good + "A").has_value());
  EXPECT_FALSE(parse_vkey(" " + good).has_value());
  // A small-order key, with the right key id.
  const VerifierKey nobody{"example.org/ledger", NoteAlgorithm::ed25519, PublicKey()};
  EXPECT_EQ(parse_vkey(nobody.text()).error().code, "BAD_PUBLIC_KEY");
}

}  // namespace
}  // namespace kernelindex
