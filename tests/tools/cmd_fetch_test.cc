// SPDX-License-Identifier: Apache-2.0
// `fetch` from a server with TLS on loopback, and `import` of what it wrote.
#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

#include "tests/support/test_server.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

// Answers requests for the API with the files of the sample dump.
class FetchCommand : public Cli {
 protected:
  void SetUp() override {
    write_file(folder_ / "root.pem", authority_.root());
    certificate_ = authority_.issue("DNS:localhost,IP:127.0.0.1");
    server_.emplace(TestServer::Options{&certificate_}, [this](TestServer::Peer& peer) {
      for (std::string request; !(request = peer.read_request()).empty();) {
        peer.send(answer(request));
      }
    });
  }
  void TearDown() override { server_.reset(); }

  std::string answer(const std::string& request) const {
    const std::string target = request.substr(4, request.find(' ', 4) - 4);
    std::string path = target.substr(std::min(target.size(), std::string("/api/").size()));
    if (const std::size_t query = path.find("?kernel_id="); query != std::string::npos) {
      path = "submissions/" + path.substr(query + 11, path.find('&') - query - 11);
    }
    const std::filesystem::path file = source_root() / "tools/sample" / (path + ".json");
    if (!target.starts_with("/api/") || !std::filesystem::exists(file)) {
      return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    }
    const std::string body = read_file(file);
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  std::vector<std::string> fetch_words() const {
    return {"fetch",        "sol-execbench",
            "--to",         (folder_ / "dump").string(),
            "--base-url",   "https://localhost:" + std::to_string(server_->port()) + "/api",
            "--allow-host", "localhost",
            "--trust",      (folder_ / "root.pem").string(),
            "--pause",      "0"};
  }

  CertificateAuthority authority_;
  Certificate certificate_;
  std::optional<TestServer> server_;
};

TEST_F(FetchCommand, WhatIsFetchedIsImportedAsFetched) {
  const json::Value fetched = document(fetch_words());
  EXPECT_EQ(fetched.find({"files", "new"})->number(), 5) << "a list, two kernels, two pages";
  for (const char* path : {"kernels.json", "kernels/79.json", "submissions/79.json"}) {
    EXPECT_EQ(read_file(folder_ / "dump" / path), read_file(source_root() / "tools/sample" / path));
  }
  found_ledger();
  const std::string dump = (folder_ / "dump").string();
  const std::string said = ok({"import", "sol-execbench", dump});
  EXPECT_THAT(said, HasSubstr("1 artifact")) << "the record of the fetch is kept";
  const json::Value told = document({"provenance", "sol-execbench:submission/15866"});
  const json::Value& claim = told.find("claims")->array()[0];
  EXPECT_EQ(claim.text("acquired"), "fetched");
  EXPECT_THAT(std::string(claim.find("snapshot")->text("locator")),
              HasSubstr("/api/submissions?kernel_id=79&offset=0&limit=50"));
  EXPECT_EQ(claim.find("snapshot")->text("fetchedAt"), "2026-11-30T12:00:00.000000Z");
  EXPECT_THAT(ok({"import", "sol-execbench", dump}), HasSubstr("recorded  0 manifests"));
  EXPECT_THAT(ok({"audit", "--reimport"}), HasSubstr("OK"));
}

// What was recorded from files is said anew by its source itself, and a review knows the
// difference.
TEST_F(FetchCommand, WhatWasSuppliedBeforeIsANewClaimAndNoNewObject) {
  import_sample();
  ok(fetch_words());
  const std::string file = (folder_ / "review.json").string();
  const json::Value review =
      document({"import", "sol-execbench", (folder_ / "dump").string(), "--review", file});
  const json::Value& import = review.find("imports")->array()[0];
  EXPECT_EQ(import.find({"proposed", "newClaim", "BenchmarkRun"})->number(), 7);
  EXPECT_TRUE(import.find({"proposed", "insert"})->object().empty());
  EXPECT_EQ(import.find({"wouldRecord", "artifacts"})->number(), 1) << "the record of the fetch";
  const json::Value done = document({"import", "--apply", file});
  EXPECT_EQ(done.find({"recorded", "manifests"})->number(), 58);
  EXPECT_EQ(done.find({"recorded", "artifacts"})->number(), 1);
  EXPECT_EQ(done.find({"recorded", "snapshots"})->number(), 5) << "beside README.md, not fetched";
}

TEST_F(FetchCommand, AFileThatWasEditedAfterwardsIsSuppliedAndSaid) {
  ok(fetch_words());
  const std::filesystem::path page = folder_ / "dump/submissions/79.json";
  write_file(page, read_file(page) + "\n");
  found_ledger();
  const std::string dump = (folder_ / "dump").string();
  const json::Value report = document({"import", "sol-execbench", dump});
  ASSERT_EQ(report.find("review")->array().size(), 1u);
  EXPECT_EQ(report.find("review")->array()[0].text("code"), "FETCHED_FILE_CHANGED");
  const json::Value told = document({"provenance", "sol-execbench:submission/15866"});
  EXPECT_EQ(told.find("claims")->array()[0].text("acquired"), "supplied");
}

TEST_F(FetchCommand, WhatCameWithoutTlsIsSuppliedAndSaid) {
  ok(fetch_words());
  const std::filesystem::path record = folder_ / "dump/fetch-record.jsonl";
  std::string text = read_file(record);
  for (std::size_t at = 0; (at = text.find("https://", at)) != std::string::npos;) {
    text.replace(at, 8, "http://");
  }
  write_file(record, text);
  found_ledger();
  const json::Value report = document({"import", "sol-execbench", (folder_ / "dump").string()});
  ASSERT_EQ(report.find("review")->array().size(), 5u);
  EXPECT_EQ(report.find("review")->array()[0].text("code"), "FETCHED_WITHOUT_TLS");
  const json::Value told = document({"provenance", "sol-execbench:submission/15866"});
  EXPECT_EQ(told.find("claims")->array()[0].text("acquired"), "supplied");
}

TEST_F(FetchCommand, LoopbackIsRefusedUnlessItIsAllowed) {
  std::vector<std::string> words = fetch_words();
  words.erase(words.begin() + 6, words.begin() + 8);
  const Outcome refused = run(words);
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("ADDRESS_REFUSED"));
}

TEST_F(FetchCommand, ACertificateThatNobodyKnowsIsRefused) {
  std::vector<std::string> words = fetch_words();
  words.erase(words.begin() + 8, words.begin() + 10);
  const Outcome refused = run(words);
  EXPECT_EQ(refused.exit_code, 6) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("TLS_FAILED"));
}

}  // namespace
}  // namespace kernelindex::test
