// SPDX-License-Identifier: Apache-2.0
// What stands around every page, and the small pieces that all pages are made of.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/query.h"
#include "schema/digest.h"
#include "tools/serve/pages/html.h"
#include "tools/serve/response.h"
#include "tools/serve/site.h"

namespace kernelindex::serve {

// Which of the site's parts a page belongs to, for the navigation.
enum class Part : std::uint8_t { none, records, runs, operations, hardware, sources, log };

struct PageHead {
  std::string title;  // " · KernelIndex" is added
  Part part = Part::none;
  std::optional<Link> json;  // the same facts for programs
};

// A whole page. `body` writes what is inside <main>.
std::string page(const Site& site, const PageHead& head, const std::function<void(Html&)>& body);
// The same as an answer with its headers.
Response page_response(const Site& site, const PageHead& head,
                       const std::function<void(Html&)>& body);

// ---- links ----

Link run_link(const Digest& run);
Link group_link(const Digest& key);
Link operation_link(const Digest& operation);
Link implementation_link(const Digest& implementation);
Link project_link(const Digest& project);
Link hardware_link(std::string_view product);
Link source_link(std::string_view source);
// The page of a manifest of any kind.
Link manifest_link(ManifestKind kind, const Digest& identity);
// "/api/v1/evidence/sha256:…/bundle" and the like are built where they stand.

// ---- pieces ----

// "sha256:fa2cdd25d5d2…", opened to the whole digest with a button that copies it. `id` is the
// element's id, once on a page.
void append_digest(Html& html, const Digest& digest, std::string_view id);
// "sha256:fa2cdd25d5d2…" alone.
std::string short_digest(const Digest& digest);

// The level as word and steps: "●●○○○ reported" would be for the eye alone, so the word leads.
void append_level(Html& html, Level level);

// <time datetime> with the day.
void append_day(Html& html, UtcMicros time);

// A name and a value in a <dl class="facts">; `value` writes the value.
void append_fact(Html& html, std::string_view name, const std::function<void(Html&)>& value);
// The same with text of somebody else; nothing when it is empty.
void append_fact(Html& html, std::string_view name, std::string_view value);

// Text that can be selected and copied as a whole: commands, citations.
void append_copyable(Html& html, std::string_view text, std::string_view id, bool wrap = true);

// The title of a source, "NVIDIA SOL-ExecBench"; the slug of one that the program does not know.
std::string source_title(std::string_view slug);

// "59.8" and "µs" of 59812 ns.
struct Amount {
  std::string number;
  std::string unit;
};
Amount amount_of(const RunRow& row);

}  // namespace kernelindex::serve
