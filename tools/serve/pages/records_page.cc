// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "schema/utc_time.h"
#include "tools/display_text.h"
#include "tools/run_output.h"
#include "tools/serve/pages/filter_form.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"
#include "tools/serve/pages/runs_table.h"
#include "tools/units.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kPageRecords = 50;
constexpr std::size_t kFeedRecords = 100;

std::string folded(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// A day, or an instant; absent when nothing was given.
Result<std::optional<UtcMicros>> time_of(const Request& request, std::string_view name) {
  const std::string text(request.text(name));
  if (text.empty()) return std::nullopt;
  constexpr std::size_t kDayBytes = 10;
  const Result<UtcMicros> time =
      parse_utc_instant(text.size() == kDayBytes ? text + "T00:00:00Z" : text);
  if (time) return *time;
  return fail(ErrorKind::invalid, "BAD_PARAMETER", std::string(name), "'" + text + "' is no day",
              "Write it like 2026-06-29");
}

struct RecordFilter {
  std::string operation_words;  // folded
  std::optional<Digest> operation;
  std::string hardware;
  std::string source;
  std::string level;
  std::optional<UtcMicros> since;
  std::optional<UtcMicros> until;

  bool accepts(const IndexedRecord& record) const {
    const RecordView& view = record.view;
    if (operation && record.operation != operation) return false;
    if (!operation && !operation_words.empty() &&
        folded(view.operation_name).find(operation_words) == std::string::npos &&
        folded(readable_name(view.operation_name)).find(operation_words) == std::string::npos) {
      return false;
    }
    return (hardware.empty() || view.hardware == hardware) &&
           (source.empty() || view.source == source) &&
           (level.empty() || level_name(record.level) == level) && (!since || view.at >= *since) &&
           (!until || view.at < *until);
  }
};

Result<RecordFilter> filter_of(const Request& request) {
  RecordFilter filter;
  const std::string operation(request.text("operation"));
  if (const Result<Digest> digest = Digest::parse(operation)) {
    filter.operation = *digest;
  } else {
    filter.operation_words = folded(operation);
  }
  filter.hardware = request.text("hardware");
  filter.source = request.text("source");
  filter.level = request.text("level");
  const Result<std::optional<UtcMicros>> since = time_of(request, "since");
  if (!since) return fail(since.error());
  const Result<std::optional<UtcMicros>> until = time_of(request, "until");
  if (!until) return fail(until.error());
  filter.since = *since;
  filter.until = *until;
  return filter;
}

// What an Atom feed says of one move, as text.
std::string move_text(const RecordView& record) {
  return tools::format_quantity(record.value, record.unit) + " by " +
         std::string(tools::without_ending(record.implementation_name, record.operation_name)) +
         ": " + readable_name(record.operation_name) +
         (record.hardware.empty() ? "" : " on " + record.hardware);
}

}  // namespace

Result<Response> records_page(const Site& site, const SiteIndex& index, const Request& request) {
  const Result<RecordFilter> filter = filter_of(request);
  if (!filter) return fail(filter.error());
  std::vector<const RecordView*> chosen;
  for (const IndexedRecord& record : index.records) {
    if (filter->accepts(record)) chosen.push_back(&record.view);
  }
  const std::size_t pages =
      std::max<std::size_t>(1, (chosen.size() + kPageRecords - 1) / kPageRecords);
  const Result<std::uint64_t> asked = request.count("page", 1, 1'000'000);
  if (!asked) return fail(asked.error());
  const std::size_t page = std::clamp<std::size_t>(static_cast<std::size_t>(*asked), 1, pages);
  const std::size_t first = (page - 1) * kPageRecords;
  const std::span<const RecordView* const> shown =
      std::span(chosen).subspan(first, std::min(kPageRecords, chosen.size() - first));
  return page_response(site, {"Records", Part::records, Link("/api/v1/records")}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("h1", "Records");
      html.add("p", {{"class", "lead"}},
               "Each time a run took the lead of its comparison group, newest first.");
      const Html::Element line = html.in("p", {{"class", "head-links"}});
      html.link(Link("/records.atom"), "Atom feed");
      html.link(Link("/api/v1/records"), "JSON");
    }
    append_filter_form(html, Link("/records"), index, request, {false},
                       "Operation (words or digest)");
    const Html::Element section = html.in("section", {{"class", "section"}});
    html.add(
        "h2",
        tools::counted(chosen.size(), "move") +
            (pages > 1 ? ", page " + std::to_string(page) + " of " + std::to_string(pages) : ""));
    if (chosen.empty()) {
      html.add("p", {{"class", "soft"}}, "No record matches.");
    } else {
      append_records_table(html, shown, "Moves of records, newest observation first");
    }
    const Html::Element pager = html.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
    if (page > 1) {
      html.link(with_choices(Link("/records"), request).query("page", std::to_string(page - 1)),
                "← Newer");
    }
    if (page < pages) {
      html.link(with_choices(Link("/records"), request).query("page", std::to_string(page + 1)),
                "Older →");
    }
  });
}

// RFC 4287. Entries are named by run and group, so that a reader sees each move once. Without a
// known address of this server the links begin with a slash, which feed readers resolve.
Result<Response> records_feed(const Site& site, const SiteIndex& index) {
  const std::string& base = site.options.base_url;
  const std::string ledger = site.reader.format().ledger_id.hex();
  const UtcMicros updated = index.records.empty() ? 0 : index.records.front().view.at;
  std::string out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
  Html xml;
  {
    const Html::Element feed = xml.in("feed", {{"xmlns", "http://www.w3.org/2005/Atom"}});
    xml.add("title", "KernelIndex records, " + site.reader.format().origin);
    xml.add("id", "urn:kernelindex:" + ledger + ":records");
    xml.add("updated", tools::time_text(updated));
    // An empty element of XML needs its end.
    xml.add("link", {{"rel", "alternate"}, Attribute::href(Link::on(base, Link("/records")))});
    xml.add("link", {{"rel", "self"}, Attribute::href(Link::on(base, Link("/records.atom")))});
    {
      const Html::Element author = xml.in("author");
      xml.add("name", site.reader.format().origin);
    }
    std::size_t count = 0;
    for (const IndexedRecord& record : index.records) {
      if (count++ == kFeedRecords) break;
      const RecordView& view = record.view;
      const Html::Element entry = xml.in("entry");
      xml.add("title", move_text(view));
      xml.add("id",
              "urn:kernelindex:" + ledger + ":record:" + view.key.hex() + ":" + view.run.hex());
      xml.add("updated", tools::time_text(view.at));
      xml.add("link", {{"rel", "alternate"}, Attribute::href(Link::on(base, run_link(view.run)))});
      std::string summary =
          (view.previous ? std::string("A new record") : std::string("The first record")) + " of " +
          source_title(view.source) + ", observed " + tools::time_text(view.at);
      if (view.late) summary += ", recorded LATE";
      xml.add("summary", summary + ".");
    }
  }
  return answer(out + xml.take() + "\n", "application/atom+xml; charset=utf-8");
}

}  // namespace kernelindex::serve
