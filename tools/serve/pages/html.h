// SPDX-License-Identifier: Apache-2.0
// Writes HTML in which whatever comes from outside is text and nothing else.
//
// Element and attribute names are constants of the program, checked when it is compiled; text and
// attribute values are always escaped; where a link leads is a Link, made of constants and
// percent-encoded parts, or an https address. There is no way to write raw markup. Control
// characters, bytes that are no UTF-8 and direction overrides are spelled out, as on the terminal;
// names from outside go into <bdi>, so that their direction ends where they end.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kernelindex::serve {

// A name or value that stands in the program's own text.
class Constant {
 public:
  consteval Constant(const char* text) : text_(text) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// The name of an attribute that cannot run or load anything: no href, src, action, style or on*.
class AttributeName {
 public:
  consteval AttributeName(const char* text) : text_(text) {
    for (const char c : text_) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && !(c >= '0' && c <= '9') && c != '-') throw "not a name";
    }
    for (const std::string_view active : {"href", "src", "action", "formaction", "style"}) {
      if (text_ == active) throw "needs a Link, or is not allowed";
    }
    if (text_.starts_with("on")) throw "no script in attributes";
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

// Where a link leads.
class Link {
 public:
  // A path of this site: "/log".
  explicit Link(Constant path) : text_(path.text()) {}
  // The same with an encoded segment at its end, and perhaps more: "/runs/" + id + "/evidence".
  Link(Constant before, std::string_view segment, Constant after = "");
  // An address elsewhere; nullopt unless it is one of https.
  static std::optional<Link> https(std::string_view address);

  // The same under the address of this site, "https://example.org", which the operator gave; as it
  // is when that is empty.
  static Link on(std::string_view base, const Link& link);

  Link& query(Constant name, std::string_view value);
  Link& fragment(Constant name);
  const std::string& text() const { return text_; }

 private:
  struct Whole {};
  Link(std::string text, Whole) : text_(std::move(text)) {}
  std::string text_;
};

// Looks at its value, which must outlive the call that it is given to.
class Attribute {
 public:
  Attribute(AttributeName name, std::string_view value) : name_(name.text()), value_(value) {}
  // One that is there or not: "open".
  explicit(false) Attribute(AttributeName name) : name_(name.text()) {}
  static Attribute href(const Link& link) { return Attribute("href", link.text(), 0); }
  static Attribute src(const Link& link) { return Attribute("src", link.text(), 0); }
  static Attribute action(const Link& link) { return Attribute("action", link.text(), 0); }

  std::string_view name() const { return name_; }
  std::string_view value() const { return value_; }
  bool has_value() const { return value_.data() != nullptr; }

 private:
  Attribute(std::string_view name, std::string_view value, int) : name_(name), value_(value) {}
  std::string_view name_;
  std::string_view value_;
};

using Attributes = std::initializer_list<Attribute>;

class Html {
 public:
  // An element that is open; its end is written when this goes.
  class [[nodiscard]] Element {
   public:
    Element(Html& html, std::string_view tag) : html_(&html), tag_(tag) {}
    Element(Element&& other) noexcept
        : html_(std::exchange(other.html_, nullptr)), tag_(other.tag_) {}
    Element& operator=(Element&&) = delete;
    ~Element() {
      if (html_ != nullptr) html_->end(tag_);
    }

   private:
    Html* html_;
    std::string_view tag_;
  };

  Html();

  Element in(Constant tag, Attributes attributes = {});
  // A whole element with text, or with nothing in it.
  Html& add(Constant tag, std::string_view text) { return add(tag, {}, text); }
  Html& add(Constant tag, Attributes attributes, std::string_view text = {});
  // An element that has no end: input, br, meta, link, hr.
  Html& leaf(Constant tag, Attributes attributes = {});
  Html& text(std::string_view text);
  // Text of somebody else, kept apart from what stands around it.
  Html& name(std::string_view text);
  // A link whose words are ours; `name_link`: those of somebody else.
  Html& link(const Link& to, std::string_view text, std::string_view css_class = {});
  Html& name_link(const Link& to, std::string_view text, std::string_view css_class = {});
  // Text with its line ends, for <pre>.
  Html& lines(std::string_view text);
  // Writes the document type; the first thing on a page.
  Html& doctype();
  // What another writer wrote.
  Html& append(Html&& other);

  // All that was written. Requires: no element is open.
  std::string take();

 private:
  void start(std::string_view tag, Attributes attributes);
  void end(std::string_view tag);

  std::string out_;
  int open_ = 0;
};

// Escapes for text and for attribute values in quotes. Valid UTF-8 on one line.
void append_escaped(std::string_view text, std::string& out);

}  // namespace kernelindex::serve
