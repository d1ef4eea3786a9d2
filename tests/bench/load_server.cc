// SPDX-License-Identifier: Apache-2.0
// How many requests a second a running server answers, how long they take, and what it does to its
// memory. Speaks to `kernelindex serve` over connections that stay open, one thread each.
//
//   load_server PORT [CONNECTIONS [SECONDS [MINUTE]]]
//
// First every kind of request alone: as many as it can for SECONDS, then a moderate load for as
// long, which is half of that and at most 1,000 a second. A time under moderate load runs from the
// instant that the request was due, so that waiting behind a slow one counts. Then all kinds mixed,
// at a quarter of their rate, for MINUTE seconds, with the server's resident memory before, at its
// peak and after.
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using Steady = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kModerate = 1'000;     // requests a second at most
constexpr double kTargetMs = 25;        // p99 of pages and JSON
constexpr double kMemoryTarget = 1.25;  // the peak of the mixed minute, of the memory before

struct Plan {
  std::uint16_t port = 0;
  unsigned connections = 16;
  double seconds = 5;
  double minute = 60;
};

// One connection that stays open.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(context_) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    socket_.set_option(tcp::no_delay(true));
  }
  // Throws unless it is answered with 200.
  std::string get(const std::string& path, std::string_view accept) {
    http::request<http::empty_body> request(http::verb::get, path, 11);
    request.set(http::field::host, "localhost");
    request.set(http::field::accept, boost::beast::string_view(accept.data(), accept.size()));
    http::write(socket_, request);
    http::response_parser<http::string_body> answer;
    answer.body_limit(std::uint64_t{64} << 20u);
    http::read(socket_, buffer_, answer);
    if (answer.get().result_int() != 200) {
      throw std::runtime_error(path + ": " + std::to_string(answer.get().result_int()));
    }
    return std::move(answer.get().body());
  }

 private:
  boost::asio::io_context context_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
};

struct Kind {
  std::string_view name;
  std::string_view accept;
  std::vector<std::string> paths;
  bool has_target = false;
  double rate = 0;  // of requests a second, when nothing holds it back
};

struct Times {
  double per_second = 0;
  std::vector<double> ms;  // ascending

  double quantile(double part) const {
    return ms.empty() ? 0 : ms[static_cast<std::size_t>(part * static_cast<double>(ms.size() - 1))];
  }
};

// Chooses requests at random; with the same seed in the same order.
class Chooser {
 public:
  Chooser(const std::vector<const Kind*>& kinds, unsigned seed) : kinds_(kinds), random_(seed) {}
  std::pair<const Kind*, const std::string*> next() {
    const Kind* kind = kinds_[random_() % kinds_.size()];
    return {kind, &kind->paths[random_() % kind->paths.size()]};
  }

 private:
  std::vector<const Kind*> kinds_;
  std::mt19937 random_;
};

// What one connection does until `end`; with a rate, each request when it is due.
void drive(const Plan& plan, const std::vector<const Kind*>& kinds, unsigned number, double rate,
           Steady::time_point begin, double seconds, std::vector<double>& ms) {
  Client client(plan.port);
  // Other requests than those of the load before: its answers are still in the server's memory.
  static std::atomic<unsigned> seed = 1;
  Chooser chooser(kinds, seed++);
  const Steady::time_point end =
      begin + std::chrono::duration_cast<Steady::duration>(Seconds(seconds));
  for (std::size_t i = 0;; ++i) {
    Steady::time_point due = Steady::now();
    if (rate > 0) {
      const double after = (static_cast<double>(i) * plan.connections + number) / rate;
      due = begin + std::chrono::duration_cast<Steady::duration>(Seconds(after));
      std::this_thread::sleep_until(std::min(due, end));
    }
    if (due >= end || Steady::now() >= end) return;
    const auto [kind, path] = chooser.next();
    client.get(*path, kind->accept);
    ms.push_back(std::chrono::duration<double, std::milli>(Steady::now() - due).count());
  }
}

Times load(const Plan& plan, const std::vector<const Kind*>& kinds, double rate, double seconds) {
  std::vector<std::vector<double>> all(plan.connections);
  const Steady::time_point begin = Steady::now();
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < plan.connections; ++i) {
      threads.emplace_back([&, i] { drive(plan, kinds, i, rate, begin, seconds, all[i]); });
    }
  }
  Times times;
  for (const std::vector<double>& some : all) {
    times.ms.insert(times.ms.end(), some.begin(), some.end());
  }
  times.per_second = static_cast<double>(times.ms.size()) / Seconds(Steady::now() - begin).count();
  std::ranges::sort(times.ms);
  return times;
}

// All texts between `before` and the next quote.
std::set<std::string> quoted(std::string_view text, std::string_view before) {
  std::set<std::string> out;
  for (std::size_t at = 0; (at = text.find(before, at)) != std::string_view::npos;) {
    at += before.size();
    out.emplace(text.substr(at, text.find('"', at) - at));
  }
  return out;
}

// Digests of runs, `pages` lists of a thousand.
std::vector<std::string> runs_of(Client& client, int pages) {
  std::vector<std::string> runs;
  std::string cursor;
  for (int i = 0; i < pages; ++i) {
    const std::string list =
        client.get("/api/v1/runs?limit=1000" + (cursor.empty() ? "" : "&cursor=" + cursor),
                   "application/json");
    for (const std::string& digest : quoted(list, "\"digest\":\"sha256:")) {
      runs.push_back("sha256:" + digest);
    }
    const std::set<std::string> next = quoted(list, "\"cursor\":\"");
    if (next.empty()) break;
    cursor = *next.begin();
  }
  if (runs.empty()) throw std::runtime_error("the ledger has no runs");
  return runs;
}

