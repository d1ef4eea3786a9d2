// SPDX-License-Identifier: Apache-2.0
#include "verify/audit_report.h"

#include <algorithm>

#include "schema/canonical_json.h"

namespace kernelindex {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

Value number(std::uint64_t count) { return Value(static_cast<double>(count)); }

Value fault_value(Arena& arena, const Fault& fault) {
  ObjectBuilder out(arena);
  if (fault.index) out.add("index", number(*fault.index));
  if (fault.digest) out.add("digest", fault.digest->text());
  return out.add("code", fault.code)
      .add("what", fault.what)
      .add("expected", fault.expected)
      .add("found", fault.found)
      .add("derived", Value(fault.derived))
      .finish();
}

Value counts_value(Arena& arena, const AuditCounts& checked) {
  return ObjectBuilder(arena)
      .add("leaves", number(checked.leaves))
      .add("objects", number(checked.objects))
      .add("identities", number(checked.identities))
      .add("comparisonKeys", number(checked.comparison_keys))
      .add("signatures", number(checked.signatures))
      .add("rows", number(checked.rows))
      .finish();
}

}  // namespace

bool AuditReport::derived_only() const {
  return faults_left_out == 0 && std::ranges::all_of(faults, &Fault::derived);
}

std::string AuditReport::json() const {
  Arena arena;
  std::vector<Value> list;
  list.reserve(faults.size());
  for (const Fault& fault : faults) list.push_back(fault_value(arena, fault));
  return json::canonical(ObjectBuilder(arena)
                             .add("ok", Value(ok()))
                             .add("size", number(size))
                             .add("root", root.text())
                             .add("checked", counts_value(arena, checked))
                             .add("faults", arena.array(list))
                             .add("faultsLeftOut", number(faults_left_out))
                             .finish());
}

}  // namespace kernelindex
