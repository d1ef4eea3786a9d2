// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicates.h"

#include <gtest/gtest.h>

#include <set>

#include "ledger/dsse.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

SigningKey seeded(char letter) { return SigningKey::from_seed(std::string(32, letter)).value(); }
PublicKey public_key(char letter) { return seeded(letter).public_key(); }

Binding binding(const PublicKey& signer) {
  return {sha256("ledger"), signer.id(), TreeHead{3, sha256("root")}};
}

Attestation founding() {
  LedgerFounding founding{"kernelindex.local/0011aabb", "alice", public_key('r'), public_key('l'),
                          20};
  return {public_key('r').id(), {std::nullopt, public_key('r').id(), std::nullopt}, founding};
}

Attestation enrolment() {
  KeyEnrolment enrolment{
      public_key('n'), Role::runner, "bob", {"nvidia-b200", "nvidia-h200"}, {}, "new"};
  enrolment.protocols = {sha256("protocol")};
  return {public_key('n').id(), binding(public_key('r')), KeyChange{enrolment}};
}

Attestation approval() {
  return {sha256("harness"), binding(public_key('r')),
          KeyChange{DigestApproval{DigestApproval::Kind::harness, ""}}};
}

Attestation revocation() {
  return {public_key('n').id(), binding(public_key('r')), KeyChange{Revocation{"stolen", 41}}};
}

Attestation import() {
  ImportStatement import;
  import.first = 8;
  import.end = 20;
  import.leaves = sha256("leaves");
  import.parser = "sol-execbench";
  import.parser_version = "1";
  import.options = R"({"top":10})";
  import.snapshots = {sha256("first"), sha256("second")};
  import.counts = {{"manifests", 12}, { "quarantined", 0 }};
  import.report = sha256("report");
  return {sha256("second"), binding(public_key('i')), import};
}

std::vector<Attestation> all() {
  return {founding(), enrolment(), approval(), revocation(), import()};
}

std::string code_of(const std::string& payload) {
  const Result<Attestation> read = parse_attestation(payload);
  return read ? "" : read.error().code;
}

std::string code(const Attestation& attestation, std::string_view from, std::string_view to) {
  std::string text = attestation.encode().value();
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from << " in " << text;
  text.replace(place, from.size(), to);
  // A changed member may change the order of members: canonical again, so that only the change
  // counts.
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena);
  return code_of(value ? json::canonical(*value) : text);
}

TEST(Predicates, RoundTrip) {
  for (const Attestation& attestation : all()) {
    const Result<std::string> payload = attestation.encode();
    ASSERT_TRUE(payload.has_value()) << payload.error().text();
    const Result<Attestation> read = parse_attestation(*payload);
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(*read, attestation);
    EXPECT_EQ(read->encode().value(), *payload);
    EXPECT_TRUE(sign_envelope(*payload, seeded('r')).has_value());
  }
}

