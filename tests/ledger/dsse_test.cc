// SPDX-License-Identifier: Apache-2.0
#include "ledger/dsse.h"

#include <gtest/gtest.h>

#include <chrono>

#include "ledger/vectors.h"
#include "schema/canonical_json.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

SigningKey seeded(char letter) { return SigningKey::from_seed(std::string(32, letter)).value(); }

const std::string kPayload = R"({"_type":"t","n":1,"text":"??>>~~"})";  // its base64 has + and /

Envelope make() { return sign_envelope(kPayload, seeded('k')).value(); }

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

std::string code(std::string_view bytes) {
  const Result<Envelope> envelope = parse_envelope(bytes);
  return envelope ? "" : envelope.error().code;
}

std::string url_safe(std::string base64) {
  for (char& c : base64) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return base64;
}

TEST(Dsse, PreAuthenticationEncodingAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("dsse/dsse.json");
  for (const json::Value& item : vectors.cases("pae")) {
    EXPECT_EQ(to_hex(pae(item.text("payload_type"), from_hex(item.text("body_hex")).value())),
              item.text("pae_hex"))
        << item.text("name");
  }
}

TEST(Dsse, EnvelopeAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("dsse/dsse.json");
  const json::Value& item = *vectors.root.find("ed25519_intoto_derived");
  const SigningKey key = SigningKey::from_seed(from_hex(item.text("seed_hex")).value()).value();
  const Result<Envelope> read = parse_envelope(json::canonical(*item.find("envelope")));
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->payload, item.text("statement_jcs_text"));
  EXPECT_EQ(sha256(read->payload).hex(), item.text("payload_sha256"));
  EXPECT_EQ(read->id().hex(), item.text("pae_sha256"));
  EXPECT_TRUE(read->verify(key.public_key()));
  EXPECT_EQ(read->key_id, "");
  const Envelope made = sign_envelope(read->payload, key).value();
  EXPECT_EQ(made.signature, read->signature);
  EXPECT_EQ(made.encode(), normalised(*read, key.public_key()).encode());
  // Another payload type, another algorithm.
  EXPECT_EQ(code(json::canonical(*vectors.root.find({"ecdsa_p256_example", "envelope"}))),
            "PAYLOAD_TYPE");
}

TEST(Dsse, KeptFormIsCanonicalAndReadBack) {
  const Envelope envelope = make();
  const std::string bytes = envelope.encode();
  EXPECT_EQ(
      bytes,
      "{\"payload\":\"" + to_base64(kPayload) +
          "\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[{\"keyid\":\"" +
          seeded('k').public_key().id().hex() + "\",\"sig\":\"" + to_base64(envelope.signature) +
          "\"}]}");
  EXPECT_EQ(read_stored_envelope(bytes).value().encode(), bytes);
  EXPECT_EQ(read_stored_envelope(bytes + " ").error().code, "NOT_NORMALISED");
  EXPECT_EQ(read_stored_envelope(bytes).value().id(), sha256(pae(kPayloadType, kPayload)));
  Envelope no_hint = envelope;
  no_hint.key_id.clear();
  EXPECT_EQ(read_stored_envelope(no_hint.encode()).error().code, "NOT_NORMALISED");
  EXPECT_EQ(read_stored_envelope(no_hint.encode()).error().kind, ErrorKind::corrupt);
}

// PITFALLS 38: one fact, one id, however the envelope is spelt.
TEST(Dsse, OtherSpellingsAreTheSameAttestation) {
  const Envelope envelope = make();
  const std::string payload = to_base64(kPayload), sig = to_base64(envelope.signature);
  ASSERT_NE(payload.find_first_of("+/"), std::string::npos);
  const std::string spellings[] = {
      replaced(envelope.encode(), payload, url_safe(payload)),
      replaced(envelope.encode(), sig, url_safe(sig)),
      "{\"signatures\": [{\"sig\": \"" + sig +
          "\"}],\n \"payloadType\": \"application/vnd.in-toto+json\", "
          "\"payload\": \"" +
          payload + "\"}",
      replaced(envelope.encode(), "{\"payload\"", "{\"extra\":[1,{}],\"payload\""),
      replaced(envelope.encode(), "\"keyid\":\"", "\"cert\":null,\"keyid\":\"x"),
  };
  for (const std::string& spelling : spellings) {
    const Result<Envelope> read = parse_envelope(spelling);
    ASSERT_TRUE(read.has_value()) << read.error().text() << spelling;
    EXPECT_EQ(read->id(), envelope.id());
    EXPECT_TRUE(read->verify(seeded('k').public_key()));
    EXPECT_EQ(normalised(*read, seeded('k').public_key()).encode(), envelope.encode());
    if (spelling != envelope.encode()) {
      EXPECT_FALSE(read_stored_envelope(spelling).has_value());
    }
  }
}

