// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/html.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "schema/https_url.h"
#include "tools/display_text.h"
#include "tools/serve/request.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kPageBytes = 16 * 1024;  // what most pages take

// Printable ASCII, which needs no look at what it may hide.
bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

// Requires: text as escape_text() gives it.
void append_markup_safe(std::string_view text, std::string& out) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

// A segment with its colons, which need no encoding there (RFC 3986 section 3.3) and stand in every
// digest.
std::string encode_segment(std::string_view segment) {
  std::string out;
  while (true) {
    const std::size_t colon = segment.find(':');
    out += percent_encode(segment.substr(0, colon));
    if (colon == std::string_view::npos) return out;
    out += ':';
    segment.remove_prefix(colon + 1);
  }
}

}  // namespace

void append_escaped(std::string_view text, std::string& out) {
  if (std::ranges::all_of(text, is_plain)) {
    append_markup_safe(text, out);
  } else {
    append_markup_safe(tools::escape_text(text), out);
  }
}

Link::Link(Constant before, std::string_view segment, Constant after)
    : text_(std::string(before.text()) + encode_segment(segment) + std::string(after.text())) {}

std::optional<Link> Link::https(std::string_view address) {
  if (!schema::is_https_url(address)) return std::nullopt;
  return Link(std::string(address), Whole());
}

Link Link::on(std::string_view base, const Link& link) {
  return Link(std::string(base) + link.text_, Whole());
}

Link& Link::query(Constant name, std::string_view value) {
  text_ += text_.find('?') == std::string::npos ? '?' : '&';
  text_ += name.text();
  text_ += '=';
  text_ += percent_encode(value);
  return *this;
}

Link& Link::fragment(Constant name) {
  text_ += '#';
  text_ += name.text();
  return *this;
}

Html::Html() { out_.reserve(kPageBytes); }

void Html::start(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const Attribute& attribute : attributes) {
    out_ += ' ';
    out_ += attribute.name();
    if (!attribute.has_value()) continue;
    out_ += "=\"";
    append_escaped(attribute.value(), out_);
    out_ += '"';
  }
  out_ += '>';
}

void Html::end(std::string_view tag) {
  assert(open_ > 0);
  --open_;
  out_ += "</";
  out_ += tag;
  out_ += '>';
}

Html::Element Html::in(Constant tag, Attributes attributes) {
  start(tag.text(), attributes);
  ++open_;
  return Element(*this, tag.text());
}

Html& Html::add(Constant tag, Attributes attributes, std::string_view text) {
  const Element element = in(tag, attributes);
  append_escaped(text, out_);
  return *this;
}

Html& Html::leaf(Constant tag, Attributes attributes) {
  start(tag.text(), attributes);
  return *this;
}

Html& Html::text(std::string_view text) {
  append_escaped(text, out_);
  return *this;
}

Html& Html::name(std::string_view text) { return add("bdi", text); }

Html& Html::link(const Link& to, std::string_view text, std::string_view css_class) {
  if (css_class.empty()) return add("a", {Attribute::href(to)}, text);
  return add("a", {Attribute::href(to), {"class", css_class}}, text);
}

Html& Html::name_link(const Link& to, std::string_view text, std::string_view css_class) {
  start("a", {Attribute::href(to)});
  if (!css_class.empty()) {
    out_.pop_back();
    out_ += " class=\"";
    append_escaped(css_class, out_);
    out_ += "\">";
  }
  name(text);
  out_ += "</a>";
  return *this;
}

Html& Html::lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    append_escaped(text.substr(0, line_end), out_);
    if (line_end == text.size()) break;
    out_ += '\n';
    text.remove_prefix(line_end + 1);
  }
  return *this;
}

Html& Html::doctype() {
  assert(out_.empty());
  out_ += "<!DOCTYPE html>\n";
  return *this;
}

Html& Html::append(Html&& other) {
  out_ += other.take();
  return *this;
}

std::string Html::take() {
  assert(open_ == 0);
  return std::exchange(out_, {});
}

}  // namespace kernelindex::serve