// The bytes of each shape, fixed: a change here is a new version of the predicate.
TEST(Predicates, BytesAreThoseOfTheFormat) {
  const std::string head = R"({"_type":"https://in-toto.io/Statement/v1","predicate":)";
  const auto subject = [](const Digest& digest) {
    return R"(,"subject":[{"digest":{"sha256":")" + digest.hex() + R"("}}]})";
  };
  const std::string bound = R"("ledger":")" + sha256("ledger").text() + R"(")";
  const std::string seen =
      R"("seen":{"root":")" + sha256("root").text() + R"(","size":3},"signer":")";
  const std::string root_id = public_key('r').id().hex();

  EXPECT_EQ(
      founding().encode().value(),
      head +
          R"({"formats":{"entry":1,"manifest":"kernelindex.dev/v1alpha1","tileHeight":8},)"
          R"("ledger":null,"logKey":")" +
          public_key('l').base64() +
          R"(","notesPerDay":20,"origin":"kernelindex.local/0011aabb","owner":"alice","rootKey":")" +
          public_key('r').base64() + R"(","seen":null,"signer":")" + root_id + R"("})" +
          R"(,"predicateType":"https://kernelindex.dev/predicates/ledger/v1")" +
          subject(public_key('r').id()));
  EXPECT_EQ(enrolment().encode().value(),
            head + R"({"hardware":["nvidia-b200","nvidia-h200"],)" + bound +
                R"(,"owner":"bob","protocols":[")" + sha256("protocol").text() +
                R"("],"public":")" + public_key('n').base64() +
                R"(","reason":"new","role":"runner",)" + seen + root_id + R"("})" +
                R"(,"predicateType":"https://kernelindex.dev/predicates/key/v1")" +
                subject(public_key('n').id()));
  EXPECT_EQ(approval().encode().value(),
            head + R"({"approve":"harness",)" + bound + "," + seen + root_id + R"("})" +
                R"(,"predicateType":"https://kernelindex.dev/predicates/key/v1")" +
                subject(sha256("harness")));
  EXPECT_EQ(revocation().encode().value(),
            head + "{" + bound + R"(,"revoke":{"reason":"stolen","voidFrom":41},)" + seen +
                root_id + R"("})" +
                R"(,"predicateType":"https://kernelindex.dev/predicates/key/v1")" +
                subject(public_key('n').id()));
  EXPECT_EQ(import().encode().value(),
            head + R"({"counts":{"manifests":12,"quarantined":0},"end":20,"first":8,"leaves":")" +
                sha256("leaves").text() + R"(",)" + bound +
                R"(,"options":{"top":10},"parser":"sol-execbench","parserVersion":"1","report":")" +
                sha256("report").text() + R"(",)" + seen + public_key('i').id().hex() +
                R"(","snapshots":[")" + sha256("first").text() + R"(",")" +
                sha256("second").text() + R"("]})" +
                R"(,"predicateType":"https://kernelindex.dev/predicates/import/v1")" +
                subject(sha256("second")));
}

TEST(Predicates, MembersAreAClosedSetEverywhere) {
  for (const Attestation& attestation : all()) {
    EXPECT_EQ(code(attestation, R"("signer":)", R"("extra":1,"signer":)"), "UNKNOWN_MEMBER");
    EXPECT_EQ(code(attestation, R"("signer":)", R"("Signer":)"), "MISSING_MEMBER");
    EXPECT_EQ(code(attestation, R"("ledger":)", R"("Ledger":)"), "MISSING_MEMBER");
    EXPECT_EQ(code(attestation, R"("seen":)", R"("Seen":)"), "MISSING_MEMBER");
  }
  EXPECT_EQ(code(founding(), R"("entry":1)", R"("entry":1,"row":1)"), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(revocation(), R"("voidFrom":41)", R"("voidFrom":41,"x":1)"), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":3,"x":1)"), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(approval(), R"("approve":)", R"("revoke":{"reason":"r"},"approve":)"),
            "UNKNOWN_MEMBER");
  EXPECT_EQ(code(import(), "import/v1", "import/v2"), "UNKNOWN_PREDICATE");
  EXPECT_EQ(code(import(), "kernelindex.dev/predicates", "example.com/predicates"),
            "UNKNOWN_PREDICATE");
  EXPECT_EQ(code(import(), "import/v1", "key/v1"), "MISSING_MEMBER") << "read by the type it names";
}

TEST(Predicates, BindingIsNullInTheFoundingAlone) {
  const std::string ledger = "\"" + sha256("ledger").text() + "\"";
  EXPECT_EQ(code(founding(), R"("ledger":null)", R"("ledger":)" + ledger), "BAD_MEMBER");
  EXPECT_EQ(code(founding(), R"("seen":null)", R"("seen":{})"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("ledger":)" + ledger, R"("ledger":null)"), "BAD_DIGEST");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":-1)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":3.5)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":"3")"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":9007199254740991)"), "");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":9007199254740992)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("size":3)", R"("size":1e300)"), "BAD_MEMBER");
  const std::string signer = public_key('i').id().hex();
  EXPECT_EQ(code(import(), R"("signer":")" + signer, R"("signer":"sha256:)" + signer),
            "BAD_DIGEST");
}

