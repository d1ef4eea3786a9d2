// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/response.h"

#include "schema/canonical_json.h"
#include "schema/digest.h"
#include "schema/json_value.h"

namespace kernelindex::serve {

std::string tag_of(std::string_view body) {
  constexpr std::size_t kTagDigits = 32;
  return "\"" + sha256(body).hex().substr(0, kTagDigits) + "\"";
}

Response answer(std::string body, std::string_view content_type, CachePolicy cache) {
  Response response;
  response.content_type = content_type;
  response.etag = tag_of(body);
  response.body = std::make_shared<const std::string>(std::move(body));
  response.cache = cache;
  return response;
}

Response redirect(std::string location) {
  Response response;
  response.status = 303;
  response.headers.push_back({"Location", std::move(location)});
  return response;
}

Problem problem(unsigned status, std::string code, std::string detail) {
  constexpr unsigned kSoon = 2;    // what waits for an answer is done by then
  constexpr unsigned kLater = 60;  // an allowance has grown by then
  const unsigned retry_after = status == 503 ? kSoon : status == 429 ? kLater : 0;
  return {status, std::move(code), std::string(status_text(status)), std::move(detail),
          retry_after};
}

Problem problem_of(const Error& error) {
  std::string detail = error.place.empty() ? error.message : error.place + ": " + error.message;
  if (!error.remedy.empty()) detail += ". " + error.remedy;
  switch (error.kind) {
    case ErrorKind::usage:
    case ErrorKind::invalid:
    case ErrorKind::ambiguous:
      return problem(400, error.code, std::move(detail));
    case ErrorKind::not_found:
      return problem(404, error.code, std::move(detail));
    case ErrorKind::refused:
      return problem(403, error.code, std::move(detail));
    case ErrorKind::corrupt:
    case ErrorKind::system:
      break;
  }
  return problem(500, error.code, "this answer could not be made; the server's log has the reason");
}

Response problem_response(const Problem& problem) {
  json::Arena arena;
  const std::string type = "urn:kernelindex:problem:" + problem.code;
  Response response =
      answer(json::canonical(json::ObjectBuilder(arena)
                                 .add("type", std::string_view(type))
                                 .add("title", problem.title)
                                 .add("status", json::Value(static_cast<double>(problem.status)))
                                 .add("detail", problem.detail)
                                 .add("code", problem.code)
                                 .finish()),
             kProblem, CachePolicy::no_store);
  response.status = problem.status;
  response.etag.clear();
  if (problem.retry_after != 0) {
    response.headers.push_back({"Retry-After", std::to_string(problem.retry_after)});
  }
  return response;
}

std::string_view status_text(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

std::string header_value(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = '_';
  }
  return out;
}

}  // namespace kernelindex::serve
