// SPDX-License-Identifier: Apache-2.0
// audit_attestations FOLDER [COUNT]: makes a ledger of COUNT attestations (100,000) in a new
// folder, one dispute in ten and notes otherwise, and compares its audit with the bare checks of
// their signatures, both on two threads. Prints "RATIO AUDIT_SECONDS CHECK_SECONDS", the least of
// three.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "ledger/attest.h"
#include "verify/audit.h"

namespace kernelindex {
namespace {

constexpr std::size_t kBatch = 900;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().text().c_str());
  std::exit(6);
}

void attest_all(Ledger& ledger, const LedgerOptions& options, std::size_t count) {
  const KeyFile contributor =
      must(read_role_key(options.directory / "keys", Role::contributor, ""));
  const KeyFile maintainer = must(read_role_key(options.directory / "keys", Role::maintainer, ""));
  const Digest subject = ledger.format().ledger_id;
  for (std::size_t done = 0; done < count;) {
    const bool disputes = done / kBatch % 10 == 9;
    std::vector<Saying> sayings;
    for (; sayings.size() < kBatch && done < count; ++done) {
      const std::string text = "number " + std::to_string(done);
      if (disputes) {
        sayings.push_back({subject, Dispute{text}});
      } else {
        sayings.push_back(
            {subject, CommunityNote{CommunityNote::Type::environment_note, text, {}, {}, {}}});
      }
    }
    must(attest(ledger, sayings, disputes ? maintainer.key : contributor.key));
  }
}

struct Check {
  Envelope envelope;
  PublicKey key;
};

std::vector<Check> read_checks(const Ledger& ledger) {
  const Reader reader = ledger.read();
  std::vector<Check> checks;
  for (std::uint64_t index = 0; index < reader.head().size; ++index) {
    const Entry entry = must(reader.entry(index));
    const auto* body = std::get_if<AttestationEntry>(&entry.body);
    if (body == nullptr) continue;
    const std::optional<std::string> bytes = must(reader.object(entry.content.digest));
    const Digest signer = must(Digest::parse_hex(body->signer));
    checks.push_back(
        {must(read_stored_envelope(bytes.value())), reader.state().keys.find(signer)->key});
  }
  return checks;
}

void verify_all(const std::vector<Check>& checks) {
  const auto part = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!checks[i].envelope.verify(checks[i].key)) std::abort();
    }
  };
  std::thread other(part, 0, checks.size() / 2);
  part(checks.size() / 2, checks.size());
  other.join();
}

int run(const char* folder, std::size_t count) {
  LedgerOptions options;
  options.directory = folder;
  FoundingOptions founding;
  founding.notes_per_day = kNotesPerDay;
  std::vector<Check> checks;
  {
    const std::unique_ptr<Ledger> ledger = must(Ledger::create(options, founding));
    attest_all(*ledger, options, count);
    checks = read_checks(*ledger);
  }
  double audit = 1e9;
  double bare = 1e9;
  for (int repeat = 0; repeat < 3; ++repeat) {
    bare = std::min(bare, seconds_of([&] { verify_all(checks); }));
    audit = std::min(audit, seconds_of([&] {
                       if (!must(audit_directory(options)).faults.empty()) std::exit(1);
                     }));
  }
  std::printf("%.2f %.2f %.2f\n", audit / bare, audit, bare);
  return 0;
}

}  // namespace
}  // namespace kernelindex

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: audit_attestations FOLDER [COUNT]\n", stderr);
    return 2;
  }
  return kernelindex::run(argv[1], argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 100'000);
}