TEST(Predicates, FoundingIsByItsOwnRootKeyInFormatsThatAreKnown) {
  Attestation other = founding();
  other.binding.signer = public_key('x').id();
  EXPECT_EQ(other.encode().error().code, "SIGNER_MISMATCH");
  other = founding();
  other.subject = public_key('x').id();
  EXPECT_EQ(other.encode().error().code, "SUBJECT_MISMATCH");
  EXPECT_EQ(code(founding(), R"("entry":1)", R"("entry":2)"), "UNSUPPORTED_FORMAT");
  EXPECT_EQ(code(founding(), "v1alpha1", "v2"), "UNSUPPORTED_FORMAT");
  EXPECT_EQ(code(founding(), R"("tileHeight":8)", R"("tileHeight":4)"), "UNSUPPORTED_FORMAT");
  EXPECT_EQ(code(founding(), "kernelindex.local/", "kernelindex local/"), "BAD_MEMBER");
  EXPECT_EQ(code(founding(), R"("notesPerDay":20)", R"("notesPerDay":-1)"), "BAD_MEMBER");
  EXPECT_EQ(code(founding(), "\"alice\"", "\"Alice\""), "BAD_MEMBER");
  EXPECT_EQ(code(founding(), public_key('l').base64(), to_base64(std::string(32, '\0'))),
            "BAD_MEMBER")
      << "a small-order key is never enrolled";
}

TEST(Predicates, EnrolmentIsAboutItsKey) {
  Attestation other = enrolment();
  other.subject = public_key('x').id();
  EXPECT_EQ(other.encode().error().code, "SUBJECT_MISMATCH");
  EXPECT_EQ(code(enrolment(), R"("role":"runner")", R"("role":"emperor")"), "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("role":"runner")", R"("role":"importer")"), "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("nvidia-b200","nvidia-h200")", R"("nvidia-h200","nvidia-b200")"),
            "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("nvidia-b200","nvidia-h200")", R"("nvidia-b200","nvidia-b200")"),
            "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("nvidia-b200","nvidia-h200")", ""), "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("nvidia-b200")", "7"), "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("reason":"new")", R"("reason":"")"), "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), R"("reason":"new")", R"("reason":null)"), "BAD_MEMBER");
  EXPECT_EQ(code(enrolment(), public_key('n').base64(), to_base64(std::string(32, '\1'))),
            "BAD_MEMBER");
  EXPECT_EQ(code(approval(), R"("approve":"harness")", R"("approve":"everything")"), "BAD_MEMBER");
  EXPECT_EQ(code(revocation(), R"("reason":"stolen",)", ""), "MISSING_MEMBER");
  EXPECT_EQ(code(revocation(), R"("voidFrom":41)", R"("voidFrom":null)"), "BAD_MEMBER");
}

TEST(Predicates, ImportNamesARangeAndItsSnapshots) {
  Attestation other = import();
  other.subject = sha256("first");
  EXPECT_EQ(other.encode().error().code, "SUBJECT_MISMATCH");
  EXPECT_EQ(code(import(), R"("end":20)", R"("end":7)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("end":20)", R"("end":8)"), "") << "it only names the report";
  EXPECT_EQ(code(import(), R"("first":8)", R"("first":21)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("top":10)", R"("top":[1,{"a":null}])"), "");
  EXPECT_EQ(code(import(), R"({"top":10})", "[]"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("manifests":12)", R"("manifests":1.5)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"("manifests":12)", R"("manifests":-1)"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), R"({"manifests":12,"quarantined":0})", "{}"), "");
  EXPECT_EQ(code(import(), R"({"manifests":12,"quarantined":0})", "[]"), "BAD_MEMBER");
  EXPECT_EQ(code(import(), "\"" + sha256("first").text() + "\"", "\"sha256:00\""), "BAD_DIGEST");
  EXPECT_EQ(
      code(import(), "\"" + sha256("first").text() + "\",\"" + sha256("second").text() + "\"", ""),
      "BAD_MEMBER");
  Attestation spoilt = import();
  std::get<ImportStatement>(spoilt.predicate).options = "no json";
  EXPECT_EQ(spoilt.encode().error().code, "BAD_MEMBER");
  std::get<ImportStatement>(spoilt.predicate).options = "{ }";
  EXPECT_EQ(spoilt.encode().error().code, "BAD_MEMBER") << "would not be read back as it is";
  std::get<ImportStatement>(spoilt.predicate).options = "{}";
  EXPECT_TRUE(spoilt.encode().has_value());
  std::get<ImportStatement>(spoilt.predicate).end = (1ull << 53) + 1;
  EXPECT_EQ(spoilt.encode().error().code, "BAD_MEMBER");
}

