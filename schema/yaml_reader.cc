// SPDX-License-Identifier: Apache-2.0
#include "schema/yaml_reader.h"

#include <libfyaml.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "schema/json_reader.h"
#include "schema/limits.h"
#include "schema/utf8.h"
#include "schema/yaml_scalar.h"

namespace kernelindex {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kShownTextBytes = 80;  // of a text of the document in a message

struct DestroyParser {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct DestroyDiagnostics {
  void operator()(fy_diag* diagnostics) const { fy_diag_destroy(diagnostics); }
};

// One event, given back to its parser at the end of its life.
class Event {
 public:
  Event(fy_parser* parser, fy_event* event) : parser_(parser), event_(event) {}
  ~Event() { fy_parser_event_free(parser_, event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  fy_event_type type() const { return event_ != nullptr ? event_->type : FYET_NONE; }
  const fy_event* operator->() const { return event_; }

  std::size_t offset() const {
    const fy_mark* mark = event_ != nullptr ? fy_event_start_mark(event_) : nullptr;
    return mark != nullptr ? mark->input_pos : 0;
  }

 private:
  fy_parser* parser_;
  fy_event* event_;
};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

// The text of a token; null tokens, as of an empty scalar, have none.
std::string_view token_text(fy_token* token) {
  std::size_t size = 0;
  const char* text = token != nullptr ? fy_token_get_text(token, &size) : nullptr;
  return text != nullptr ? std::string_view(text, size) : std::string_view();
}

// What reading a node has cost, so that every alias of it is charged again.
struct Cost {
  std::size_t nodes = 0;
  std::size_t text_bytes = 0;
  unsigned height = 0;  // containers from here down
};

struct Anchor {
  json::Value value;
  Cost cost;
};

// Builds one value from the events of one document. Known weakness: libfyaml 0.7.12 leaks a buffer
// of two kilobytes on some malformed quoted scalars; programs that read YAML read few files.
class YamlReader {
 public:
  YamlReader(std::string_view text, json::Arena& arena) : text_(text), arena_(arena) {}

  Result<json::Value> read() {
    if (text_.size() > limits::kManifestBytes) {
      return fail(ErrorKind::invalid, "TOO_LARGE", {},
                  "the document has " + std::to_string(text_.size()) +
                      " bytes, more than the limit of " + std::to_string(limits::kManifestBytes));
    }
    if (text_.starts_with(kByteOrderMark)) {
      return fail(fault(0, "BYTE_ORDER_MARK", "the document begins with a byte order mark"));
    }
    if (const std::size_t good = utf8_prefix(text_); good < text_.size()) {
      return fail(fault(good, "BAD_UTF8", "a byte that is not UTF-8"));
    }
    // The parser would take a zero byte for the end and never see what follows.
    const auto control = std::ranges::find_if(text_, is_control);
    if (control != text_.end()) {
      return fail(fault(static_cast<std::size_t>(control - text_.begin()), "CONTROL_CHARACTER",
                        "a control character; a quoted text can spell it as an escape"));
    }
    if (!open()) return fail(fault(0, "BAD_YAML", "the YAML parser could not be started"));
    json::Value value;
    if (!read_stream(value)) return fail(std::move(error_));
    return value;
  }

 private:
  bool open() {
    fy_diag_cfg messages;
    fy_diag_cfg_default(&messages);
    messages.fp = nullptr;
    diagnostics_.reset(fy_diag_create(&messages));
    if (diagnostics_ == nullptr) return false;
    fy_diag_set_collect_errors(diagnostics_.get(), true);
    fy_parse_cfg options{};
    // Our own depth limit is checked at every event, before the parser goes on.
    options.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
                                                    FYPCF_JSON_NONE | FYPCF_DISABLE_DEPTH_LIMIT);
    options.diag = diagnostics_.get();
    parser_.reset(fy_parser_create(&options));
    return parser_ != nullptr &&
           fy_parser_set_string(parser_.get(), text_.data(), text_.size()) == 0;
  }

  Event next() { return Event(parser_.get(), fy_parser_parse(parser_.get())); }

  bool read_stream(json::Value& value) {
    if (const Event event = next(); event.type() != FYET_STREAM_START) return refuse(event);
    {
      const Event event = next();
      if (event.type() == FYET_STREAM_END) {
        return refuse_at(0, "EMPTY_DOCUMENT", "the document is empty");
      }
      if (event.type() != FYET_DOCUMENT_START) return refuse(event);
      const fy_document_state* state = event->document_start.document_state;
      auto* asked = const_cast<fy_document_state*>(state);
      if (fy_document_state_version_explicit(asked) || fy_document_state_tags_explicit(asked)) {
        return refuse_at(0, "YAML_DIRECTIVE", "directives (%YAML, %TAG) are not accepted");
      }
    }
    Cost cost;
    if (const Event event = next(); !read_node(event, 0, value, cost)) return false;
    if (const Event event = next(); event.type() != FYET_DOCUMENT_END) return refuse(event);
    const Event event = next();
    if (event.type() == FYET_DOCUMENT_START) {
      return refuse_at(event.offset(), "SECOND_DOCUMENT", "a second document in the same text");
    }
    return event.type() == FYET_STREAM_END || refuse(event);
  }

  bool read_node(const Event& event, unsigned depth, json::Value& value, Cost& cost) {
    const std::size_t offset = event.offset();
    const Cost before = cost;
    cost.height = 0;
    fy_token* anchor = nullptr;
    bool good = false;
    // An alias costs what it stands for.
    if (event.type() != FYET_ALIAS && !charge(cost, {1, 0, 0}, offset)) return false;
    switch (event.type()) {
      case FYET_ALIAS:
        good = read_alias(event, depth, value, cost);
        break;
      case FYET_SCALAR:
        anchor = event->scalar.anchor;
        good = no_tag(event->scalar.tag, offset) && read_scalar(event, value, cost);
        break;
      case FYET_SEQUENCE_START:
        anchor = event->sequence_start.anchor;
        good =
            no_tag(event->sequence_start.tag, offset) && read_sequence(offset, depth, value, cost);
        break;
      case FYET_MAPPING_START:
        anchor = event->mapping_start.anchor;
        good = no_tag(event->mapping_start.tag, offset) && read_mapping(offset, depth, value, cost);
        break;
      default:
        return refuse(event);
    }
    if (!good) return false;
    if (anchor != nullptr) {
      anchors_[std::string(token_text(anchor))] = {
          value, {cost.nodes - before.nodes, cost.text_bytes - before.text_bytes, cost.height}};
    }
    cost.height = std::max(cost.height, before.height);
    return true;
  }

  bool read_alias(const Event& event, unsigned depth, json::Value& value, Cost& cost) {
    const std::string name(token_text(event->alias.anchor));
    const auto anchor = anchors_.find(name);
    if (anchor == anchors_.end()) {
      return refuse_at(event.offset(), "UNKNOWN_ALIAS",
                       "an alias whose anchor is not complete before it: " + shown(name));
    }
    if (++aliases_ > limits::kYamlAliases) {
      return refuse_at(event.offset(), "TOO_MANY_ALIASES",
                       "more than " + std::to_string(limits::kYamlAliases) + " aliases");
    }
    if (depth + anchor->second.cost.height > limits::kJsonDepth) return too_deep(event.offset());
    value = anchor->second.value;
    return charge(cost, anchor->second.cost, event.offset());
  }

  bool read_scalar(const Event& event, json::Value& value, Cost& cost) {
    const std::string_view text = token_text(event->scalar.value);
    const std::size_t offset = event.offset();
    if (is_plain(event)) {
      if (!read_plain(text, offset, value)) return false;
    }
    if (!is_plain(event) || resolve_plain_scalar(text).kind == PlainScalar::Kind::text) {
      if (!is_sound_text(text, offset)) return false;
      value = arena_.string(text);
    }
    place(value, offset, offset + text.size());
    return charge(cost, {0, text.size(), 0}, offset);
  }

  // Everything but texts, which the caller copies.
  bool read_plain(std::string_view text, std::size_t offset, json::Value& value) {
    const PlainScalar scalar = resolve_plain_scalar(text);
    switch (scalar.kind) {
      case PlainScalar::Kind::text:
      case PlainScalar::Kind::null:
        return true;
      case PlainScalar::Kind::boolean:
        value = json::Value(scalar.boolean);
        return true;
      case PlainScalar::Kind::number:
        value = json::Value(scalar.number);
        return text.size() <= limits::kNumberTokenBytes ||
               refuse_at(
                   offset, "NUMBER_TOO_LONG",
                   "a number of more than " + std::to_string(limits::kNumberTokenBytes) + " bytes");
      case PlainScalar::Kind::not_finite:
        return refuse_at(offset, "NOT_FINITE", "infinity and NaN are no JSON numbers");
      case PlainScalar::Kind::out_of_range:
        return refuse_at(offset, "NUMBER_RANGE", "a number beyond binary64");
    }
    return false;
  }

  bool read_sequence(std::size_t offset, unsigned depth, json::Value& value, Cost& cost) {
    if (depth >= limits::kJsonDepth) return too_deep(offset);
    std::vector<json::Value> items;
    while (true) {
      const Event event = next();
      if (event.type() == FYET_SEQUENCE_END) {
        value = arena_.array(items);
        place(value, offset, event.offset());
        ++cost.height;
        return true;
      }
      json::Value item;
      if (!read_node(event, depth + 1, item, cost)) return false;
      items.push_back(item);
    }
  }

  bool read_mapping(std::size_t offset, unsigned depth, json::Value& value, Cost& cost) {
    if (depth >= limits::kJsonDepth) return too_deep(offset);
    std::vector<json::Member> members;
    std::unordered_set<std::string_view> names;
    while (true) {
      const Event event = next();
      if (event.type() == FYET_MAPPING_END) {
        value = arena_.object(members);
        place(value, offset, event.offset());
        ++cost.height;
        return true;
      }
      std::string_view name;
      if (!read_key(event, name, cost)) return false;
      if (!names.insert(name).second) {
        return refuse_at(event.offset(), "DUPLICATE_KEY",
                         "the key " + shown(name) + " occurs twice in one mapping");
      }
      json::Value member;
      if (const Event child = next(); !read_node(child, depth + 1, member, cost)) return false;
      // A value that is missing stands nowhere; its key does.
      if (member.end() == 0) place(member, event.offset(), event.offset() + name.size());
      members.push_back({name, member});
    }
  }

  bool read_key(const Event& event, std::string_view& name, Cost& cost) {
    if (event.type() == FYET_NONE) return refuse(event);
    const std::size_t offset = event.offset();
    if (event.type() != FYET_SCALAR) {
      return refuse_at(offset, "BAD_KEY",
                       "a key must be a text, not a list, a mapping or an alias");
    }
    if (event->scalar.anchor != nullptr) {
      return refuse_at(offset, "BAD_KEY", "a key must not carry an anchor");
    }
    const std::string_view text = token_text(event->scalar.value);
    if (!no_tag(event->scalar.tag, offset) || !is_sound_text(text, offset)) return false;
    if (is_plain(event) && resolve_plain_scalar(text).kind != PlainScalar::Kind::text) {
      return refuse_at(offset, "BAD_KEY", "the key " + shown(text) + " is no text unless quoted");
    }
    name = arena_.copy(text);
    return charge(cost, {0, text.size(), 0}, offset);
  }

  static bool is_plain(const Event& event) {
    return event->scalar.value == nullptr ||
           fy_token_scalar_style(event->scalar.value) == FYSS_PLAIN;
  }

  bool no_tag(const fy_token* tag, std::size_t offset) {
    return tag == nullptr || refuse_at(offset, "YAML_TAG", "tags are not accepted");
  }

  // Escapes in quoted scalars can spell what UTF-8 cannot hold.
  bool is_sound_text(std::string_view text, std::size_t offset) {
    return utf8_prefix(text) == text.size() ||
           refuse_at(offset, "BAD_UTF8", "an escape that spells no character");
  }

  bool charge(Cost& cost, const Cost& more, std::size_t offset) {
    cost.nodes += more.nodes;
    cost.text_bytes += more.text_bytes;
    cost.height = std::max(cost.height, more.height);
    if (cost.nodes > limits::kYamlNodes) {
      return refuse_at(offset, "TOO_MANY_NODES",
                       "more than " + std::to_string(limits::kYamlNodes) +
                           " nodes after the aliases are expanded");
    }
    if (cost.text_bytes > limits::kManifestBytes) {
      return refuse_at(offset, "TOO_LARGE",
                       "more than " + std::to_string(limits::kManifestBytes) +
                           " bytes of text after the aliases are expanded");
    }
    return true;
  }

  bool too_deep(std::size_t offset) {
    return refuse_at(offset, "TOO_DEEP",
                     "nested deeper than the limit of " + std::to_string(limits::kJsonDepth));
  }

  // An event that does not belong here: the parser has found a fault, or the text has ended.
  bool refuse(const Event& event) {
    void* iterator = nullptr;
    const fy_diag_error* problem = fy_diag_errors_iterate(diagnostics_.get(), &iterator);
    if (problem == nullptr) return refuse_at(event.offset(), "BAD_YAML", "this is not YAML");
    error_ = Error{ErrorKind::invalid,
                   "BAD_YAML",
                   std::to_string(problem->line) + ":" + std::to_string(problem->column),
                   "this is not YAML: " + shown(problem->msg),
                   {}};
    return false;
  }

  bool refuse_at(std::size_t offset, std::string code, std::string message) {
    error_ = fault(offset, std::move(code), std::move(message));
    return false;
  }

  Error fault(std::size_t offset, std::string code, std::string message) const {
    return {ErrorKind::invalid,
            std::move(code),
            json::line_and_column(text_, std::min(offset, text_.size())),
            std::move(message),
            {}};
  }

  // Text from outside is data: cut, and without control characters.
  static std::string shown(std::string_view text) {
    std::string out(text.substr(0, kShownTextBytes));
    if (text.size() > kShownTextBytes) out.resize(utf8_prefix(out));
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    }
    return "\"" + out + (text.size() > kShownTextBytes ? "...\"" : "\"");
  }

