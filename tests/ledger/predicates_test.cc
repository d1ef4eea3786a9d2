// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicates.h"

#include <gtest/gtest.h>

#include <set>

#include "ledger/dsse.h"
#include "ledger/predicate_samples.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

using namespace test;

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
  std::vector<Attestation> samples = full_samples();
  for (Attestation& sample : least_samples()) samples.push_back(std::move(sample));
  for (const Attestation& attestation : samples) {
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
            head + R"({"approve":"harness",)" + bound + R"(,"reason":"read by two",)" + seen +
                root_id + R"("})" +
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
  for (const Attestation& attestation : full_samples()) {
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

TEST(Predicates, NoteIsCountedInCharactersAndItsLinkIsPlainHttps) {
  const auto with = [](auto change) {
    Attestation attestation = note();
    change(std::get<CommunityNote>(attestation.predicate));
    const Result<std::string> payload = attestation.encode();
    return payload ? "" : payload.error().code + " " + payload.error().place;
  };
  const auto repeated = [](std::string_view piece, std::size_t count) {
    std::string text;
    while (count-- > 0) text += piece;
    return text;
  };
  const std::string four_bytes = "\xF0\x9D\x84\x9E";
  EXPECT_EQ(with([&](CommunityNote& n) { n.text = repeated(four_bytes, 2000); }), "");
  EXPECT_EQ(with([&](CommunityNote& n) { n.text = repeated(four_bytes, 2000) + "x"; }),
            "BAD_MEMBER predicate.text");
  EXPECT_EQ(with([&](CommunityNote& n) { n.text = repeated("x", 2001); }),
            "BAD_MEMBER predicate.text");
  EXPECT_EQ(with([](CommunityNote& n) { n.text = ""; }), "BAD_MEMBER predicate.text");
  for (const std::string_view control : {"\r", "\x1B", "\x7F", "\xC2\x9B", "\b"}) {
    EXPECT_EQ(with([&](CommunityNote& n) { n.text += control; }), "BAD_MEMBER predicate.text");
    EXPECT_EQ(with([&](CommunityNote& n) { n.environment += control; }),
              "BAD_MEMBER predicate.environment");
  }
  EXPECT_EQ(with([](CommunityNote& n) { n.text = "\xC2\xA0 \xE2\x80\x8B"; }), "");
  EXPECT_EQ(with([&](CommunityNote& n) { n.environment = repeated("\xC2\xB5", 200); }), "");
  EXPECT_EQ(with([&](CommunityNote& n) { n.environment = repeated("\xC2\xB5", 201); }),
            "BAD_MEMBER predicate.environment");
  EXPECT_EQ(with([](CommunityNote& n) { n.environment = "two\nlines"; }),
            "BAD_MEMBER predicate.environment");
  EXPECT_EQ(with([](CommunityNote& n) { n.observed_ns = 1; }), "");
  EXPECT_EQ(with([](CommunityNote& n) { n.observed_ns = 0; }), "BAD_MEMBER predicate.observedNs");
  EXPECT_EQ(with([](CommunityNote& n) { n.observed_ns = (std::int64_t{1} << 53) - 1; }), "");
  EXPECT_EQ(with([](CommunityNote& n) { n.observed_ns = std::int64_t{1} << 53; }),
            "BAD_MEMBER predicate.observedNs");
  EXPECT_EQ(with([](CommunityNote& n) {
              n = {CommunityNote::Type::environment_note, "seen", "", std::nullopt, ""};
            }),
            "");

  const std::string longest = "https://example.org/" + repeated("x", 1980);
  EXPECT_TRUE(is_note_url(longest));
  EXPECT_FALSE(is_note_url(longest + "x"));
  for (const std::string_view good :
       {"https://example.org", "https://example.org:8443/a?b#c", "https://[::1]/a",
        "https://example.org/@user", "https://xn--bcher-kva.example/%C3%A4"}) {
    EXPECT_TRUE(is_note_url(good)) << good;
  }
  for (const std::string_view bad :
       {"", "http://example.org", "HTTPS://example.org", "https://", "https:///a", "javascript:x",
        "https://example.org/a b", "https://example.org/\n", "https://example.org/\x7F",
        "https://example.org@evil.example/", "https://a b.example/", "https://example.org:99999/",
        "https://b\xC3\xBC"
        "cher.example/",
        "https://exa<mple.org/", " https://example.org"}) {
    EXPECT_FALSE(is_note_url(bad)) << bad;
  }
  EXPECT_EQ(code(note(), "could_not_reproduce", "Reproduced"), "BAD_MEMBER");
  for (const auto type :
       {CommunityNote::Type::reproduced, CommunityNote::Type::could_not_reproduce,
        CommunityNote::Type::environment_note, CommunityNote::Type::regression_observed}) {
    EXPECT_EQ(note_type_from_name(note_type_name(type)), type);
  }
  EXPECT_EQ(note_type_from_name(""), std::nullopt);
}

TEST(Predicates, ReasonsAreOfAtMostTwoThousandBytesWithoutControls) {
  const auto code_with = [](auto predicate, const std::string& reason) {
    predicate.reason = reason;
    const Attestation attestation{sha256("run"), binding(public_key('m')), predicate};
    const Result<std::string> payload = attestation.encode();
    return payload ? "" : payload.error().code + " " + payload.error().place;
  };
  const std::string bad = "BAD_MEMBER predicate.reason";
  const auto check = [&](auto predicate) {
    EXPECT_EQ(code_with(predicate, ""), bad);
    EXPECT_EQ(code_with(predicate, std::string(2000, 'x')), "");
    EXPECT_EQ(code_with(predicate, std::string(2001, 'x')), bad);
    EXPECT_EQ(code_with(predicate, "one\n\ttwo \xC3\xA4"), "");
    EXPECT_EQ(code_with(predicate, "one\r\n"), bad);
    EXPECT_EQ(code_with(predicate, std::string("\0", 1)), bad);
    EXPECT_EQ(code_with(predicate, "\xC2\x85"), bad);
  };
  check(Retraction{});
  check(Supersession{"", sha256("later")});
  check(Dispute{});
  check(DisputeResolution{sha256("d"), DisputeResolution::Outcome::dismissed, ""});
  check(Withholding{});
  check(Withdrawal{"gpumode", "1", "incorrect", "", sha256("s")});
  EXPECT_EQ(code(revocation(), "stolen", "st\\u0007olen"), "BAD_MEMBER");
}

TEST(Predicates, NothingSupersedesItself) {
  Attestation self = supersession();
  self.subject = sha256("later");
  EXPECT_EQ(self.encode().error().code, "SELF_SUPERSESSION");
  EXPECT_EQ(self.encode().error().place, "predicate.by");
  EXPECT_EQ(code(supersession(), sha256("later").text(), "later"), "BAD_DIGEST");
}

TEST(Predicates, DisputesEndInOneOfTwoWays) {
  EXPECT_EQ(code(resolution(), "upheld", "dismissed"), "");
  EXPECT_EQ(code(resolution(), "\"upheld\"", "\"forgotten\""), "BAD_MEMBER");
  EXPECT_EQ(code(resolution(), "\"upheld\"", "null"), "BAD_MEMBER");
  EXPECT_EQ(code(resolution(), sha256("dispute").text(), sha256("dispute").hex()), "BAD_DIGEST");
  for (const auto outcome :
       {DisputeResolution::Outcome::dismissed, DisputeResolution::Outcome::upheld}) {
    EXPECT_EQ(dispute_outcome_from_name(dispute_outcome_name(outcome)), outcome);
  }
}

TEST(Predicates, WithdrawalSpeaksOfOneThingAtItsSource) {
  EXPECT_EQ(code(withdrawal(), "sol-execbench", "SOL ExecBench"), "BAD_MEMBER");
  EXPECT_EQ(code(withdrawal(), "submission/15866", std::string(1000, '1')), "");
  EXPECT_EQ(code(withdrawal(), "submission/15866", std::string(1001, '1')), "BAD_MEMBER");
  EXPECT_EQ(code(withdrawal(), "submission/15866", "a\\nb"), "BAD_MEMBER");
  EXPECT_EQ(code(withdrawal(), "disqualified", std::string(101, 'x')), "BAD_MEMBER");
  EXPECT_EQ(code(withdrawal(), R"("snapshot":"sha256:)", R"("snapshot":")"), "BAD_DIGEST");
}

TEST(Predicates, StatusNamesTheLastEntriesBelowItsSize) {
  const std::string run = "\"" + sha256("run").text() + "\":6";
  EXPECT_EQ(code(status(), run, "\"" + sha256("run").text() + "\":7"), "BAD_MEMBER");
  EXPECT_EQ(code(status(), run, "\"" + sha256("run").hex() + "\":6"), "BAD_DIGEST");
  EXPECT_EQ(code(status(), run, "\"" + sha256("run").text() + "\":\"6\""), "BAD_MEMBER");
  EXPECT_EQ(code(status(), R"("notes":2)", R"("notes":-2)"), "BAD_MEMBER");
  Attestation other = status();
  std::get<StatusStatement>(other.predicate).heads.clear();
  EXPECT_EQ(other.encode().error().place, "predicate.heads");
  auto& heads = std::get<StatusStatement>(other.predicate).heads;
  for (std::size_t i = 0; i < kStatusHeads; ++i) heads[sha256(std::to_string(i))] = 0;
  EXPECT_TRUE(other.encode().has_value());
  heads[sha256("one more")] = 0;
  EXPECT_EQ(other.encode().error().place, "predicate.heads");
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
  for (const PredicateType& type : predicate_types()) {
    EXPECT_EQ(type.signers.size(), 1u);
    EXPECT_EQ(type.recordable, type.name != "status/v1");
  }
  const auto role = [](const Attestation& a) { return predicate_type(a.predicate).signers[0]; };
  EXPECT_EQ(role(note()), Role::contributor);
  EXPECT_EQ(role(retraction()), Role::maintainer);
  EXPECT_EQ(role(supersession()), Role::maintainer);
  EXPECT_EQ(role(dispute()), Role::maintainer);
  EXPECT_EQ(role(resolution()), Role::maintainer);
  EXPECT_EQ(role(withdrawal()), Role::importer);
  EXPECT_EQ(role(withholding()), Role::root);
  EXPECT_EQ(role(status()), Role::status);
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
  for (const Attestation& attestation : full_samples()) {
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