TEST(Predicates, TheTableSaysWhoSignsAndWhatChains) {
  EXPECT_EQ(predicate_types().size(), std::variant_size_v<Predicate>);
  std::set<std::string_view> names;
  for (const PredicateType& type : predicate_types()) {
    EXPECT_TRUE(names.insert(type.name).second);
    EXPECT_EQ(find_predicate_type(type.uri()), &type);
    EXPECT_EQ(type.on_chain, predicate_on_chain(type.uri()));
    EXPECT_FALSE(type.may_sign(Role::log)) << "a stolen log key can claim nothing";
  }
  EXPECT_TRUE(predicate_type(founding().predicate).may_sign(Role::root));
  EXPECT_FALSE(predicate_type(founding().predicate).may_sign(Role::importer));
  EXPECT_TRUE(predicate_type(import().predicate).may_sign(Role::importer));
  EXPECT_FALSE(predicate_type(import().predicate).may_sign(Role::root));
  EXPECT_EQ(find_predicate_type("https://kernelindex.dev/predicates/"), nullptr);
  EXPECT_EQ(find_predicate_type("import/v1"), nullptr);

  const std::string base(kPredicateBase);
  EXPECT_FALSE(predicate_on_chain(base + "note/v1"));
  EXPECT_FALSE(predicate_on_chain(base + "calibration/v1"));
  EXPECT_TRUE(predicate_on_chain(base + "retraction/v1"));
  EXPECT_TRUE(predicate_on_chain(base + "notebook/v1"));
  EXPECT_TRUE(predicate_on_chain("https://example.com/note/v1"));
  EXPECT_TRUE(predicate_skippable(base + "note/v9"));
  EXPECT_FALSE(predicate_skippable(base + "import/v2"))
      << "off the chain, and yet not to be skipped";
  EXPECT_FALSE(predicate_skippable(base + "notebook/v1"));
  EXPECT_FALSE(predicate_skippable("https://example.com/note/v1"));
}

TEST(Predicates, BindingOfAnUnknownTypeCanBeRead) {
  json::Arena arena;
  const std::string text = R"({"anything":[1],"ledger":")" + sha256("ledger").text() +
                           R"(","seen":{"root":")" + sha256("root").text() +
                           R"(","size":3},"signer":")" + public_key('i').id().hex() + R"("})";
  const json::Value value = json::parse(text, arena).value();
  EXPECT_EQ(read_binding(value).value(), binding(public_key('i')));
  EXPECT_FALSE(read_binding(value, true).has_value());
  EXPECT_EQ(read_binding(json::Value()).error().code, "BAD_MEMBER");
}

// Each flipped bit of a signed attestation is refused: the payload is what is signed.
TEST(Predicates, EveryFlippedBitBreaksTheSignatureOrTheReading) {
  for (const Attestation& attestation : all()) {
    const Envelope good = sign_envelope(attestation.encode().value(), seeded('r')).value();
    for (std::size_t bit = 0; bit < good.payload.size() * 8; ++bit) {
      Envelope changed = good;
      changed.payload[bit / 8] = static_cast<char>(changed.payload[bit / 8] ^ (1 << bit % 8));
      ASSERT_FALSE(bit % 16 == 0 && changed.verify(public_key('r')));
      const Result<Attestation> read = parse_attestation(changed.payload);
      ASSERT_TRUE(!read || *read != attestation) << "two spellings of one attestation: bit " << bit;
    }
  }
}

}  // namespace
}  // namespace kernelindex
