// SPDX-License-Identifier: Apache-2.0
// An importer over some of the files of an import: a sink that gives files the numbers that they
// have among all.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ingest/draft.h"

namespace kernelindex::ingest {

class FileSubset final : public DraftSink {
 public:
  // File i of the importer is file numbers[i] of `sink`, which outlives this object.
  FileSubset(std::vector<std::size_t> numbers, DraftSink& sink)
      : numbers_(std::move(numbers)), sink_(sink) {}

  // The files of that subset, in its order.
  template <typename File>
  std::vector<File> files_of(std::span<const File> all) const {
    std::vector<File> out;
    out.reserve(numbers_.size());
    for (const std::size_t number : numbers_) out.push_back(all[number]);
    return out;
  }

  Status begin_file(std::size_t file) override { return sink_.begin_file(numbers_[file]); }
  Status claim(Draft draft) override {
    draft.file = numbers_[draft.file];
    return sink_.claim(std::move(draft));
  }
  Status artifact(ArtifactDraft artifact) override { return sink_.artifact(std::move(artifact)); }
  Status withdrawn(WithdrawalDraft withdrawal) override {
    withdrawal.file = numbers_[withdrawal.file];
    return sink_.withdrawn(std::move(withdrawal));
  }
  void finding(Finding finding) override { sink_.finding(std::move(finding)); }
  void skipped(std::string_view reason) override { sink_.skipped(reason); }
  void selected() override { sink_.selected(); }
  void counted(std::string_view what, std::uint64_t times) override { sink_.counted(what, times); }

 private:
  std::vector<std::size_t> numbers_;
  DraftSink& sink_;
};

}  // namespace kernelindex::ingest
