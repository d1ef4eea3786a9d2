// SPDX-License-Identifier: Apache-2.0
// Files of sources that publish in a repository: pinned to the commit that the host names, so that
// what is fetched is one state of it.
#pragma once

#include <string>
#include <string_view>

#include "schema/result.h"
#include "tools/fetch/fetcher.h"

namespace kernelindex::tools {

// Where the hosts are; tests put their own server in.
struct RepositoryHosts {
  std::string github_api = "https://api.github.com";
  std::string github_files = "https://raw.githubusercontent.com";
  std::string hugging_face = "https://huggingface.co";
  std::string hugging_face_rows = "https://datasets-server.huggingface.co";
};

struct GithubFiles {
  std::string repository;  // "linkedin/Liger-Kernel"
  std::string revision;    // branch, tag or commit
  std::string folder;      // "benchmark/data/"; empty: all
  std::string ending;      // ".csv"
};

// Files lie at their paths in the repository. The commit, 40 hex digits. Errors: those of
// Fetcher::file; ANSWER_MALFORMED; not_found NO_FILES when the repository has none of that kind.
Result<std::string> fetch_github(const RepositoryHosts& hosts, const GithubFiles& what,
                                 Fetcher& fetcher);

// A data set of Hugging Face: info.json, which names the commit, and the JSON files in
// definitions/, solutions/, traces/ and workloads/. `revision` may be empty: the newest. The
// commit; errors as above.
Result<std::string> fetch_hugging_face(const RepositoryHosts& hosts, std::string_view data_set,
                                       const std::string& revision, Fetcher& fetcher);

// All rows of one configuration of a data set (its split "train"), a hundred a page, as
// <configuration>/<offset>.json. Errors: those of Fetcher::file; ANSWER_MALFORMED.
Status fetch_data_set_rows(const RepositoryHosts& hosts, std::string_view data_set,
                           const std::string& configuration, Fetcher& fetcher);

}  // namespace kernelindex::tools
