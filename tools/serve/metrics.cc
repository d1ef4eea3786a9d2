// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace kernelindex::serve {
namespace {

// Bytes of memory that are in use by this process; 0 when the system does not say.
std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void add(std::string& out, std::string_view type, std::string_view name, std::string_view help,
         auto value) {
  fmt::format_to(std::back_inserter(out),
                 "# HELP kernelindex_{1} {2}\n# TYPE kernelindex_{1} {0}\n"
                 "kernelindex_{1} {3}\n",
                 type, name, help, value);
}

}  // namespace

void Metrics::answered(unsigned status, std::uint64_t body_bytes, std::uint64_t micros) {
  ++by_class_[std::min<std::size_t>(status / 100, by_class_.size() - 1)];
  const auto bucket = std::ranges::lower_bound(kBuckets, micros);
  ++durations_[static_cast<std::size_t>(bucket - kBuckets.begin())];
  duration_micros_ += micros;
  body_bytes_ += body_bytes;
}

std::string Metrics::text(const Gauges& gauges) const {
  std::string out =
      "# HELP kernelindex_http_responses_total Answers, by the class of their status.\n"
      "# TYPE kernelindex_http_responses_total counter\n";
  for (std::size_t i = 1; i < by_class_.size(); ++i) {
    fmt::format_to(std::back_inserter(out),
                   "kernelindex_http_responses_total{{status=\"{}xx\"}} {}\n", i,
                   by_class_[i].load());
  }
  out +=
      "# HELP kernelindex_http_duration_seconds From a whole request to its last byte sent.\n"
      "# TYPE kernelindex_http_duration_seconds histogram\n";
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < durations_.size(); ++i) {
    count += durations_[i].load();
    const std::string bound =
        i < kBuckets.size() ? fmt::format("{}", static_cast<double>(kBuckets[i]) / 1e6) : "+Inf";
    fmt::format_to(std::back_inserter(out),
                   "kernelindex_http_duration_seconds_bucket{{le=\"{}\"}} {}\n", bound, count);
  }
  fmt::format_to(std::back_inserter(out),
                 "kernelindex_http_duration_seconds_sum {}\n"
                 "kernelindex_http_duration_seconds_count {}\n",
                 static_cast<double>(duration_micros_.load()) / 1e6, count);
  add(out, "counter", "http_body_bytes_total", "Bytes of bodies sent.", body_bytes_.load());
  add(out, "counter", "cache_hits_total", "Answers that were in memory.", cache_hits.load());
  add(out, "counter", "cache_misses_total", "Answers that were made.", cache_misses.load());
  add(out, "gauge", "cache_bytes", "Bytes of answers in memory.", gauges.cache_bytes);
  add(out, "counter", "connections_accepted_total", "Connections taken.",
      connections_accepted.load());
  add(out, "counter", "connections_refused_total", "Connections closed at the limit.",
      connections_refused.load());
  add(out, "counter", "connections_expired_total", "Connections closed for being slow or idle.",
      connections_expired.load());
  add(out, "gauge", "connections_open", "Connections that are open.", connections_open.load());
  add(out, "gauge", "answers_in_work", "Answers being made.", answers_in_work.load());
  add(out, "counter", "ledger_reloads_total", "Newer states of the ledger taken over.",
      reloads.load());
  add(out, "counter", "ledger_reload_faults_total", "Newer states that could not be opened.",
      reload_faults.load());
  add(out, "gauge", "ledger_size", "Entries of the state that is served.", gauges.ledger_size);
  add(out, "gauge", "checkpoint_size", "Entries that the served checkpoint signs.",
      gauges.checkpoint_size);
  add(out, "gauge", "process_resident_memory_bytes", "Memory in use.", resident_bytes());
  return out;
}

}  // namespace kernelindex::serve
