// SPDX-License-Identifier: Apache-2.0
// The roles of keys: who may sign what. DESIGN section 6.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelindex {

// In the order in which a founding enrols them. The numbers are stored in rows and never change.
enum class Role : std::uint8_t {
  root = 1,         // founds the ledger; enrols, revokes and approves
  log = 2,          // signs checkpoints, and nothing else
  importer = 3,     // claims: import/v1, withdrawal/v1
  contributor = 4,  // notes
  controller = 5,   // measurement jobs and acceptances
  runner = 6,       // controlled runs and calibrations
  maintainer = 7,   // retractions, supersessions, disputes
  status = 8,       // status/v1 in bundles
};

inline constexpr std::array kRoles = {Role::root,        Role::log,        Role::importer,
                                      Role::contributor, Role::controller, Role::runner,
                                      Role::maintainer,  Role::status};

// "importer": the word in documents, in file names and on the command line.
constexpr std::string_view role_name(Role role) {
  switch (role) {
    case Role::root:
      return "root";
    case Role::log:
      return "log";
    case Role::importer:
      return "importer";
    case Role::contributor:
      return "contributor";
    case Role::controller:
      return "controller";
    case Role::runner:
      return "runner";
    case Role::maintainer:
      return "maintainer";
    case Role::status:
      return "status";
  }
  return {};
}

constexpr std::optional<Role> role_from_name(std::string_view name) {
  for (const Role role : kRoles) {
    if (role_name(role) == name) return role;
  }
  return std::nullopt;
}

}  // namespace kernelindex
