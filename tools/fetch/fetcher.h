// SPDX-License-Identifier: Apache-2.0
// One file of a source into the folder: asked under conditions when it is there already, kept with
// what the server said. What a source consists of is for the walks (fetch_sol_execbench, ...).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"
#include "schema/utc_time.h"
#include "tools/fetch/fetch_folder.h"
#include "tools/fetch/patient_client.h"

namespace kernelindex::tools {

struct FetchCounts {
  std::uint64_t fresh = 0;      // files that were not there
  std::uint64_t changed = 0;    // other bytes than before
  std::uint64_t unchanged = 0;  // the server or the bytes say so
  std::uint64_t resumed = 0;    // fetched by the part of the session that broke off
};

class Fetcher {
 public:
  // All outlive the fetcher. `progress` is called after each file.
  Fetcher(FetchFolder& folder, PatientClient& client, std::function<UtcMicros()> now,
          std::function<void(const FetchCounts&)> progress = {})
      : folder_(folder), client_(client), now_(std::move(now)), progress_(std::move(progress)) {}

  // Whether a file is asked again although this session has it already.
  enum class Again { no, yes };

  // The bytes of `url`, kept at `path`. Nothing when the server does not have it (404, 410): that
  // is said in missing(). Errors: those of PatientClient::send; system UNEXPECTED_STATUS; those of
  // the folder.
  Result<std::optional<std::string>> file(const std::string& url, const std::string& path,
                                          Again again = Again::no);
  // The bytes of `url`, kept nowhere. Error: as above, for a missing one too.
  Result<std::string> ask(const std::string& url);

  const FetchCounts& counts() const { return counts_; }
  // URLs that the source names and does not have.
  const std::vector<std::string>& missing() const { return missing_; }
  // A name from outside that cannot be a path is left out, and said here.
  void refuse_name(std::string name) { refused_names_.push_back(std::move(name)); }
  const std::vector<std::string>& refused_names() const { return refused_names_; }

 private:
  Result<std::string> keep(const HttpResponse& answer, const std::string& url,
                           const std::string& path);

  FetchFolder& folder_;
  PatientClient& client_;
  std::function<UtcMicros()> now_;
  std::function<void(const FetchCounts&)> progress_;
  FetchCounts counts_;
  std::vector<std::string> missing_;
  std::vector<std::string> refused_names_;
};

}  // namespace kernelindex::tools
