// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/provenance_part.h"

#include "ledger/predicates.h"
#include "tools/display_text.h"
#include "tools/run_output.h"
#include "tools/serve/pages/layout.h"
#include "tools/serve/pages/readable_name.h"

namespace kernelindex::serve {
namespace {

void append_claim(Html& html, const ClaimView& claim, std::size_t number) {
  const Html::Element item = html.in("li");
  {
    const Html::Element text = html.in("p");
    html.name_link(source_link(claim.source), source_title(claim.source)).text(" says so");
    if (!claim.via.empty()) html.text(", read via ").name(claim.via);
    for (const std::string& id : claim.external_ids) html.text(" · ").name(id);
  }
  {
    const Html::Element text = html.in("p", {{"class", "small soft"}});
    html.text("entry " + tools::grouped(claim.index) + ", recorded ");
    html.add("time", {{"datetime", format_utc_micros(claim.recorded_at)}},
             format_utc_micros(claim.recorded_at));
    if (!claim.facts.published_at.empty()) html.text(", published " + claim.facts.published_at);
    for (const std::string& mark : claim.facts.marks) html.text(" ").add("code", mark);
  }
  {
    const Html::Element text = html.in("div", {{"class", "small"}});
    html.text("document ");
    append_digest(html, claim.document, "digest-document-" + std::to_string(number));
  }
  if (claim.snapshot) {
    const Html::Element text = html.in("div", {{"class", "small"}});
    html.text("from ").name(claim.locator);
    if (!claim.item.empty()) html.text(" at ").name(claim.item);
    html.text(claim.supplied ? ", supplied as a file" : ", fetched " + claim.fetched_at);
    if (!claim.snapshot_kept) html.text(", its bytes are not held");
    html.text(" ");
    append_digest(html, *claim.snapshot, "digest-snapshot-" + std::to_string(number));
  }
  if (!claim.import_index) {
    html.add("p", {{"class", "small bad"}}, "No import statement covers this claim.");
  } else {
    html.add("p", {{"class", claim.import_valid ? "small" : "small bad"}},
             "signed by the import statement of entry " + tools::grouped(*claim.import_index) +
                 (claim.import_valid ? ", valid" : ", which does not count"));
  }
}

void append_statement(Html& html, const ChainView& said, std::size_t number) {
  const std::string_view type = said.predicate_type;
  if (type.starts_with(kPredicateBase) && type.substr(kPredicateBase.size()).starts_with("note/")) {
    return;
  }
  const Html::Element item = html.in("li");
  {
    const Html::Element text = html.in("p");
    html.name(type.starts_with(kPredicateBase) ? type.substr(kPredicateBase.size()) : type);
    html.text(" by " + (said.role.empty() ? std::string("a key that is not enrolled") : said.role));
    if (!said.counts) {
      html.text(", does not count: ").add("code", said.reason);
    }
  }
  if (!said.says.empty()) {
    const Html::Element text = html.in("p");
    html.name(said.says);
  }
  const Html::Element text = html.in("div", {{"class", "small soft"}});
  html.text("entry " + tools::grouped(said.index) + ", key ").name(said.signer.substr(0, 16));
  html.text(" ");
  append_digest(html, said.id, "digest-statement-" + std::to_string(number));
}

void append_inclusion(Html& html, const Site& site, const Provenance& provenance) {
  const Html::Element item = html.in("li");
  html.add("p", "entry " + tools::grouped(provenance.inclusion_index) + " of " +
                    tools::grouped(provenance.as_of.size) + " in the log " +
                    site.reader.format().origin);
  {
    const Html::Element text = html.in("div", {{"class", "small"}});
    html.text("root ");
    append_digest(html, provenance.as_of.root, "digest-root");
  }
  const Html::Element details = html.in("details", {{"class", "block"}});
  html.add("summary",
           "Inclusion proof, " + tools::counted(provenance.inclusion.size(), "hash", "hashes"));
  std::string hashes;
  for (const std::string& text : proof_texts(provenance.inclusion)) hashes += text + "\n";
  append_copyable(html, hashes, "inclusion-proof", false);
}

}  // namespace

void append_provenance(Html& html, const Site& site, const Provenance& provenance) {
  const Html::Element section = html.in("section", {{"class", "section"}, {"id", "provenance"}});
  html.add("h2", "Provenance");
  {
    const Html::Element list = html.in("ol", {{"class", "chain"}});
    std::size_t number = 0;
    for (const ClaimView& claim : provenance.claims) append_claim(html, claim, number++);
    for (const ChainView& said : provenance.chain) append_statement(html, said, number++);
    append_inclusion(html, site, provenance);
  }
  if (provenance.refers.empty()) return;
  html.add("h3", "It refers to");
  const Html::Element list = html.in("dl", {{"class", "facts"}});
  std::size_t number = 0;
  for (const ReferenceView& reference : provenance.refers) {
    append_fact(html, reference.field, [&](Html& inner) {
      if (reference.kind) {
        const std::string name = readable_name(reference.label);
        inner.name_link(manifest_link(*reference.kind, reference.digest),
                        name.empty() ? std::string(kind_name(*reference.kind)) : name);
        // What the manifest itself says, for whoever looks for it elsewhere.
        if (name != reference.label) inner.text(" named ").name(reference.label);
      } else {
        inner.text("not in the ledger");
      }
      inner.text(" ");
      append_digest(inner, reference.digest, "digest-refers-" + std::to_string(number++));
    });
  }
}

}  // namespace kernelindex::serve