TEST(Dsse, MalformedEnvelopesAreRefused) {
  const std::string good = make().encode();
  const std::string payload = to_base64(kPayload), sig = to_base64(make().signature);
  const std::string item = good.substr(good.find("[{") + 1, good.find("}]") - good.find("[{"));
  const auto with = [&](std::string_view from, std::string_view to) {
    return code(replaced(good, from, to));
  };
  EXPECT_EQ(code(good), "");
  EXPECT_EQ(with(item, ""), "SIGNATURE_COUNT");
  EXPECT_EQ(with(item, item + "," + item), "SIGNATURE_COUNT");
  EXPECT_EQ(with("\"signatures\"", "\"signature\""), "SIGNATURE_COUNT");
  EXPECT_EQ(with("[" + item + "]", item), "SIGNATURE_COUNT");
  EXPECT_EQ(with("application/vnd.in-toto+json", "application/json"), "PAYLOAD_TYPE");
  EXPECT_EQ(with("\"payloadType\"", "\"payloadtype\""), "PAYLOAD_TYPE");
  EXPECT_EQ(with(sig, sig.substr(0, 84)), "BAD_ENVELOPE");
  EXPECT_EQ(with(sig, ""), "BAD_ENVELOPE");
  EXPECT_EQ(with("\"sig\"", "\"Sig\""), "BAD_ENVELOPE");
  EXPECT_EQ(with("\"keyid\":\"", "\"keyid\":7,\"k\":\""), "BAD_ENVELOPE");
  EXPECT_EQ(with("\"payload\"", "\"Payload\""), "BAD_ENVELOPE");
  EXPECT_EQ(with(payload, payload + "="), "BAD_ENVELOPE");
  EXPECT_EQ(with(payload, payload.substr(0, payload.size() - 1)), "BAD_ENVELOPE");
  EXPECT_EQ(with(payload, "+-=="), "BAD_ENVELOPE");
  EXPECT_EQ(with("{\"payload\"", "{\"payload\":\"\",\"payload\""), "DUPLICATE_KEY");
  EXPECT_EQ(code(""), "EMPTY_DOCUMENT");
  EXPECT_EQ(code("[]"), "SIGNATURE_COUNT");
  EXPECT_EQ(code(good + "x"), "BAD_JSON");
}

TEST(Dsse, PayloadMustBeCanonicalJson) {
  const SigningKey key = seeded('k');
  for (const std::string_view payload :
       {R"({"b":1,"a":2})", R"({"a": 1})", R"({"a":1.0})", R"({"a":"\u0061"})", "{}\n"}) {
    EXPECT_EQ(sign_envelope(std::string(payload), key).error().code, "PAYLOAD_NOT_CANONICAL")
        << payload;
    // Signed elsewhere, it is refused on reading.
    const Envelope foreign{std::string(payload), "", key.sign(pae(kPayloadType, payload))};
    EXPECT_EQ(code(foreign.encode()), "PAYLOAD_NOT_CANONICAL") << payload;
  }
  EXPECT_EQ(sign_envelope(R"({"a":1,"a":1})", key).error().code, "DUPLICATE_KEY");
  EXPECT_EQ(sign_envelope("hello", key).error().code, "BAD_JSON");
}

// Every flipped bit is refused, or leaves an envelope that says the same.
TEST(Dsse, EveryFlippedBitIsRefusedOrTheSame) {
  const Envelope envelope = make();
  const std::string good = envelope.encode();
  std::size_t same = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string changed = good;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const Result<Envelope> read = parse_envelope(changed);
    if (!read || !read->verify(seeded('k').public_key())) continue;
    EXPECT_EQ(normalised(*read, seeded('k').public_key()).encode(), good) << "bit " << bit;
    // The hint is not signed; the kept form is compared with the enrolled key by whoever keeps it.
    ++same;
  }
  EXPECT_GT(same, 0u) << "flips in the hint and in its name";
  EXPECT_LT(same, 64u * 8 + 5 * 8 + 1);
}

TEST(Dsse, SignatureIsOverTypeAndPayloadByTheOneKey) {
  const Envelope envelope = make();
  EXPECT_TRUE(envelope.verify(seeded('k').public_key()));
  EXPECT_FALSE(envelope.verify(seeded('j').public_key()));
  Envelope changed = envelope;
  changed.payload = replaced(changed.payload, "1", "2");
  EXPECT_FALSE(changed.verify(seeded('k').public_key()));
  const Envelope bare{kPayload, "", seeded('k').sign(kPayload)};
  EXPECT_FALSE(bare.verify(seeded('k').public_key())) << "signed without the type";
}

TEST(Dsse, HugeInputsAreRefusedBeforeWork) {
  const std::string item = "{\"sig\":\"" + to_base64(make().signature) + "\"},";
  std::string many =
      "{\"payload\":\"e30=\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[";
  for (int i = 0; i < 100'000; ++i) many += item;
  many.back() = ']';
  many += "}";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(code(many), "ENVELOPE_TOO_LARGE");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
  // As many as fit.
  std::string fitting = many.substr(0, 70) + "\"signatures\":[";
  fitting =
      "{\"payload\":\"e30=\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[";
  while (fitting.size() + item.size() < 4'000'000) fitting += item;
  fitting.back() = ']';
  EXPECT_EQ(code(fitting + "}"), "SIGNATURE_COUNT");
  const std::string longest = "\"" + std::string((1 << 20) - 2, 'x') + "\"";
  const Result<Envelope> largest = sign_envelope(longest, seeded('k'));
  ASSERT_TRUE(largest.has_value());
  EXPECT_EQ(code(largest->encode()), "");
  EXPECT_EQ(sign_envelope("\"x" + longest.substr(1), seeded('k')).error().code,
            "PAYLOAD_TOO_LARGE");
  const std::string sig = to_base64(std::string(64, 's'));
  EXPECT_EQ(code("{\"payload\":\"" + std::string(2'000'000, 'A') +
                 "\",\"payloadType\":\"application/vnd.in-toto+json\",\"signatures\":[{\"sig\":\"" +
                 sig + "\"}]}"),
            "PAYLOAD_TOO_LARGE");
}

}  // namespace
}  // namespace kernelindex
