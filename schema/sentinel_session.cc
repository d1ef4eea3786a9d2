// SPDX-License-Identifier: Apache-2.0
#include "schema/sentinel_session.h"

#include "schema/canonical_json.h"
#include "schema/checked_members.h"
#include "schema/sentinel_members.h"

namespace kernelindex {
namespace checked {
namespace {

constexpr std::array<std::string_view, 2> kClocks = {"unlocked", "locked"};
constexpr WholeRow<SentinelSession> kSession[] = {
    {"repetitions", &SentinelSession::repetitions, 1, kCalibrationSamples},
    {"launchNs", &SentinelSession::launch_ns, 1},
    {"bandwidthNs", &SentinelSession::bandwidth_ns, 1},
    {"computeNs", &SentinelSession::compute_ns, 1},
    {"tensorNs", &SentinelSession::tensor_ns, 1},
    {"smKhz", &SentinelSession::sm_khz, 1},
};

}  // namespace

schema::Node session_shape() {
  schema::Node node = schema::object(
      {schema::required("boot", digest()), schema::required("clocks", one_of_words(kClocks))});
  add_fields(node, kSession);
  return node;
}

SentinelSession read_session(const json::Value& value) {
  SentinelSession session;
  session.boot = digest_of(value, "boot");
  session.clocks = word_of<ClockVariant>(value, "clocks", kClocks);
  read_rows(value, kSession, session);
  return session;
}

json::Value write_session(const SentinelSession& session, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("boot", session.boot.text()).add("clocks", clock_variant_name(session.clocks));
  write_rows(session, kSession, out);
  return out.finish();
}

}  // namespace checked

namespace {

constexpr std::size_t kDocumentBytes = limits::kMiB;
constexpr std::array<std::string_view, 2> kKinds = {"physical", "simulated"};
constexpr std::array<std::string_view, 2> kClocks = {"unlocked", "locked"};
constexpr checked::WholeRow<CalibrationRequest> kRequest[] = {
    {"sessions", &CalibrationRequest::sessions, 1, kCalibrationSessions},
    {"repetitions", &CalibrationRequest::repetitions, 1, kCalibrationSamples},
};

}  // namespace

schema::Node calibration_request_shape() {
  schema::Node node =
      schema::object({schema::required("format", schema::one_of({kCalibrationRequestFormat})),
                      schema::required("ledger", checked::digest()),
                      schema::required("clocks", checked::one_of_words(kClocks))});
  checked::add_fields(node, kRequest);
  return node;
}

schema::Node calibration_document_shape() {
  return schema::object({
      schema::required("format", schema::one_of({kCalibrationFormat})),
      schema::required("ledger", checked::digest()),
      schema::required("harness", checked::digest()),
      schema::required("deviceKind", checked::one_of_words(kKinds)),
      schema::required("product", checked::line(kProductBytes)),
      schema::required("device", checked::digest()),
      schema::required("host", checked::digest()),
      schema::required("sessions", schema::list(checked::session_shape(), 1, kCalibrationSessions)),
      schema::required("samples", checked::digest()),
  });
}

Result<CalibrationRequest> read_calibration_request(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = checked::parse_document(
      text, kCalibrationRequestFormat, calibration_request_shape(), kDocumentBytes, arena);
  if (!value) return fail(value.error());
  CalibrationRequest request;
  request.ledger = checked::digest_of(*value, "ledger");
  request.clocks = checked::word_of<ClockVariant>(*value, "clocks", kClocks);
  checked::read_rows(*value, kRequest, request);
  return request;
}

Result<std::string> write_calibration_request(const CalibrationRequest& request) {
  json::Arena arena;
  json::ObjectBuilder out(arena);
  out.add("format", kCalibrationRequestFormat)
      .add("ledger", request.ledger.text())
      .add("clocks", clock_variant_name(request.clocks));
  checked::write_rows(request, kRequest, out);
  std::string text = json::canonical(out.finish());
  if (const auto read = read_calibration_request(text); !read) return fail(read.error());
  return text;
}

Result<CalibrationDocument> read_calibration_document(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = checked::parse_document(
      text, kCalibrationFormat, calibration_document_shape(), kDocumentBytes, arena);
  if (!value) return fail(value.error());
  CalibrationDocument document;
  document.ledger = checked::digest_of(*value, "ledger");
  document.harness = checked::digest_of(*value, "harness");
  document.simulated = value->text("deviceKind") != "physical";
  document.product = checked::text_of(*value, "product");
  document.device = checked::digest_of(*value, "device");
  document.host = checked::digest_of(*value, "host");
  for (const json::Value& session : checked::items_of(*value, "sessions")) {
    document.sessions.push_back(checked::read_session(session));
  }
  document.samples = checked::digest_of(*value, "samples");
  return document;
}

Result<std::string> write_calibration_document(const CalibrationDocument& document) {
  json::Arena arena;
  std::vector<json::Value> sessions;
  for (const SentinelSession& session : document.sessions) {
    sessions.push_back(checked::write_session(session, arena));
  }
  const json::Value value = json::ObjectBuilder(arena)
                                .add("format", kCalibrationFormat)
                                .add("ledger", document.ledger.text())
                                .add("harness", document.harness.text())
                                .add("deviceKind", document.simulated ? "simulated" : "physical")
                                .add("product", document.product)
                                .add("device", document.device.text())
                                .add("host", document.host.text())
                                .add("sessions", arena.array(sessions))
                                .add("samples", document.samples.text())
                                .finish();
  std::string text = json::canonical(value);
  if (const auto read = read_calibration_document(text); !read) return fail(read.error());
  return text;
}

}  // namespace kernelindex
