// SPDX-License-Identifier: Apache-2.0
// Controlled attempts as a ledger holds them: the facts for controlled_attempts.h, read as of a
// size of the log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ledger/controlled_attempts.h"
#include "ledger/reader.h"

namespace kernelindex {

// Must not outlive the reader; not for sharing between threads.
class ReaderAttempts final : public AttemptSource {
 public:
  ReaderAttempts(const Reader& reader, std::uint64_t size);

  Result<std::vector<SaidAt>> said_about(const Digest& subject) override;
  Result<std::optional<SaidAt>> attestation(const Digest& id) override;
  Result<std::vector<SaidAt>> calibrations(const Digest& runner) override;
  Result<std::optional<std::string>> object(const Digest& digest) override;
  Result<bool> held(const Digest& digest) override;
  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override;
  Result<std::optional<Manifest>> document(const Digest& identity) override;

  // How one's own ledger is read: all runners that it enrolled count, loosened results do not. A
  // job has expired when the last entry was recorded later. Error: those of reading that entry.
  Result<AttemptContext> own_context() const;
  std::uint64_t size() const { return size_; }

 private:
  const Reader& reader_;
  std::uint64_t size_;
  std::shared_ptr<const KeyBook> keys_;
  std::shared_ptr<const Judgements> judgements_;
  RowsAsOf rows_;
};

// Whether anything of a measurement stands on the chain of a subject: what makes it worth asking.
bool measured(const Reader& reader, const Digest& subject);

// The attestation at an entry with what the log says of it. Errors: those of read_attestation().
Result<SaidAt> read_said_at(const Reader& reader, std::uint64_t index);

// What was measured of a run: jobs about it, in order, and of a controlled run the job that it
// answers.
struct RunMeasurements {
  std::vector<ControlledJob> about;
  std::optional<ControlledJob> own;
};
// As of a size. Errors: those of reading.
Result<RunMeasurements> run_measurements(const Reader& reader, const Digest& run,
                                         std::uint64_t size);

// Jobs about a run as of a size, in order. Errors: those of reading.
Result<std::vector<ControlledJob>> controlled_jobs(const Reader& reader, const Digest& run,
                                                   std::uint64_t size);

}  // namespace kernelindex
