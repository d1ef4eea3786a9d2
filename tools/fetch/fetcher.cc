// SPDX-License-Identifier: Apache-2.0
#include "tools/fetch/fetcher.h"

namespace kernelindex::tools {
namespace {

constexpr int kNotModified = 304;

std::unexpected<Error> unexpected_status(const std::string& url, int status) {
  return fail(ErrorKind::system, "UNEXPECTED_STATUS", url,
              "the server answers with status " + std::to_string(status));
}

// What makes the server say 304 when the bytes are still the same (RFC 9110 section 13).
HttpFields conditions(const FetchedFile& known) {
  HttpFields fields;
  if (const std::string etag = known.field("etag"); !etag.empty()) {
    fields.emplace_back("If-None-Match", etag);
  }
  if (const std::string time = known.field("last-modified"); !time.empty()) {
    fields.emplace_back("If-Modified-Since", time);
  }
  return fields;
}

}  // namespace

Result<std::optional<std::string>> Fetcher::file(const std::string& url, const std::string& path,
                                                 Again again) {
  if (again == Again::no && folder_.done(path)) {
    ++counts_.resumed;
    Result<std::string> bytes = folder_.read(path);
    if (!bytes) return fail(bytes.error());
    return std::optional(std::move(*bytes));
  }
  HttpRequest request{.url = url};
  const FetchedFile* known = folder_.known(path);
  if (known != nullptr && known->url == url) request.fields = conditions(*known);
  const Result<HttpResponse> answer = client_.send(request);
  if (!answer) return fail(answer.error());
  Result<std::string> bytes = std::string();
  if (answer->status == kNotModified && !request.fields.empty()) {
    if (Status kept = folder_.confirm(path, now_()); !kept) return fail(kept.error());
    ++counts_.unchanged;
    bytes = folder_.read(path);
  } else if (answer->status == 404 || answer->status == 410) {
    missing_.push_back(url);
    return std::optional<std::string>();
  } else if (answer->status == 200) {
    bytes = keep(*answer, url, path);
  } else {
    return unexpected_status(url, answer->status);
  }
  if (!bytes) return fail(bytes.error());
  if (progress_) progress_(counts_);
  return std::optional(std::move(*bytes));
}

Result<std::string> Fetcher::keep(const HttpResponse& answer, const std::string& url,
                                  const std::string& path) {
  FetchedFile file;
  file.path = path;
  file.url = url;
  if (answer.redirects > 0) file.answered_by = answer.url;
  file.status = answer.status;
  file.fetched_at = file.checked_at = now_();
  for (const std::string_view name : kFieldsKept) {
    if (const auto value = answer.field(name)) file.fields.emplace(name, *value);
  }
  const FetchedFile* before = folder_.known(path);
  ++(before == nullptr                       ? counts_.fresh
     : before->digest == sha256(answer.body) ? counts_.unchanged
                                             : counts_.changed);
  if (Status kept = folder_.keep(std::move(file), answer.body); !kept) return fail(kept.error());
  return answer.body;
}

Result<std::string> Fetcher::ask(const std::string& url) {
  Result<HttpResponse> answer = client_.send({.url = url});
  if (!answer) return fail(answer.error());
  if (answer->status != 200) return unexpected_status(url, answer->status);
  return std::move(answer->body);
}

}  // namespace kernelindex::tools
