// SPDX-License-Identifier: Apache-2.0
#include "schema/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "schema/utf8.h"

namespace kernelindex::json {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
// Below this many members comparing every pair is faster than sorting.
constexpr std::size_t kPairwiseMembers = 12;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_trailing_space(std::string_view token) {
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

// RFC 8259 section 6. std::from_chars is no validator: it takes "inf", "01" and the 0 of "0x10".
bool is_number_token(std::string_view token, bool& integral) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < token.size() && is_digit(token[i])) ++i;
    return i - start;
  };
  if (i < token.size() && token[i] == '-') ++i;
  const std::size_t first = i;
  const std::size_t whole = digits();
  if (whole == 0 || (whole > 1 && token[first] == '0')) return false;
  integral = true;
  if (i < token.size() && token[i] == '.') {
    integral = false;
    ++i;
    if (digits() == 0) return false;
  }
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    integral = false;
    ++i;
    if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == token.size();
}

// from_chars reports overflow and underflow alike and leaves the value; strtod tells them apart.
// Requires: a valid token of at most kNumberTokenBytes.
std::optional<double> number_value(std::string_view token) {
  double value = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
  if (result.ec == std::errc()) return value;
  const double scanned = std::strtod(std::string(token).c_str(), nullptr);
  if (std::isinf(scanned)) return std::nullopt;
  return scanned;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::optional<std::uint32_t> four_hex(std::string_view text) {
  std::uint32_t value = 0;
  if (text.size() < 4) return std::nullopt;
  const auto result = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (result.ec != std::errc() || result.ptr != text.data() + 4) return std::nullopt;
  return value;
}

// Reads one document from a buffer that is the text between two brackets: with them a scalar at the
// top, an empty document and trailing bytes need no rules of their own.
class Reader {
 public:
  Reader(std::string_view text, Arena& arena, const ReadLimits& limits,
         std::vector<Defect>* defects)
      : text_(text), arena_(arena), limits_(limits), defects_(defects) {}

  Result<Value> read() {
    if (text_.size() > limits_.bytes) {
      return fail(ErrorKind::invalid, "TOO_LARGE", {},
                  "the document has " + std::to_string(text_.size()) +
                      " bytes, more than the limit of " + std::to_string(limits_.bytes));
    }
    const std::size_t size = text_.size() + 2;
    auto* copy = static_cast<char*>(arena_.allocate(size + simdjson::SIMDJSON_PADDING, 1));
    copy[0] = '[';
    std::memcpy(copy + 1, text_.data(), text_.size());
    copy[size - 1] = ']';
    std::memset(copy + size, ' ', simdjson::SIMDJSON_PADDING);
    buffer_ = copy;
    if (defects_ != nullptr) replace_bad_utf8(copy + 1, text_.size());

    thread_local ondemand::parser parser;
    auto opened = parser.iterate(copy, size, size + simdjson::SIMDJSON_PADDING);
    if (opened.error() == simdjson::UTF8_ERROR) return bad_utf8();
    ondemand::document document;
    if (std::move(opened).get(document) != simdjson::SUCCESS) return syntax_error(0);
    document_ = &document;
    ondemand::array wrapper;
    if (document.get_array().get(wrapper) != simdjson::SUCCESS) return syntax_error(0);
    Value value;
    std::size_t count = 0;
    for (auto item : wrapper) {
      ondemand::value element;
      if (item.get(element) != simdjson::SUCCESS) return syntax_error(here());
      if (++count > 1) return syntax_error(here());
      if (!read_value(element, 0, value)) return std::move(error_);
    }
    const char* rest = nullptr;  // a location past the end is an error: all was consumed
    if (count == 0 || document.current_location().get(rest) == simdjson::SUCCESS) {
      return syntax_error(here());
    }
    return value;
  }

 private:
  bool read_value(ondemand::value& element, unsigned depth, Value& out) {
    ondemand::json_type type{};
    const std::size_t begin = here();
    if (element.type().get(type) != simdjson::SUCCESS) return fault(syntax_error(begin));
    switch (type) {
      case ondemand::json_type::object:
        return read_object(element, depth, begin, out);
      case ondemand::json_type::array:
        return read_array(element, depth, begin, out);
      case ondemand::json_type::string:
        return read_string(element.raw_json_token(), begin, out);
      case ondemand::json_type::number:
        return read_number(element.raw_json_token(), begin, out);
      case ondemand::json_type::boolean:
      case ondemand::json_type::null:
        return read_literal(element.raw_json_token(), begin, out);
    }
    return fault(syntax_error(begin));
  }

  bool read_object(ondemand::value& element, unsigned depth, std::size_t begin, Value& out) {
    if (depth >= limits_.depth) return fault(too_deep(begin));
    ondemand::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return fault(syntax_error(begin));
    const std::size_t first = members_.size();
    for (auto item : object) {
      ondemand::field field;
      if (std::move(item).get(field) != simdjson::SUCCESS) return fault(syntax_error(here()));
      std::string_view name;
      if (!read_key(field.key().raw(), name)) return false;
      Value value;
      ondemand::value child = field.value();
      if (!read_value(child, depth + 1, value)) return false;
      members_.push_back({name, value});
    }
    const std::span<const Member> members(members_.data() + first, members_.size() - first);
    if (!check_duplicates(members)) return false;
    out = arena_.object(members);
    members_.resize(first);
    set_place(out, begin, here());
    return true;
  }

  bool read_array(ondemand::value& element, unsigned depth, std::size_t begin, Value& out) {
    if (depth >= limits_.depth) return fault(too_deep(begin));
    ondemand::array array;
    if (element.get_array().get(array) != simdjson::SUCCESS) return fault(syntax_error(begin));
    const std::size_t first = items_.size();
    for (auto item : array) {
      ondemand::value child;
      if (item.get(child) != simdjson::SUCCESS) return fault(syntax_error(here()));
      Value value;
      if (!read_value(child, depth + 1, value)) return false;
      items_.push_back(value);
    }
    out = arena_.array(std::span<const Value>(items_.data() + first, items_.size() - first));
    items_.resize(first);
    set_place(out, begin, here());
    return true;
  }

  bool read_string(std::string_view raw, std::size_t begin, Value& out) {
    const std::string_view token = without_trailing_space(raw);
    if (token.size() < 2 || token.back() != '"') return fault(syntax_error(begin));
    std::string_view text;
    if (!unescape(token.substr(1, token.size() - 2), text)) return false;
    out = Value(text);
    set_place(out, begin, begin + token.size());
    return true;
  }

  bool read_key(const char* start, std::string_view& name) {
    // Stage one proved that the string is closed.
    const auto* end = static_cast<const char*>(std::memchr(start, '"', left(start)));
    if (std::memchr(start, '\\', static_cast<std::size_t>(end - start)) != nullptr) {
      end = start;
      while (*end != '"') end += *end == '\\' ? 2 : 1;
    }
    return unescape(std::string_view(start, static_cast<std::size_t>(end - start)), name);
  }

  bool unescape(std::string_view raw, std::string_view& out) {
    if (raw.find('\\') == std::string_view::npos) {
      out = raw;
      return true;
    }
    const auto at = [&](std::size_t i) { return offset_of(raw.data() + i); };
    scratch_.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\') {
        scratch_ += raw[i];
        continue;
      }
      if (++i == raw.size()) return fault(syntax_error(at(i)));
      constexpr std::string_view kEscapes = "\"\\/bfnrt";
      constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
      if (const std::size_t found = kEscapes.find(raw[i]); found != std::string_view::npos) {
        scratch_ += kMeanings[found];
        continue;
      }
      const std::optional<std::uint32_t> unit =
          raw[i] == 'u' ? four_hex(raw.substr(i + 1)) : std::nullopt;
      if (!unit) return fault(syntax_error(at(i)));
      const std::size_t start = i - 1;
      i += 4;
      if (*unit < 0xD800 || *unit > 0xDFFF) {
        append_utf8(*unit, scratch_);
        continue;
      }
      const std::optional<std::uint32_t> low =
          raw.substr(i + 1).starts_with("\\u") ? four_hex(raw.substr(i + 3)) : std::nullopt;
      if (*unit < 0xDC00 && low && *low >= 0xDC00 && *low <= 0xDFFF) {
        append_utf8(0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00), scratch_);
        i += 6;
        continue;
      }
      if (!defect(at(start), "LONE_SURROGATE", "a surrogate escape without its partner"))
        return false;
      scratch_ += kReplacement;
    }
    out = arena_.copy(scratch_);
    return true;
  }

  bool read_number(std::string_view raw, std::size_t begin, Value& out) {
    const std::string_view token = without_trailing_space(raw);
    if (token.size() > limits::kNumberTokenBytes) {
      return fault(error(begin, "NUMBER_TOO_LONG",
                         "a number of " + std::to_string(token.size()) +
                             " bytes, more than the limit of " +
                             std::to_string(limits::kNumberTokenBytes)));
    }
    bool integral = false;
    if (!is_number_token(token, integral)) return fault(syntax_error(begin));
    const std::optional<double> number = number_value(token);
    if (!number) {
      if (!defect(begin, "NUMBER_RANGE", "a number beyond binary64")) return false;
    } else if (defects_ != nullptr && integral && std::abs(*number) > limits::kSafeInteger) {
      if (!defect(begin, "UNSAFE_INTEGER", "an integer beyond 2^53 - 1")) return false;
    }
    out = Value(number.value_or(0.0));
    set_place(out, begin, begin + token.size());
    return true;
  }

  bool read_literal(std::string_view raw, std::size_t begin, Value& out) {
    const std::string_view token = without_trailing_space(raw);
    if (token == "true" || token == "false") {
      out = Value(token == "true");
    } else if (token == "null") {
      out = Value();
    } else {
      return fault(syntax_error(begin));
    }
    set_place(out, begin, begin + token.size());
    return true;
  }

  // A duplicate is compared after unescaping and reported at the value of the later member.
  bool check_duplicates(std::span<const Member> members) {
    const auto report = [&](const Member& member) {
      return defect(member.value.begin(), "DUPLICATE_KEY",
                    "the member name \"" + std::string(member.name) + "\" occurs twice");
    };
    if (members.size() <= kPairwiseMembers) {
      for (std::size_t i = 1; i < members.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (members[i].name == members[j].name && !report(members[i])) return false;
        }
      }
      return true;
    }
    std::vector<const Member*> sorted;
    sorted.reserve(members.size());
    for (const Member& member : members) sorted.push_back(&member);
    std::ranges::sort(sorted, [](const Member* a, const Member* b) {
      return a->name != b->name ? a->name < b->name : a < b;
    });
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i]->name == sorted[i - 1]->name && !report(*sorted[i])) return false;
    }
    return true;
  }

  void replace_bad_utf8(char* text, std::size_t size) {
    if (simdjson::validate_utf8(text, size)) return;
    for (std::size_t i = 0; i < size;) {
      const std::size_t length = utf8_sequence(std::string_view(text + i, size - i));
      if (length == 0) {
        defects_->push_back({i, "BAD_UTF8", "a byte that is not UTF-8"});
        text[i] = '?';
      }
      i += std::max<std::size_t>(length, 1);
    }
  }

  // Collects a defect, or makes it the error of a strict reading.
  bool defect(std::size_t offset, std::string_view code, std::string message) {
    if (defects_ == nullptr) return fault(error(offset, std::string(code), std::move(message)));
    defects_->push_back({offset, code, std::move(message)});
    return true;
  }

  std::unexpected<Error> error(std::size_t offset, std::string code, std::string message) const {
    return fail(ErrorKind::invalid, std::move(code), line_and_column(text_, offset),
                std::move(message));
  }

  std::unexpected<Error> syntax_error(std::size_t offset) const {
    return text_.find_first_not_of(" \t\r\n") == std::string_view::npos
               ? error(0, "EMPTY_DOCUMENT", "the document is empty")
               : error(offset, "BAD_JSON", "this is not JSON");
  }

  std::unexpected<Error> too_deep(std::size_t offset) const {
    return error(offset, "TOO_DEEP",
                 "nested deeper than the limit of " + std::to_string(limits_.depth));
  }

  std::unexpected<Error> bad_utf8() const {
    return error(utf8_prefix(text_), "BAD_UTF8", "a byte that is not UTF-8");
  }

  bool fault(std::unexpected<Error> error) {
    error_ = std::move(error);
    return false;
  }

  // Offset in the document of a place in the buffer; the opening bracket is not part of it.
  std::size_t offset_of(const char* place) const {
    const auto offset = static_cast<std::size_t>(place - buffer_);
    return std::min(offset > 0 ? offset - 1 : 0, text_.size());
  }

  std::size_t here() const {
    const char* place = nullptr;
    if (document_ == nullptr || document_->current_location().get(place) != simdjson::SUCCESS) {
      return text_.size();
    }
    return offset_of(place);
  }

  // Bytes of the buffer from `place` on.
  std::size_t left(const char* place) const {
    return static_cast<std::size_t>(buffer_ + text_.size() + 2 - place);
  }

  static void set_place(Value& value, std::size_t begin, std::size_t end) {
    value.set_place(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  }

  std::string_view text_;
  Arena& arena_;
  const ReadLimits& limits_;
  std::vector<Defect>* defects_;  // null: strict
  const char* buffer_ = nullptr;
  ondemand::document* document_ = nullptr;
  std::unexpected<Error> error_{Error{}};
  std::vector<Member> members_;  // stacks of the containers being read
  std::vector<Value> items_;
  std::string scratch_;
};

}  // namespace

Result<Value> parse(std::string_view text, Arena& arena, const ReadLimits& limits) {
  return Reader(text, arena, limits, nullptr).read();
}

Result<Value> parse_collecting_defects(std::string_view text, Arena& arena,
                                       const ReadLimits& limits, std::vector<Defect>& defects) {
  defects.clear();
  Result<Value> value = Reader(text, arena, limits, &defects).read();
  std::ranges::stable_sort(defects, {}, &Defect::offset);
  return value;
}

const Defect* defect_within(const std::vector<Defect>& defects, const Value& item) {
  const auto found = std::ranges::lower_bound(defects, item.begin(), {}, &Defect::offset);
  return found != defects.end() && found->offset < item.end() ? &*found : nullptr;
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? offset + 1 : offset - last;
  return std::to_string(line) + ":" + std::to_string(column);
}

}  // namespace kernelindex::json
