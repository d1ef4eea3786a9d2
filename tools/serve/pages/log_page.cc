// SPDX-License-Identifier: Apache-2.0
#include "ledger/checkpoint.h"
#include "ledger/key_book.h"
#include "tools/display_text.h"
#include "tools/log_identity.h"
#include "tools/run_output.h"
#include "tools/serve/pages/handlers.h"
#include "tools/serve/pages/layout.h"

namespace kernelindex::serve {
namespace {

void append_state(Html& html, const Site& site) {
  const Reader& reader = site.reader;
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "state"}});
  html.add("h2", "State");
  const Html::Element list = html.in("dl", {{"class", "facts"}});
  append_fact(html, "origin", reader.format().origin);
  append_fact(html, "owner", reader.format().owner);
  append_fact(html, "ledger id", [&](Html& inner) {
    append_digest(inner, reader.format().ledger_id, "digest-ledger");
  });
  append_fact(html, "size", tools::grouped(reader.head().size) + " entries");
  append_fact(html, "root",
              [&](Html& inner) { append_digest(inner, reader.head().root, "digest-root"); });
  append_fact(html, "verifier key", [&](Html& inner) {
    append_copyable(inner, tools::log_key_text(reader), "verifier-key");
  });
}

std::string cosigned_at(const NoteSignature& signature) {
  // A cosignature begins with the POSIX seconds at which it was made.
  constexpr std::size_t kTimeBytes = 8;
  constexpr std::size_t kCosignatureBytes = kTimeBytes + 64;
  if (signature.bytes.size() != kCosignatureBytes) return {};
  std::uint64_t seconds = 0;
  for (std::size_t i = 0; i < kTimeBytes; ++i) {
    seconds = seconds << 8 | static_cast<std::uint8_t>(signature.bytes[i]);
  }
  constexpr std::uint64_t kLastSecond = 253'402'300'799;  // of the year 9999
  if (seconds > kLastSecond) return {};
  return tools::time_text(static_cast<UtcMicros>(seconds) * 1'000'000);
}

void append_checkpoint(Html& html, const Site& site) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "checkpoint"}});
  html.add("h2", "Checkpoint");
  if (site.checkpoint == nullptr) {
    html.add("p", {{"class", "soft"}}, "No checkpoint of this log was released yet.");
    return;
  }
  html.add("p", "Signed by the log at size " +
                    tools::grouped(site.checkpoint->checkpoint.head.size) +
                    ". It says which entries there are, in which order; it can be held against one "
                    "that was had from elsewhere.");
  append_copyable(html, site.checkpoint->format(), "checkpoint-text", false);
  html.add("h3", "Witnesses");
  std::vector<const NoteSignature*> others;
  for (const NoteSignature& signature : site.checkpoint->signatures) {
    if (signature.name != site.checkpoint->checkpoint.origin) others.push_back(&signature);
  }
  if (others.empty()) {
    html.add("p", {{"class", "notice"}},
             "No witness has cosigned this checkpoint: a split view, another tree shown to another "
             "reader, is not excluded.");
    return;
  }
  html.add(
      "p", {{"class", "soft"}},
      "Lines by others than the log. Whose lines count is the reader's choice: give their keys "
      "to verify.");
  const Html::Element list = html.in("ul", {{"class", "list"}});
  for (const NoteSignature* signature : others) {
    const Html::Element item = html.in("li");
    html.name(signature->name);
    const std::string time = cosigned_at(*signature);
    if (!time.empty()) html.add("span", {{"class", "small soft"}}, "cosigned " + time);
  }
}

void append_verifying(Html& html, const Site& site) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "verify"}});
  html.add("h2", "How to verify");
  const Html::Element prose = html.in("div", {{"class", "prose"}});
  const std::string base = site.options.base_url.empty() ? "URL" : site.options.base_url;
  html.add("p",
           "One run: download its evidence bundle from its page and judge it without this server. "
           "The ledger id is what you pin; have it from somewhere else than here.");
  append_copyable(
      html,
      "kernelindex verify RUN.bundle.json --ledger-id " + site.reader.format().ledger_id.text(),
      "command-verify");
  html.add("p",
           "The whole log: every tile, entry and object, each against the signed checkpoint "
           "(C2SP tlog-tiles).");
  append_copyable(html,
                  "kernelindex verify tiles " + base + " --key " + tools::log_key_text(site.reader),
                  "command-tiles");
  html.add("p", "Follow it: a mirror checks every byte and that the log only grew.");
  append_copyable(html,
                  "kernelindex mirror " + base + " DIR --key " + tools::log_key_text(site.reader),
                  "command-mirror");
  const Html::Element line = html.in("p", {{"class", "head-links"}});
  html.link(Link("/checkpoint"), "Checkpoint");
  html.link(Link("/api/v1/log"), "JSON");
  html.link(Link("/api/v1/openapi.json"), "API description");
}

void append_keys(Html& html, const Site& site) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "keys"}});
  html.add("h2", "Keys");
  const Html::Element box = html.in("div", {{"class", "table-box"}});
  const Html::Element table = html.in("table", {{"class", "stack"}});
  html.add("caption", {{"class", "visually-hidden"}}, "Keys that this log has enrolled");
  {
    const Html::Element head = html.in("thead");
    const Html::Element row = html.in("tr");
    for (const std::string_view word : {"Role", "Owner", "Key id", "Enrolled", "Revoked"}) {
      html.add("th", {{"scope", "col"}}, word);
    }
  }
  const Html::Element body = html.in("tbody");
  for (const auto& [id, key] : site.reader.state().keys.all()) {
    const Html::Element row = html.in("tr");
    html.add("td", {{"data-label", "Role"}}, role_name(key.role));
    {
      const Html::Element cell = html.in("td", {{"data-label", "Owner"}});
      html.name(key.owner);
    }
    {
      const Html::Element cell = html.in("td", {{"data-label", "Key id"}});
      html.add("code", id.hex());
    }
    html.add("td", {{"data-label", "Enrolled"}}, "entry " + std::to_string(key.enrolled_at));
    html.add("td", {{"data-label", "Revoked"}, {"class", key.revoked_at ? "warn" : "empty"}},
             key.revoked_at ? "entry " + std::to_string(*key.revoked_at) : std::string());
  }
}

}  // namespace

Result<Response> log_page(const Site& site) {
  return page_response(site, {"Log", Part::log, Link("/api/v1/log")}, [&](Html& html) {
    {
      const Html::Element head = html.in("header", {{"class", "page-head"}});
      html.add("h1", "The log");
      html.add(
          "p", {{"class", "lead"}},
          "Everything shown here derives from an append-only Merkle log that anyone can follow "
          "and check. Nothing in it is changed; corrections are new entries.");
    }
    {
      const Html::Element columns = html.in("div", {{"class", "columns"}});
      append_state(html, site);
      append_checkpoint(html, site);
    }
    append_verifying(html, site);
    append_keys(html, site);
  });
}

}  // namespace kernelindex::serve