std::vector<std::string> each(std::string_view before, const std::vector<std::string>& middles,
                              std::size_t limit) {
  std::vector<std::string> paths;
  for (const std::string& middle : middles) {
    if (paths.size() == limit) break;
    paths.push_back(std::string(before) + middle);
  }
  return paths;
}

std::vector<Kind> kinds_of(Client& client) {
  constexpr std::string_view kHtml = "text/html";
  constexpr std::string_view kJson = "application/json";
  constexpr std::size_t kPopular = 100;
  const std::vector<std::string> runs = runs_of(client, 20);
  std::vector<std::string> searches;
  for (const char* first : {"gemm", "moe", "attention", "softmax", "rmsnorm", "backward", "fp8"}) {
    for (const char* second :
         {"", "+forward", "+b200", "+gate", "+projection", "+h100", "+linear"}) {
      searches.push_back(std::string(first) + second);
    }
  }
  return {
      {"/healthz, the bare server", kHtml, {"/healthz"}},
      {"run page, a hundred runs", kHtml, each("/runs/", runs, kPopular), true},
      {"run page, all runs", kHtml, each("/runs/", runs, runs.size()), true},
      {"JSON run, a hundred runs", kJson, each("/api/v1/runs/", runs, kPopular), true},
      {"JSON run, all runs", kJson, each("/api/v1/runs/", runs, runs.size()), true},
      {"search page", kHtml, each("/search?q=", searches, searches.size())},
      {"search page, never the same twice", kHtml, [&] {
         std::vector<std::string> paths;
         for (int i = 0; i < 20'000; ++i) {
           paths.push_back("/search?q=" + searches[static_cast<std::size_t>(i) % searches.size()] +
                           "&x=" + std::to_string(i));
         }
         return paths;
       }()}};
}

double resident_mib(Client& client) {
  constexpr std::string_view kName = "\nkernelindex_process_resident_memory_bytes ";
  const std::string text = client.get("/metrics", "text/plain");
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) throw std::runtime_error("/metrics says nothing of memory");
  return std::strtod(text.c_str() + at + kName.size(), nullptr) / (1 << 20);
}

bool measure_alone(const Plan& plan, std::vector<Kind>& kinds) {
  bool met = true;
  std::printf("%-34s %10s %8s %8s %8s %8s\n", "", "requests/s", "of bare", "p50 ms", "p99 ms",
              "of 25 ms");
  for (Kind& kind : kinds) {
    kind.rate = load(plan, {&kind}, 0, plan.seconds).per_second;
    const Times moderate = load(plan, {&kind}, std::min(kind.rate / 2, kModerate), plan.seconds);
    const double p99 = moderate.quantile(0.99);
    std::printf("%-34.*s %10.0f %8.3f %8.2f %8.2f", static_cast<int>(kind.name.size()),
                kind.name.data(), kind.rate, kind.rate / kinds.front().rate, moderate.quantile(0.5),
                p99);
    if (kind.has_target) std::printf(" %8.2f", p99 / kTargetMs);
    std::printf("\n");
    std::fflush(stdout);
    if (kind.has_target && p99 >= kTargetMs) met = false;
  }
  return met;
}

bool measure_mixed(const Plan& plan, const std::vector<Kind>& kinds) {
  std::vector<const Kind*> mixed;
  double seconds_each = 0;  // that a request of each kind takes, one after the other
  for (std::size_t i = 1; i < kinds.size(); ++i) {
    mixed.push_back(&kinds[i]);
    seconds_each += 1 / kinds[i].rate;
  }
  const double rate = static_cast<double>(mixed.size()) / seconds_each / 4;
  Client watcher(plan.port);
  const double before = resident_mib(watcher);
  double peak = before;
  Times times;
  {
    std::atomic<bool> done = false;
    std::jthread watching([&] {
      while (!done) {
        peak = std::max(peak, resident_mib(watcher));
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
      }
    });
    times = load(plan, mixed, rate, plan.minute);
    done = true;
  }
  std::printf("\nmixed, %.0f s at %.0f requests/s: p50 %.2f ms, p99 %.2f ms, %.2f of 25 ms\n",
              plan.minute, times.per_second, times.quantile(0.5), times.quantile(0.99),
              times.quantile(0.99) / kTargetMs);
  std::printf("resident MiB: %.0f before, %.0f at its peak, %.0f after; peak of before %.2f\n",
              before, peak, resident_mib(watcher), peak / before);
  return peak / before <= kMemoryTarget;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.size() > 4) {
    std::fprintf(stderr, "load_server PORT [CONNECTIONS [SECONDS [MINUTE]]]\n");
    return 2;
  }
  try {
    Plan plan;
    plan.port = static_cast<std::uint16_t>(std::stoul(words[0]));
    if (words.size() > 1) plan.connections = static_cast<unsigned>(std::stoul(words[1]));
    if (words.size() > 2) plan.seconds = std::stod(words[2]);
    if (words.size() > 3) plan.minute = std::stod(words[3]);
    Client client(plan.port);
    std::vector<Kind> kinds = kinds_of(client);
    const bool fast = measure_alone(plan, kinds);
    const bool bounded = measure_mixed(plan, kinds);
    if (!fast || !bounded) std::printf("a target is missed\n");
    return fast && bounded ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load_server: %s\n", error.what());
    return 2;
  }
}
