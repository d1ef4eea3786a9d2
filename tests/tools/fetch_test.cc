// SPDX-License-Identifier: Apache-2.0
// Fetching with a server that is a function: pauses, retries, conditions, pages, breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/corpus.h"
#include "tests/support/temp_dir.h"
#include "tools/fetch/fetch_repositories.h"
#include "tools/fetch/fetch_sol_execbench.h"

namespace kernelindex::tools {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kApi = "https://api.example";

HttpResponse response(int status, std::string body = {}, HttpFields fields = {}) {
  HttpResponse out;
  out.status = status;
  out.body = std::move(body);
  out.fields = std::move(fields);
  return out;
}

// A site, a clock that stands still unless somebody sleeps, and what was asked.
class FetchTest : public testing::Test {
 protected:
  using Answer = std::function<Result<HttpResponse>(const HttpRequest&)>;

  Surroundings world() {
    return {[this](const HttpRequest& request) -> Result<HttpResponse> {
              asked_.push_back(request.url);
              if (answer_) return answer_(request);
              const auto page = site_.find(request.url);
              if (page == site_.end()) return response(404);
              const std::string etag = "\"" + sha256(page->second).text().substr(7, 8) + "\"";
              for (const auto& [name, value] : request.fields) {
                if (name == "If-None-Match" && value == etag) return response(304);
              }
              return response(200, page->second,
                              {{"etag", etag}, {"content-type", "application/json"}});
            },
            [this](milliseconds time) {
              slept_.push_back(time);
              now_ += time.count() * 1000;
            },
            [this] { return now_; }, [] { return 0; }};
  }

  // One session into the folder, with what it was about.
  struct Done {
    Status status;
    FetchCounts counts;
    std::vector<std::string> removed;
    std::vector<std::string> missing;
    bool resumed = false;
  };
  Done fetch(const std::function<Status(Fetcher&)>& walk, bool whole = true) {
    Result<FetchFolder> folder = FetchFolder::open(folder_ / "dump", "sol-execbench", now_);
    if (!folder) return {fail(folder.error()), {}, {}, {}, false};
    PatientClient client(world(), patience_);
    Fetcher fetcher(*folder, client, [this] { return now_; });
    Done done{walk(fetcher), fetcher.counts(), {}, fetcher.missing(), folder->resumed()};
    if (done.status) done.removed = folder->finish(whole, now_).value();
    return done;
  }
  Done fetch_dump(SolExecbenchFetch what = {}) {
    what.api = kApi;
    return fetch([&](Fetcher& fetcher) { return fetch_sol_execbench(what, fetcher); },
                 what.kernels.empty());
  }

  // A leaderboard of kernels with so many submissions each, in pages of what is asked for.
  void serve_leaderboard(const std::map<int, int>& submissions, int first_id = 1) {
    site_.clear();
    std::string kernels;
    for (const auto& [kernel, count] : submissions) {
      const std::string id = std::to_string(kernel);
      kernels += (kernels.empty() ? "" : ",") + ("{\"id\":" + id) + ",\"name\":\"k" + id + "\"}";
      site_[std::string(kApi) + "/kernels/" + id] = "{\"data\":{\"name\":\"k" + id + "\"}}";
      for (int offset = 0; offset == 0 || offset < count; offset += 50) {
        std::string items;
        for (int i = offset; i < std::min(count, offset + 50); ++i) {
          items += (items.empty() ? "" : ",") + ("{\"id\":" + std::to_string(first_id + i)) + "}";
        }
        site_[page_url(kernel, offset)] =
            "{\"data\":{\"submissions\":[" + items + "],\"total\":" + std::to_string(count) + "}}";
      }
    }
    site_[std::string(kApi) + "/kernels"] = "{\"data\":{\"kernels\":[" + kernels + "]}}";
  }
  static std::string page_url(int kernel, int offset) {
    return std::string(kApi) + "/submissions?kernel_id=" + std::to_string(kernel) +
           "&offset=" + std::to_string(offset) + "&limit=50";
  }

  std::string file(const std::string& path) { return test::read_file(folder_ / "dump" / path); }
  FetchRecord record() { return parse_fetch_record(file(std::string(kFetchRecordName))).value(); }

