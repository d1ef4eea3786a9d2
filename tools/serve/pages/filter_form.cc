// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/filter_form.h"

#include <functional>

#include "tools/serve/pages/layout.h"

namespace kernelindex::serve {
namespace {

void field(Html& html, std::string_view words, const std::function<void(Html&)>& control) {
  const Html::Element label = html.in("label");
  html.text(words);
  control(html);
}

void choice(Html& html, std::string_view value, std::string_view words, std::string_view chosen) {
  if (value == chosen) {
    html.add("option", {{"value", value}, {"selected"}}, words);
  } else {
    html.add("option", {{"value", value}}, words);
  }
}

void day_field(Html& html, std::string_view words, std::string_view name, std::string_view value) {
  field(html, words, [&](Html& inner) {
    inner.leaf("input", {{"type", "date"}, {"name", name}, {"value", value}});
  });
}

}  // namespace

void append_filter_form(Html& html, const Link& path, const SiteIndex& index,
                        const Request& request, const FilterFields& fields,
                        std::string_view operation_label) {
  const Html::Element form = html.in("form", {{"class", "filters"},
                                              {"method", "get"},
                                              {"aria-label", "Filter the list"},
                                              Attribute::action(path)});
  field(html, operation_label, [&](Html& inner) {
    inner.leaf("input", {{"type", "text"},
                         {"name", "operation"},
                         {"maxlength", "200"},
                         {"value", request.text("operation")}});
  });
  field(html, "Hardware", [&](Html& inner) {
    const Html::Element select = inner.in("select", {{"name", "hardware"}});
    choice(inner, "", "any", request.text("hardware"));
    for (const auto& [product, tally] : index.by_hardware) {
      choice(inner, product, product, request.text("hardware"));
    }
  });
  field(html, "Source", [&](Html& inner) {
    const Html::Element select = inner.in("select", {{"name", "source"}});
    choice(inner, "", "any", request.text("source"));
    for (const auto& [source, tally] : index.by_source) {
      choice(inner, source, source_title(source), request.text("source"));
    }
  });
  field(html, "Evidence level", [&](Html& inner) {
    const Html::Element select = inner.in("select", {{"name", "level"}});
    choice(inner, "", "any", request.text("level"));
    for (const Level level :
         {Level::none, Level::reported, Level::reproducible, Level::verified, Level::replicated}) {
      choice(inner, level_name(level), level_name(level), request.text("level"));
    }
  });
  if (fields.status) {
    field(html, "Status", [&](Html& inner) {
      inner.leaf("input", {{"type", "text"},
                           {"name", "status"},
                           {"maxlength", "40"},
                           {"placeholder", "passed"},
                           {"value", request.text("status")}});
    });
  }
  day_field(html, "Observed from", "since", request.text("since"));
  day_field(html, "Observed before", "until", request.text("until"));
  html.add("button", {{"type", "submit"}}, "Filter");
}

Link with_choices(const Link& path, const Request& request) {
  Link link = path;
  const auto keep = [&](Constant name) {
    if (!request.text(name.text()).empty()) link.query(name, request.text(name.text()));
  };
  keep("operation");
  keep("implementation");
  keep("project");
  keep("hardware");
  keep("source");
  keep("level");
  keep("status");
  keep("since");
  keep("until");
  return link;
}

}  // namespace kernelindex::serve
