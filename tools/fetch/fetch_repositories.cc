// SPDX-License-Identifier: Apache-2.0
#include "tools/fetch/fetch_repositories.h"

#include <algorithm>
#include <array>

#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::tools {
namespace {

using json::Value;

std::unexpected<Error> malformed(const std::string& url, std::string message) {
  return fail(ErrorKind::invalid, "ANSWER_MALFORMED", url, std::move(message),
              "The interface of the source may have changed");
}

Result<Value> parse(const std::string& url, const std::string& bytes, json::Arena& arena) {
  std::vector<json::Defect> spoilt;  // items for the import to set aside
  Result<Value> value = json::parse_collecting_defects(
      bytes, arena, {limits::kSourceJsonBytes, limits::kJsonDepth}, spoilt);
  if (!value) return malformed(url, "the answer is not JSON: " + value.error().message);
  return value;
}

bool is_commit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::string> commit_of(const std::string& url, const Value& answer) {
  const std::string_view commit = answer.text("sha");
  if (!is_commit(commit)) return malformed(url, "the answer names no commit");
  return std::string(commit);
}

// A name of the source's becomes a path only when it is plain.
Result<bool> fetch_named(const std::string& base, std::string_view name, Fetcher& fetcher) {
  if (!is_plain_path(name)) {
    fetcher.refuse_name(std::string(name));
    return false;
  }
  const Result<std::optional<std::string>> bytes =
      fetcher.file(base + std::string(name), std::string(name));
  if (!bytes) return fail(bytes.error());
  return bytes->has_value();
}

std::unexpected<Error> no_files(const std::string& url) {
  return fail(ErrorKind::not_found, "NO_FILES", url, "the repository has no files of that kind");
}

bool is_benchmark_file(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kFolders = {"definitions/", "solutions/",
                                                               "traces/", "workloads/"};
  const bool json = name.ends_with(".json") || name.ends_with(".jsonl");
  return json && std::ranges::any_of(
                     kFolders, [&](std::string_view folder) { return name.starts_with(folder); });
}

}  // namespace

Result<std::string> fetch_github(const RepositoryHosts& hosts, const GithubFiles& what,
                                 Fetcher& fetcher) {
  const std::string api = hosts.github_api + "/repos/" + what.repository;
  const std::string commits = api + "/commits/" + what.revision;
  json::Arena arena;
  const Result<std::string> commit_text = fetcher.ask(commits);
  if (!commit_text) return fail(commit_text.error());
  const Result<Value> named = parse(commits, *commit_text, arena);
  if (!named) return fail(named.error());
  const Result<std::string> commit = commit_of(commits, *named);
  if (!commit) return fail(commit.error());

  const std::string tree = api + "/git/trees/" + *commit + "?recursive=1";
  const Result<std::string> text = fetcher.ask(tree);
  if (!text) return fail(text.error());
  const Result<Value> answer = parse(tree, *text, arena);
  if (!answer) return fail(answer.error());
  const Value* entries = answer->find("tree");
  if (entries == nullptr || !entries->is_array()) return malformed(tree, "the answer has no tree");
  if (const Value* cut = answer->find("truncated");
      cut != nullptr && cut->is_boolean() && cut->boolean()) {
    return malformed(tree, "the repository is too large for one listing");
  }
  const std::string base = hosts.github_files + "/" + what.repository + "/" + *commit + "/";
  bool any = false;
  for (const Value& entry : entries->array()) {
    const std::string_view path = entry.text("path");
    if (entry.text("type") != "blob" || !path.starts_with(what.folder) ||
        !path.ends_with(what.ending)) {
      continue;
    }
    const Result<bool> fetched = fetch_named(base, path, fetcher);
    if (!fetched) return fail(fetched.error());
    any |= *fetched;
  }
  if (!any) return no_files(tree);
  return commit;
}

Result<std::string> fetch_hugging_face(const RepositoryHosts& hosts, std::string_view data_set,
                                       const std::string& revision, Fetcher& fetcher) {
  const std::string info = hosts.hugging_face + "/api/datasets/" + std::string(data_set) +
                           (revision.empty() ? "" : "/revision/" + revision);
  const Result<std::optional<std::string>> text = fetcher.file(info, "info.json");
  if (!text) return fail(text.error());
  if (!*text) return no_files(info);
  json::Arena arena;
  const Result<Value> answer = parse(info, **text, arena);
  if (!answer) return fail(answer.error());
  const Result<std::string> commit = commit_of(info, *answer);
  if (!commit) return fail(commit.error());
  const Value* siblings = answer->find("siblings");
  if (siblings == nullptr || !siblings->is_array()) {
    return malformed(info, "the answer lists no files");
  }
  const std::string base =
      hosts.hugging_face + "/datasets/" + std::string(data_set) + "/resolve/" + *commit + "/";
  bool any = false;
  for (const Value& sibling : siblings->array()) {
    const std::string_view name = sibling.text("rfilename");
    if (!is_benchmark_file(name)) continue;
    const Result<bool> fetched = fetch_named(base, name, fetcher);
    if (!fetched) return fail(fetched.error());
    any |= *fetched;
  }
  if (!any) return no_files(info);
  return commit;
}

Status fetch_data_set_rows(const RepositoryHosts& hosts, std::string_view data_set,
                           const std::string& configuration, Fetcher& fetcher) {
  constexpr std::uint64_t kRows = 100;  // the most that the server gives at once
  constexpr std::uint64_t kMaxRows = 10'000'000;
  if (!is_plain_path(configuration)) {
    return fail(ErrorKind::usage, "BAD_CONFIGURATION", configuration,
                "this is no name of a configuration");
  }
  std::string dataset(data_set);
  dataset.replace(dataset.find('/'), 1, "%2F");
  for (std::uint64_t offset = 0, total = 1; offset < total; offset += kRows) {
    const std::string url =
        hosts.hugging_face_rows + "/rows?dataset=" + dataset + "&config=" + configuration +
        "&split=train&offset=" + std::to_string(offset) + "&length=" + std::to_string(kRows);
    const Result<std::optional<std::string>> text =
        fetcher.file(url, configuration + "/" + std::to_string(offset) + ".json");
    if (!text) return fail(text.error());
    if (!*text) return {};
    json::Arena arena;
    const Result<Value> answer = parse(url, **text, arena);
    if (!answer) return fail(answer.error());
    const Value* count = answer->find("num_rows_total");
    const Value* rows = answer->find("rows");
    if (rows == nullptr || !rows->is_array() || count == nullptr || !count->is_number() ||
        !(count->number() >= 0) || count->number() > static_cast<double>(kMaxRows)) {
      return malformed(url, "the answer is no page of rows");
    }
    if (rows->array().empty()) return {};
    total = static_cast<std::uint64_t>(count->number());
  }
  return {};
}

}  // namespace kernelindex::tools