  test::TempDir folder_;
  std::map<std::string, std::string> site_;
  Answer answer_;
  Patience patience_;
  std::vector<std::string> asked_;
  std::vector<milliseconds> slept_;
  UtcMicros now_ = 1'796'000'000'000'000;
};

TEST_F(FetchTest, ADumpHasTheListTheKernelsAndAllPages) {
  serve_leaderboard({{4, 120}, {7, 0}});
  const Done done = fetch_dump();
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_EQ(file("kernels.json"), site_[std::string(kApi) + "/kernels"]);
  EXPECT_EQ(file("kernels/4.json"), site_[std::string(kApi) + "/kernels/4"]);
  EXPECT_EQ(file("submissions/4.json"), site_[page_url(4, 0)]);
  EXPECT_EQ(file("submissions/4_50.json"), site_[page_url(4, 50)]);
  EXPECT_EQ(file("submissions/4_100.json"), site_[page_url(4, 100)]);
  EXPECT_EQ(file("submissions/7.json"), site_[page_url(7, 0)]);
  EXPECT_EQ(done.counts.fresh, 7u);
  EXPECT_EQ(record().files.size(), 7u);
  EXPECT_TRUE(record().complete);
}

TEST_F(FetchTest, TheRecordSaysWhereWhenAndWhat) {
  serve_leaderboard({{4, 1}});
  ASSERT_TRUE(fetch_dump().status);
  const FetchedFile said = record().files.at("submissions/4.json");
  EXPECT_EQ(said.url, page_url(4, 0));
  EXPECT_EQ(said.status, 200);
  EXPECT_EQ(said.digest, sha256(site_[page_url(4, 0)]));
  EXPECT_EQ(said.size, site_[page_url(4, 0)].size());
  EXPECT_EQ(said.field("content-type"), "application/json");
  EXPECT_EQ(said.fetched_at, said.checked_at);
}

TEST_F(FetchTest, BetweenTwoRequestsLiesThePause) {
  serve_leaderboard({{4, 0}});
  ASSERT_TRUE(fetch_dump().status);
  EXPECT_EQ(asked_.size(), 3u);
  EXPECT_THAT(slept_, ElementsAre(patience_.pause, patience_.pause));
}

TEST_F(FetchTest, ASecondFetchAsksUnderConditionsAndKeepsTheTimeOfTheBytes) {
  serve_leaderboard({{4, 1}, {7, 1}});
  ASSERT_TRUE(fetch_dump().status);
  const UtcMicros first = record().files.at("kernels/4.json").fetched_at;
  site_[std::string(kApi) + "/kernels/7"] = "{\"data\":{\"name\":\"k7\",\"title\":\"new\"}}";
  now_ += 1'000'000'000;
  const Done again = fetch_dump();
  ASSERT_TRUE(again.status) << again.status.error().text();
  EXPECT_EQ(again.counts.unchanged, 4u);
  EXPECT_EQ(again.counts.changed, 1u);
  EXPECT_EQ(again.counts.fresh, 0u);
  EXPECT_FALSE(again.resumed);
  const FetchedFile same = record().files.at("kernels/4.json");
  EXPECT_EQ(same.fetched_at, first);
  EXPECT_GT(same.checked_at, first);
  EXPECT_GT(record().files.at("kernels/7.json").fetched_at, first);
  EXPECT_THAT(file("kernels/7.json"), HasSubstr("new"));
}

TEST_F(FetchTest, AFileThatWasChangedHereIsFetchedWithoutConditions) {
  serve_leaderboard({{4, 1}});
  ASSERT_TRUE(fetch_dump().status);
  test::write_file(folder_ / "dump/kernels/4.json", "edited");
  ASSERT_TRUE(fetch_dump().status);
  EXPECT_EQ(file("kernels/4.json"), site_[std::string(kApi) + "/kernels/4"]);
}

// Breaks after each number of requests in turn; what comes out at the end is always the same.
TEST_F(FetchTest, AFetchThatBreaksOffAnywhereGoesOnWhereItWas) {
  serve_leaderboard({{4, 60}, {7, 1}});
  ASSERT_TRUE(fetch_dump().status);
  const std::size_t whole = asked_.size();
  for (std::size_t broken = 0; broken < whole; ++broken) {
    const test::TempDir fresh;
    std::filesystem::remove_all(folder_ / "dump");
    asked_.clear();
    std::size_t left = broken;
    answer_ = [&](const HttpRequest& request) -> Result<HttpResponse> {
      if (left == 0) return fail(ErrorKind::invalid, "BREAK", "", "the test's break");
      --left;
      return response(200, site_.at(request.url));
    };
    EXPECT_FALSE(fetch_dump().status);
    answer_ = nullptr;
    const Done done = fetch_dump();
    ASSERT_TRUE(done.status) << done.status.error().text();
    EXPECT_TRUE(done.resumed);
    EXPECT_EQ(done.counts.resumed, broken);
    EXPECT_EQ(asked_.size(), whole + 1) << "asked again for what it had, beside the broken request";
    EXPECT_EQ(record().files.size(), whole);
    for (const auto& [path, said] : record().files) EXPECT_EQ(file(path), site_.at(said.url));
  }
}

TEST_F(FetchTest, ARecordThatACrashCutIsGoneOnWith) {
  serve_leaderboard({{4, 1}});
  answer_ = [&](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.url == page_url(4, 0)) return fail(ErrorKind::invalid, "BREAK", "", "break");
    return response(200, site_.at(request.url));
  };
  EXPECT_FALSE(fetch_dump().status);
  answer_ = nullptr;
  const std::string text = file(std::string(kFetchRecordName));
  test::write_file(folder_ / "dump" / kFetchRecordName, text.substr(0, text.size() - 10));
  const Done done = fetch_dump();
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_EQ(record().files.size(), 3u);
}