  static void place(json::Value& value, std::size_t begin, std::size_t end) {
    value.set_place(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
  }

  std::string_view text_;
  json::Arena& arena_;
  std::unique_ptr<fy_diag, DestroyDiagnostics> diagnostics_;  // outlives the parser
  std::unique_ptr<fy_parser, DestroyParser> parser_;
  std::map<std::string, Anchor> anchors_;
  std::size_t aliases_ = 0;
  Error error_;
};

}  // namespace

Result<json::Value> parse_yaml(std::string_view text, json::Arena& arena) {
  return YamlReader(text, arena).read();
}

Result<json::Value> parse_manifest_file_text(std::string_view text, json::Arena& arena,
                                             ManifestSyntax syntax) {
  if (syntax == ManifestSyntax::detect) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool brace = first != std::string_view::npos && text[first] == '{';
    syntax = brace ? ManifestSyntax::json : ManifestSyntax::yaml;
  }
  return syntax == ManifestSyntax::json ? json::parse(text, arena) : parse_yaml(text, arena);
}

Result<Manifest> read_manifest_file_text(std::string_view text, ManifestSyntax syntax) {
  json::Arena arena;
  const Result<json::Value> document = parse_manifest_file_text(text, arena, syntax);
  if (!document) return fail(document.error());
  return make_manifest(*document, arena, text);
}

}  // namespace kernelindex
