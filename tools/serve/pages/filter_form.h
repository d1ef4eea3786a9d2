// SPDX-License-Identifier: Apache-2.0
// The form by which a list of runs or records is narrowed: a GET form, so that what was chosen
// stands in the address.
#pragma once

#include "tools/serve/pages/html.h"
#include "tools/serve/pages/site_index.h"
#include "tools/serve/request.h"

namespace kernelindex::serve {

struct FilterFields {
  bool status = false;
};

// `path` is the list's own address.
void append_filter_form(Html& html, const Link& path, const SiteIndex& index,
                        const Request& request, const FilterFields& fields,
                        std::string_view operation_label);

// The address of the list with the same choices, without a place in it.
Link with_choices(const Link& path, const Request& request);

}  // namespace kernelindex::serve