TEST_F(FetchTest, WhatTheSourceHasNoMoreIsRemovedOnlyWhenAllWasAsked) {
  serve_leaderboard({{4, 60}, {7, 1}});
  ASSERT_TRUE(fetch_dump().status);
  const Done one = fetch_dump({.kernels = {"k7"}});
  ASSERT_TRUE(one.status);
  EXPECT_THAT(one.removed, IsEmpty());
  serve_leaderboard({{4, 10}});
  const Done all = fetch_dump();
  ASSERT_TRUE(all.status);
  EXPECT_THAT(all.removed,
              ElementsAre("kernels/7.json", "submissions/4_50.json", "submissions/7.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "dump/kernels/7.json"));
}

TEST_F(FetchTest, AListThatGrowsWhileItIsReadIsReadAgain) {
  serve_leaderboard({{4, 60}});
  answer_ = [&](const HttpRequest& request) -> Result<HttpResponse> {
    HttpResponse out = response(200, site_.at(request.url));
    // Between the pages somebody submits: each submission moves by one.
    if (request.url == page_url(4, 0) && asked_.size() == 3) serve_leaderboard({{4, 61}}, 0);
    return out;
  };
  const Done done = fetch_dump();
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_EQ(file("submissions/4.json"), site_[page_url(4, 0)]);
  EXPECT_EQ(file("submissions/4_50.json"), site_[page_url(4, 50)]);
}

TEST_F(FetchTest, AListThatNeverStandsStillIsAnError) {
  serve_leaderboard({{4, 60}});
  int count = 60;
  answer_ = [&](const HttpRequest& request) -> Result<HttpResponse> {
    HttpResponse out = response(200, site_.at(request.url));
    serve_leaderboard({{4, ++count}});
    return out;
  };
  const Done done = fetch_dump();
  ASSERT_FALSE(done.status);
  EXPECT_EQ(done.status.error().code, "PAGES_MOVED");
}

TEST_F(FetchTest, AKernelThatIsListedAndNotThereIsSaid) {
  serve_leaderboard({{4, 1}, {7, 1}});
  site_.erase(std::string(kApi) + "/kernels/4");
  const Done done = fetch_dump();
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_THAT(done.missing, ElementsAre(std::string(kApi) + "/kernels/4"));
  EXPECT_EQ(record().files.count("kernels/7.json"), 1u);
}

TEST_F(FetchTest, AnswersThatAreNoneAreErrors) {
  for (const char* body : {"<html>", "[]", "{\"data\":{\"kernels\":{}}}",
                           "{\"kernels\":[{\"name\":\"no id\"}]}", "{\"kernels\":[{\"id\":-1}]}",
                           "{\"kernels\":[{\"id\":1.5}]}", "{\"kernels\":[{\"id\":\"../x\"}]}"}) {
    std::filesystem::remove_all(folder_ / "dump");
    site_ = {{std::string(kApi) + "/kernels", body}};
    const Done done = fetch_dump();
    ASSERT_FALSE(done.status) << body;
    EXPECT_EQ(done.status.error().code, "ANSWER_MALFORMED") << body;
  }
}

TEST_F(FetchTest, AFolderOfSomethingElseIsNotTouched) {
  std::filesystem::create_directories(folder_ / "dump");
  test::write_file(folder_ / "dump/mine.txt", "mine");
  EXPECT_EQ(fetch_dump().status.error().code, "NOT_EMPTY");
  std::filesystem::remove(folder_ / "dump/mine.txt");
  ASSERT_TRUE(FetchFolder::open(folder_ / "dump", "mlperf-inference", now_));
  EXPECT_EQ(fetch_dump().status.error().code, "OTHER_SOURCE");
}

TEST_F(FetchTest, AServerThatFailsIsAskedAgainLaterAndLater) {
  int failures = 3;
  answer_ = [&](const HttpRequest&) -> Result<HttpResponse> {
    if (failures-- > 0) return response(failures % 2 == 0 ? 503 : 502);
    return response(200, "{\"kernels\":[]}");
  };
  ASSERT_TRUE(fetch_dump().status);
  // Without luck (random 0) half of each delay is waited, and the pause before each try.
  EXPECT_THAT(slept_, ElementsAre(milliseconds(500), patience_.pause, milliseconds(1000),
                                  patience_.pause, milliseconds(2000), patience_.pause));
}

TEST_F(FetchTest, PatienceEnds) {
  answer_ = [](const HttpRequest&) { return response(500); };
  EXPECT_EQ(fetch_dump().status.error().code, "SERVER_FAILS");
  EXPECT_EQ(asked_.size(), static_cast<std::size_t>(patience_.tries));
  asked_.clear();
  answer_ = [](const HttpRequest&) -> Result<HttpResponse> {
    return fail(ErrorKind::system, "TIMED_OUT", "", "slow");
  };
  EXPECT_EQ(fetch_dump().status.error().code, "TIMED_OUT");
  EXPECT_EQ(asked_.size(), static_cast<std::size_t>(patience_.tries));
}

TEST_F(FetchTest, WhatWillNotPassIsNotTriedAgain) {
  answer_ = [](const HttpRequest&) -> Result<HttpResponse> {
    return fail(ErrorKind::system, "TLS_FAILED", "", "wrong name");
  };
  EXPECT_EQ(fetch_dump().status.error().code, "TLS_FAILED");
  EXPECT_EQ(asked_.size(), 1u);
  answer_ = [](const HttpRequest&) { return response(403); };
  EXPECT_EQ(fetch_dump().status.error().code, "UNEXPECTED_STATUS");
  EXPECT_EQ(asked_.size(), 2u);
}

TEST_F(FetchTest, AServerThatNamesItsTimeIsHeard) {
  bool first = true;
  answer_ = [&](const HttpRequest&) -> Result<HttpResponse> {
    if (std::exchange(first, false)) return response(429, "", {{"retry-after", "17"}});
    return response(200, "{\"kernels\":[]}");
  };
  ASSERT_TRUE(fetch_dump().status);
  EXPECT_THAT(slept_, ElementsAre(milliseconds(17'000), patience_.pause));
  answer_ = [&](const HttpRequest&) { return response(429, "", {{"retry-after", "86400"}}); };
  EXPECT_EQ(fetch_dump().status.error().code, "SERVER_FAILS");
}

TEST(Backoff, DoublesToItsBoundAndKeepsHalfForChance) {
  const Patience patience;
  for (int failures = 1; failures < 100; ++failures) {
    const milliseconds least = backoff(patience, failures, 0);
    EXPECT_LE(least, patience.longest_delay);
    for (const std::uint64_t random : {1ull, 12345678901234567ull, ~0ull}) {
      EXPECT_GE(backoff(patience, failures, random), least);
      EXPECT_LE(backoff(patience, failures, random), 2 * least);
    }
  }
  EXPECT_EQ(backoff(patience, 1, 0), milliseconds(500));
  EXPECT_EQ(backoff(patience, 99, 0), milliseconds(30'000));
}

TEST(RetryAfter, IsSecondsOrADate) {
  const UtcMicros now = parse_utc_instant("1994-11-06T08:49:30Z").value();
  EXPECT_EQ(parse_retry_after("120", now), milliseconds(120'000));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), milliseconds(7'000));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), milliseconds(0));
  for (const char* text : {"", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Xyz 1994 08:49:37 GMT", "99999999999999999999"}) {
    EXPECT_EQ(parse_retry_after(text, now), std::nullopt) << text;
  }
}

TEST(FetchPath, OnlyPlainNamesBecomePaths) {
  for (const char* path : {"a", "a/b.json", "solutions/x-1/y_2.json"}) {
    EXPECT_TRUE(is_plain_path(path)) << path;
  }
  for (const char* path : {"", "/a", "a/", "a//b", "../a", "a/../b", ".hidden", "a/.git/b", "a b",
                           "a\\b", "a\nb", "C:x", "\xC3\xA4"}) {
    EXPECT_FALSE(is_plain_path(path)) << path;
  }
  EXPECT_FALSE(is_plain_path(std::string(1025, 'a')));
}

TEST(FetchRecordText, WhatIsWrittenIsReadAndOtherTextRefused) {
  FetchedFile file{"a/b.json", "https://x/", "https://y/", 3, 200,
                   1'000'000,  2'000'000,    sha256("b"),  1, {{"etag", "e"}}};
  const std::string good = fetch_begin_line("s", 3, 0) + fetch_file_line(file);
  const FetchRecord record = parse_fetch_record(good + fetch_end_line(3, 5)).value();
  EXPECT_TRUE(record.complete);
  EXPECT_EQ(fetch_file_line(record.files.at("a/b.json")), fetch_file_line(file));
  EXPECT_FALSE(parse_fetch_record(good)->complete);
  for (const std::string& bad :
       {std::string("x\n"), std::string("{}\n"), std::string("{\"type\":\"new\",\"session\":1}\n"),
        std::string("{\"type\":\"file\",\"session\":1}\n"), fetch_begin_line("other", 4, 0)}) {
    const Result<FetchRecord> read = parse_fetch_record(good + bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, "FETCH_RECORD_MALFORMED");
  }
  file.path = "../escape";
  EXPECT_FALSE(parse_fetch_record(fetch_file_line(file)));
}

TEST_F(FetchTest, AGithubFolderIsFetchedAtTheCommitThatTheHostNames) {
  const std::string commit(40, 'c');
  site_ = {{"https://api.github.com/repos/o/r/commits/main", "{\"sha\":\"" + commit + "\"}"},
           {"https://api.github.com/repos/o/r/git/trees/" + commit + "?recursive=1",
            R"({"tree":[{"path":"data/a.csv","type":"blob"},{"path":"data/b.txt","type":"blob"},
                {"path":"data/../../x.csv","type":"blob"},{"path":"other/c.csv","type":"blob"},
                {"path":"data/d.csv","type":"tree"}],"truncated":false})"},
           {"https://raw.githubusercontent.com/o/r/" + commit + "/data/a.csv", "1,2"}};
  const Done done = fetch([&](Fetcher& fetcher) -> Status {
    const Result<std::string> found = fetch_github({}, {"o/r", "main", "data/", ".csv"}, fetcher);
    if (!found) return fail(found.error());
    EXPECT_EQ(*found, commit);
    EXPECT_THAT(fetcher.refused_names(), ElementsAre("data/../../x.csv"));
    return {};
  });
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_EQ(file("data/a.csv"), "1,2");
  EXPECT_EQ(record().files.size(), 1u);
}

TEST_F(FetchTest, ADataSetIsFetchedByItsInfoAndTheRevisionInIt) {
  const std::string commit(40, 'd');
  const std::string base = "https://huggingface.co/datasets/o/r/resolve/" + commit + "/";
  site_ = {{"https://huggingface.co/api/datasets/o/r",
            "{\"sha\":\"" + commit +
                "\",\"siblings\":[{\"rfilename\":\"definitions/a.json\"},{\"rfilename\":"
                "\"blob/x.safetensors\"},{\"rfilename\":\"traces/t.jsonl\"}]}"},
           {base + "definitions/a.json", "{}"},
           {base + "traces/t.jsonl", "{}\n"}};
  const Done done = fetch([&](Fetcher& fetcher) -> Status {
    const Result<std::string> found = fetch_hugging_face({}, "o/r", "", fetcher);
    return found ? Status() : fail(found.error());
  });
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_EQ(record().files.size(), 3u);
  EXPECT_EQ(file("traces/t.jsonl"), "{}\n");
}

TEST_F(FetchTest, RowsOfADataSetAreFetchedPageByPage) {
  const auto url = [](int offset) {
    return "https://datasets-server.huggingface.co/"
           "rows?dataset=o%2Fr&config=c&split=train&offset=" +
           std::to_string(offset) + "&length=100";
  };
  site_ = {{url(0), "{\"rows\":[{}],\"num_rows_total\":150}"},
           {url(100), "{\"rows\":[{}],\"num_rows_total\":150}"}};
  const Done done =
      fetch([&](Fetcher& fetcher) { return fetch_data_set_rows({}, "o/r", "c", fetcher); });
  ASSERT_TRUE(done.status) << done.status.error().text();
  EXPECT_EQ(record().files.size(), 2u);
  EXPECT_EQ(file("c/100.json"), site_[url(100)]);
}

}  // namespace
}  // namespace kernelindex::tools
