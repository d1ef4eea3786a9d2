// SPDX-License-Identifier: Apache-2.0
#include "ledger/evidence_text.h"

#include <array>

namespace kernelindex {
namespace {

// In the order of LevelReason.
constexpr std::array<ReasonText, 31> kTexts = {{
    {"no claim comes from the run's own source", "import it from the source that measured it"},
    {"no import statement of a valid importer key covers the claim",
     "import it again with an enrolled importer key"},
    {"the import that made the claim was taken back", "import it again from sound bytes"},
    {"the bytes that the claim was read from are not held", "import the snapshot again"},
    {"its own source claims it, in bytes that are held", {}},
    {"the implementation is not in the ledger", "record the implementation's manifest"},
    {"the workload is not in the ledger", "record the workload's manifest"},
    {"the protocol is not in the ledger", "record the protocol's manifest"},
    {"the environment is not in the ledger", "record the environment's manifest"},
    {"the model is not in the ledger", "record the model's manifest"},
    {"the serving configuration is not in the ledger", "record the configuration's manifest"},
    {"the implementation names no source by digest", "a source that is named by digest"},
    {"neither raw samples nor logs are named by digest", "raw samples or logs named by digest"},
    {"source and samples or logs are named, and not all of their bytes are in the log",
     "put the named bytes into the log with `kernelindex add --artifact`"},
    {"source and samples or logs are in the log", {}},
    {"serving runs are reported at most", {}},
    {"its chain holds something that this program cannot read", "a newer version of this program"},
    {"it was retracted", {}},
    {"it is disputed, and the dispute is open", {}},
    {"it claims to be a controlled run and no acceptance says so",
     "an acceptance of its result by a controller"},
    {"it is an accepted controlled run itself", {}},
    {"nobody has rerun it under control", "a controlled rerun that confirms it"},
    {"a rerun compiled files that no digest of the implementation covers",
     "digests of every file that is compiled"},
    {"controlled reruns that confirm it do not outnumber those that did not",
     "more controlled reruns that confirm it"},
    {"controlled reruns confirm it", {}},
    {"only one owner of runners has confirmed it",
     "a confirming rerun by another owner, on another device"},
    {"two owners confirmed it on the same device or with the same samples",
     "a confirming rerun by another owner, on another device"},
    {"two owners confirmed it on different devices of one host, or in one boot",
     "a confirming rerun by another owner, on another host"},
    {"two owners confirmed it with numbers that are not alike",
     "confirming reruns by two owners whose medians are within 3 % or their noise"},
    {"two owners confirmed it on different hosts and devices", {}},
    {"a runner of the ledger's own operator is among those who confirmed it", {}},
}};
static_assert(kTexts.size() == static_cast<std::size_t>(LevelReason::operator_ran_it) + 1);

}  // namespace

ReasonText reason_text(LevelReason reason) { return kTexts[static_cast<std::size_t>(reason)]; }

std::string_view level_text(Level level) {
  switch (level) {
    case Level::none:
      return "nobody who counts claims it";
    case Level::reported:
      return "its source says so, in bytes that are kept";
    case Level::reproducible:
      return "reported, and the bytes to repeat and recheck it are kept";
    case Level::verified:
      return "a controlled rerun confirms it";
    case Level::replicated:
      return "controlled reruns by two owners confirm it";
  }
  return {};
}

}  // namespace kernelindex
